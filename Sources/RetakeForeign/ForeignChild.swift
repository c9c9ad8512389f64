import RetakeBuffers
import RetakeCore
import RetakeGraph

/// One running copy of a program, and the conversation with it.
///
/// docs/formats/stage-protocol.md describes the messages. After a fault the program has ended, and
/// nothing more can be asked of it.
final class ForeignChild: @unchecked Sendable {
  // @unchecked: the pool lends it to one thread at a time.
  /// Frames that a program may have at once.
  private static let slots = 1
  /// How long a program that closed its socket has to exit, so that its status is known.
  private static let exitSeconds = 1.0

  let ready: ForeignReady
  private let program: ForeignProgram
  private let process: ForeignProcess
  private let channel: MessageChannel
  private var resets: Int64 = 0
  /// The frame that was answered last.
  private var answered: FrameName?

  /// Starts the program, and waits until it is ready.
  ///
  /// - Throws: `ForeignError`.
  init(_ program: ForeignProgram) throws(ForeignError) {
    self.program = program
    let process = try ForeignProcess(program)
    let channel = MessageChannel(process.socket)
    (self.process, self.channel) = (process, channel)
    do throws(ForeignTrouble) {
      ready = try Self.greet(program, channel, process.tail)
    } catch {
      let fault = Self.fault(error, program, process)
      throw .notReady(program.title, cause: fault.text)
    }
  }

  private static func greet(
    _ program: ForeignProgram, _ channel: MessageChannel, _ tail: ProgramTail
  ) throws(ForeignTrouble) -> ForeignReady {
    let deadline = channel.deadline(seconds: program.startSeconds)
    try channel.send(hello(program), before: deadline)
    let message = try channel.receive(before: deadline, logs: tail)
    guard let ready = message["ready"] else {
      throw .unexpected("\(message.outline) before 'ready'")
    }
    do throws(DocumentProblem) {
      return try ForeignReady(ready, output: program.output)
    } catch {
      throw .unexpected("a 'ready' that cannot be used: \(error.placedMessage)")
    }
  }

  private static func hello(_ program: ForeignProgram) -> String {
    let content: [String: JSONValue] = [
      "v": .integer(Int64(ForeignReady.protocolVersion)), "clock": .string("virtual"),
      "options": program.options, "output": .string(program.output.rawValue),
      "slots": .integer(Int64(slots)), "slotBytes": .integer(Int64(ForeignProcess.slotBytes)),
    ]
    return JSONValue.object(["hello": .object(content)]).canonicalText
  }

  // MARK: Frames

  /// The value for a frame, or the program's own error.
  ///
  /// - Throws: `ForeignFault`; the program has ended then.
  func compute(_ frame: Frame, _ context: StageContext) throws(ForeignFault) -> StageOutcome {
    do throws(ForeignTrouble) {
      let name = FrameName(context)
      let deadline = channel.deadline(seconds: program.timeoutSeconds)
      try refuseUnasked()
      let message = FrameMessage(frame, context, planes: try place(frame))
      try channel.send(message.text, before: deadline)
      let reply = try channel.receive(before: deadline, logs: process.tail)
      try check(reply, answers: name)
      answered = name
      return try outcome(of: reply)
    } catch {
      throw Self.fault(error, program, process)
    }
  }

  /// The program forgets all frames.
  ///
  /// - Throws: `ForeignFault`; the program has ended then.
  func reset() throws(ForeignFault) {
    do throws(ForeignTrouble) {
      let deadline = channel.deadline(seconds: program.timeoutSeconds)
      try refuseUnasked()
      resets += 1
      let message = JSONValue.object(["reset": .integer(resets)])
      try channel.send(message.canonicalText, before: deadline)
      let reply = try channel.receive(before: deadline, logs: process.tail)
      guard reply["reset"] == .integer(resets) else {
        throw ForeignTrouble.unexpected("\(reply.outline) instead of the answer to 'reset'")
      }
      answered = nil
    } catch {
      throw Self.fault(error, program, process)
    }
  }

  /// Between frames a program may only log.
  private func refuseUnasked() throws(ForeignTrouble) {
    // Bounded: a program that logs without an end is stopped when its answer is late.
    for _ in 0..<Self.logsAtOnceMax {
      guard let message = try channel.receiveAtOnce() else { return }
      if let log = message["log"] {
        process.tail.append(line: log.logLine)
      } else if let answered, let name = FrameName(answerIn: message), name == answered {
        throw .repeated("frame \(name)")
      } else {
        throw .unexpected("\(message.outline) when it was not asked")
      }
    }
  }

  private static let logsAtOnceMax = 1_000

