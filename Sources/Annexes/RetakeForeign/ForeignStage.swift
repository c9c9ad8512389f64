import Foundation
import RetakeBuffers
package import RetakeCore
package import RetakeGraph

extension AnyStage {
  /// The catalog's signature of the kind; the program decides about the role, the output and the
  /// formats.
  package static let processSignature = StageSignature(
    kind: processKind, version: 1, role: .pure, input: .frame, output: nil, canFail: true,
    summary: "computes with a program of yours, in any language")

  /// A stage that a program computes. When the method returns, the program has started and is
  /// ready.
  ///
  /// - Parameter options: The options of the node, all of them.
  /// - Throws: `ForeignError`.
  package static func process(
    _ program: ForeignProgram, options: JSONValue
  ) throws -> AnyStage {
    var inputs = ProgramInputs(of: program, searched: program.searchedPath)
    let pool = try ForeignPool.pool(program)
    inputs.merge(pool.loaded)
    var signature = processSignature
    signature.output = program.output.type.valueKind
    signature.inputFormats = pool.ready.formats
    signature.role = pool.ready.state == .pure ? .pure : .stateful
    var stage = AnyStage(signature: signature, options: options, body: body(pool))
    stage.programFiles = inputs.digests.merging(pool.ready.modules) { named, _ in named }
    let files = stage.programFiles.merging(inputs.programs) { file, _ in file }
    stage.fingerprint = pool.ready.fingerprint(
      program, files: files.merging(inputs.facts) { digest, _ in digest })
    // A file with an absolute path, such as an interpreter, belongs to the machine.
    stage.sharedFingerprint = pool.ready.fingerprint(
      program, files: files.filter { !$0.key.hasPrefix("/") })
    stage.outputForm = ValueForm(program.output.type)
    stage.read(program.sensors)
    // The samples of sensors are checked frame by frame.
    if pool.takesBatches, program.sensors.isEmpty { stage.batchBody = batchBody(pool) }
    if program.output == .program { stage.programSinks = pool.ready.sinks.map(\.name) }
    return stage
  }

  private static func batchBody(_ pool: ForeignPool) -> BatchBody {
    return { calls in
      let frames = calls.compactMap { call in
        (call.input as? Frame).map { (frame: $0, context: call.context) }
      }
      guard frames.count == calls.count else { return calls.map { _ in .failure(.noFrame) } }
      return pool.compute(batch: frames)
    }
  }

  private static func body(_ pool: ForeignPool) -> Body {
    if !pool.ready.sinks.isEmpty { return .stateful { ForeignPipeline(pool) } }
    switch pool.ready.state {
    case .stateful: return .stateful { ForeignInstance(pool) }
    case .pure:
      return .pure { input, context in
        guard let frame = input as? Frame else { return .failure(.noFrame) }
        if let refusal = pool.program.refusal(context) { return .failure(refusal) }
        return pool.compute(frame, context)
      }
    }
  }
}

extension ForeignProgram {
  /// More bytes than a number or a time has in a message.
  private static let numberBytes = 26
  /// Bytes for the frame itself and for the names of sensors.
  private static let otherBytes = 256 << 10

  /// An error if the samples that the program reads cannot be sent to it.
  fileprivate func refusal(_ context: StageContext) -> StageError? {
    guard !sensors.isEmpty else { return nil }
    guard !context.sensors.isEmpty else { return .noSensors(sensors) }
    let numbers = context.sensors.reduce(0) {
      $0 + ($1.window.count + 1) * ($1.track.channels.count + 1)
    }
    let bytes = numbers * Self.numberBytes + Self.otherBytes
    guard bytes > MessageChannel.sentBytesMax else { return nil }
    return StageError(
      code: "process.sensors.long",
      message: "the samples of the windows have \(counted(numbers, "number")), more than a "
        + "message can have; "
        + "read a shorter window", severity: .unrecoverable)
  }

  /// The paths that the command may name: the program itself if it is a path, its arguments, and
  /// the text after an equals sign in an argument. A loop's results are written, not read.
  package var files: [String] {
    command.enumerated().flatMap { index, word -> [String] in
      if index == 0 { return word.contains("/") ? [word] : [] }
      if word.hasPrefix("--results=") { return [] }
      guard let equals = word.firstIndex(of: "=") else { return [word] }
      return [word, String(word[word.index(after: equals)...])]
    }
  }
}

extension ForeignReady {
  /// Everything besides the frame and the options on which the output depends.
  fileprivate func fingerprint(_ program: ForeignProgram, files: [String: String]) -> String {
    JSONValue.object([
      "protocol": .integer(Int64(Self.protocolVersion)), "name": .string(name),
      "version": .integer(Int64(version)), "program": .string(fingerprint),
      "command": .array(program.command.map(JSONValue.string)),
      "files": .object(files.mapValues(JSONValue.string)),
      "classNames": .array(classNames.map(JSONValue.string)),
    ]).canonicalText
  }
}

extension StageError {
  /// `validate` compares kinds, so this does not happen in a checked pipeline.
  static var noFrame: StageError {
    StageError(
      code: "stage.wrongInput", message: "process was given a value that is not a frame",
      severity: .unrecoverable)
  }
}

/// A stateful program in one run. The run uses one copy, which begins with a reset.
private final class ForeignInstance: StageInstance, @unchecked Sendable {
  // SAFETY: @unchecked; calls are made in service order, so each call happens before the next one.
  private let pool: ForeignPool
  private var child: ForeignChild?
  private var fault: ForeignFault?

  init(_ pool: ForeignPool) { self.pool = pool }

  deinit {
    if let child { pool.giveBack(child) }
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    guard let frame = input as? Frame else { return .failure(.noFrame) }
    if let refusal = pool.program.refusal(context) { return .failure(refusal) }
    // The memory of the program is lost, so no later frame can be computed as it would have been.
    if let fault { return .failure(fault.stageError) }
    do throws(ForeignFault) {
      return try begun(context).compute(frame, context)
    } catch {
      (fault, child) = (error, nil)
      return .failure(error.stageError)
    }
  }

  func reset() {
    guard let child else { return }
    do throws(ForeignFault) {
      try child.reset()
    } catch {
      (fault, self.child) = (error, nil)
    }
  }

  private func begun(_ context: StageContext) throws(ForeignFault) -> ForeignChild {
    if let child { return child }
    let child = try pool.borrow(context)
    self.child = child
    return child
  }
}
