import ArgumentParser
import Foundation
import Retake
import RetakeProcess

/// Whether a command decodes sessions in restricted processes.
struct DecodingOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      """
      Decode sessions in processes that can reach only the session, and have a limit of memory: \
      always, or else with an error; never; auto is the same as never.
      """, valueName: "auto|always|never"))
  var sandbox = SandboxChoice.auto

  /// - Throws: `ValidationError` for a command without a session to decode.
  func check(readsSession: Bool) throws {
    guard readsSession || sandbox != .always else {
      throw ValidationError(
        "--sandbox always restricts the decoding of a session: name a session, or leave it out")
    }
  }

  /// From now on this process decodes sessions as requested.
  ///
  /// - Parameter path: The session or the project, for errors.
  /// - Throws: A usage error if the command demands restrictions that the system does not have.
  func begin(for path: String, note: (String) -> Void) throws {
    // docs/untrusted-files.md: a session has no mark of its origin, so `auto` does not restrict.
    guard sandbox == .always,
      try SandboxedProcess.isUsed(sandbox, for: path, note: note)
    else { return }
    PictureProcesses.ofReaders.withLock { start in
      start = { try SandboxedDecoder.start(session: $0.path, poisons: $1) }
    }
  }
}

/// A restricted process that decodes pictures of one session into shared memory.
final class SandboxedDecoder: PictureProcess {
  /// The first line on the process's standard input.
  private struct Session: Codable {
    var path: String
    var poisons: Bool
  }

  /// The number of the shared memory's file in the process.
  private static let descriptor: Int32 = 3

  private let helper: SandboxedHelper
  private let shared: SharedMemory
  private let session: String
  private var isOutOfMemory = false

  private init(_ helper: SandboxedHelper, _ shared: SharedMemory, session: String) {
    (self.helper, self.shared, self.session) = (helper, shared, session)
  }

  /// Starts a process for a session.
  static func start(session: String, poisons: Bool) throws -> SandboxedDecoder {
    let shared = try SharedMemory(byteCount: PictureServer.memoryBytes, writer: .child)
    guard shared.isSealed else {
      throw ErrorFacts(
        "session.decode.sandbox", "the process that decodes the session cannot be started",
        cause: "the system does not seal shared memory", at: session,
        advice: "If you trust the session, use: --sandbox never")
    }
    let helper = try startedOnItsOwnThread {
      try SandboxedHelper(session: session, descriptors: [shared.descriptor])
    }
    // If the process has ended, the first request finds the cause.
    _ = helper.ask(
      String(
        decoding: try JSONEncoder().encode(Session(path: session, poisons: poisons)),
        as: UTF8.self))
    return SandboxedDecoder(helper, shared, session: session)
  }

  /// A restricted process ends with the thread that started it (`Sandbox.parent`), and the threads
  /// of a run end before its session is closed. So a separate thread starts the process, and waits
  /// for its end.
  private static func startedOnItsOwnThread(
    _ start: @escaping @Sendable () throws -> SandboxedHelper
  ) throws -> SandboxedHelper {
    let result = Locked<Result<SandboxedHelper, any Error>?>(nil)
    let condition = ThreadCondition()
    _ = try NamedThread("retake-decoder") {
      let helper = Result { try start() }
      result.withLock { $0 = helper }
      condition.signal()
      _ = try? helper.get().waitForEnd()
    }
    // Ends: the thread signals once. A signal that came before ends the wait at once.
    while true {
      if let helper = result.withLock({ $0 }) { return try helper.get() }
      condition.wait()
    }
  }

  var memory: PictureMemory {
    PictureMemory(address: shared.address(of: 0), byteCount: shared.byteCount, owner: shared)
  }

  func answer(to request: String) -> String? {
    guard helper.ask(request), let line = helper.line() else { return nil }
    isOutOfMemory = line == Sandbox.memoryLine
    return isOutOfMemory ? nil : line
  }

  func end() -> PictureProcessEnd {
    let end = helper.end()
    if Interruption.isRequested { return .stopped(SessionError.interrupted) }
    guard isOutOfMemory else { return .crashed(cause: end.helperCause) }
    return .stopped(
      ErrorFacts.overMemoryLimit(
        "session.decode.memory", SandboxedHelper.bytesMax(ofSession: session), at: session,
        advice: "If you trust the session", retry: "retake replay \(session.shellWord)"))
  }

  /// Decodes pictures until the parent process closes the socket, in the restricted process.
  static func serve() throws {
    guard let line = readLine() else { return }
    let session = try JSONDecoder().decode(Session.self, from: Data(line.utf8))
    let shared = try SharedMemory(inherited: descriptor)
    let server = PictureServer(
      session: session.path, poisons: session.poisons,
      memory: PictureMemory(
        address: shared.address(of: 0), byteCount: shared.byteCount, owner: shared))
    while let request = readLine() {
      try SandboxedProcess.answer(server.answer(to: request))
    }
  }
}