  /// Copies the visible rows into the slot, without gaps.
  private func place(_ frame: Frame) throws(ForeignTrouble) -> [FrameMessage.Plane] {
    guard frame.visibleBytes <= ForeignProcess.slotBytes else {
      throw .frameSize(bytes: frame.visibleBytes, bytesMax: ForeignProcess.slotBytes)
    }
    var planes: [FrameMessage.Plane] = []
    var offset = 0
    for plane in 0..<frame.format.planeCount {
      let stride = frame.format.rowBytes(plane: plane, width: frame.width)
      planes.append(FrameMessage.Plane(offset: offset, stride: stride))
      frame.forEachRow(of: plane) { row in
        process.memory.write(row, at: offset)
        offset += stride
      }
    }
    return planes
  }

  private func check(_ reply: JSONValue, answers name: FrameName) throws(ForeignTrouble) {
    guard let given = FrameName(answerIn: reply) else {
      throw .unexpected("\(reply.outline) instead of an answer to frame \(name)")
    }
    guard given != name else { return }
    // The second answer may arrive only when the next frame was already sent.
    if given == answered { throw .repeated("frame \(given)") }
    throw .wrongFrame(expected: "frame \(name)", answered: "frame \(given)")
  }

  private func outcome(of reply: JSONValue) throws(ForeignTrouble) -> StageOutcome {
    do throws(DocumentProblem) {
      switch (reply["value"], reply["error"]) {
      case (let value?, nil):
        return .success(try program.output.value(value, classNames: ready.classNames))
      case (nil, let error?):
        return .failure(try StageError(ofProgram: error))
      default:
        throw DocumentProblem(
          .wrongValue("an answer has either 'value' or 'error'", advice: nil), at: "")
      }
    } catch {
      throw .badValue(error.placedMessage)
    }
  }

  // MARK: The end

  /// Says that no frame will come, and does not wait.
  func beginEnd() {
    // Refused if the program does not read, and then the closed socket says it.
    try? channel.send(
      #"{"bye":{"reason":"end"}}"#, before: channel.deadline(seconds: Self.byeSeconds))
    process.close()
  }

  private static let byeSeconds = 0.1

  /// Ends the program, which gets a second to exit by itself.
  func end() { process.stop() }

  /// Ends the program, and describes what happened with what it wrote last.
  private static func fault(
    _ trouble: ForeignTrouble, _ program: ForeignProgram, _ process: ForeignProcess
  ) -> ForeignFault {
    var trouble = trouble
    // A program that exits closes its socket first; its status says more.
    if trouble == .closed, let end = process.end(withinSeconds: exitSeconds) {
      trouble = .ended(end)
    }
    process.kill()
    return ForeignFault(program: program.title, trouble: trouble, lastLines: process.tail.text)
  }
}

extension MessageChannel {
  /// The next message that is not a log; logs go to the tail.
  fileprivate func receive(
    before deadline: Deadline, logs tail: ProgramTail
  ) throws(ForeignTrouble) -> JSONValue {
    // Bounded by the deadline, which the channel checks for each message.
    while true {
      let message = try receive(before: deadline)
      guard let log = message["log"] else { return message }
      tail.append(line: log.logLine)
    }
  }
}

extension JSONValue {
  /// A log message as a line: `warning: the model is old`.
  fileprivate var logLine: String {
    guard case .string(let text)? = self["text"] else { return canonicalText }
    guard case .string(let level)? = self["level"] else { return text }
    return "\(level): \(text)"
  }

  /// A message in a few words.
  fileprivate var outline: String {
    guard case .object(let members) = self else { return kindText }
    let keys = members.keys.sorted().prefix(4).map { "'\($0.shortened)'" }
    return keys.isEmpty ? "an empty object" : "an object with \(keys.joined(separator: ", "))"
  }
}

extension DocumentProblem {
  /// `/value/detections/0/score: must be a number, is null`.
  fileprivate var placedMessage: String {
    (pointer.isEmpty ? "" : "\(pointer.shortened): ")
      + [message, advice].compactMap(\.self).joined(separator: ". ")
  }
}

extension StageError {
  private static let codeCharactersMax = 64

  /// - Throws: `DocumentProblem` unless it has a code without spaces and a message.
  fileprivate init(ofProgram json: JSONValue) throws(DocumentProblem) {
    let fields = try StrictDecoder<DocumentProblem>(json, at: "/error").object([
      "code", "message", "severity",
    ])
    let code = try fields.required("code")
    let word = try code.string()
    // A code is part of decisions and goldens.
    guard (1...Self.codeCharactersMax).contains(word.utf8.count),
      word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw code.wrong(
        "a code has 1 to \(Self.codeCharactersMax) ASCII characters and no spaces")
    }
    var severity = Severity.recoverable
    if let given = fields["severity"] {
      guard let known = Severity(rawValue: try given.string()) else {
        throw given.wrong("a severity is 'recoverable' or 'unrecoverable'")
      }
      severity = known
    }
    self.init(
      code: word, message: try fields.required("message").string(), severity: severity)
  }
}
