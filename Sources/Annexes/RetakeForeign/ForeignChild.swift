import RetakeBuffers
import RetakeCore
import RetakeGraph

/// One running copy of a program, and the conversation with it.
///
/// docs/formats/stage-protocol.md describes the messages. After a fault the program has ended, and
/// the copy cannot be used again.
final class ForeignChild: @unchecked Sendable {
  // @unchecked: the pool lends it to one thread at a time.
  /// When a run is notified that an answer is missing.
  private static let slowNanoseconds: Int64 = 2_000_000_000
  /// How long a program that closed its socket has to exit, so that its status is known.
  private static let exitSeconds = 0.5

  let ready: ForeignReady
  private let program: ForeignProgram
  private let process: ForeignProcess
  private let channel: MessageChannel
  /// `nil` if pixels are sent after their message.
  private let slots: ForeignSlots?
  /// The slot into which frames are copied.
  private let slot: Int
  private var resets: Int64 = 0
  private var isSlowTold = false
  /// The frame that was answered last.
  private var answered: FrameName?
  /// The last frame or timer that a whole program was done with.
  private var done: ProgramCallName?

  /// Starts the program, and waits until it is ready.
  ///
  /// - Parameter shared: Memory that it shares with other copies. Without a free slot, the copy
  ///   gets separate memory.
  /// - Throws: `ForeignError`.
  init(_ program: ForeignProgram, _ shared: ForeignSlots?) throws {
    self.program = program
    let (slots, slot) = try Self.slot(in: shared, program)
    (self.slots, self.slot) = (slots, slot)
    do {
      (process, channel, ready) = try Self.start(program, slots)
    } catch {
      slots?.giveBack(slot)
      throw error
    }
  }

  deinit { slots?.giveBack(slot) }

  /// The processes of this copy that run now.
  var processes: [Int32] { process.processes }

  private static func slot(
    in shared: ForeignSlots?, _ program: ForeignProgram
  ) throws -> (ForeignSlots?, Int) {
    guard let shared else { return (nil, 0) }
    if let slot = shared.take() { return (shared, slot) }
    do {
      let own = try ForeignSlots(copies: 1)
      return (own, own.take() ?? 0)
    } catch {
      throw ForeignError.notStarted(program.title, cause: error.causeText)
    }
  }

  private static func start(
    _ program: ForeignProgram, _ slots: ForeignSlots?
  ) throws -> (ForeignProcess, MessageChannel, ForeignReady) {
    let process = try ForeignProcess(program, slots?.memory)
    let channel = MessageChannel(process.socket)
    channel.starvedNanoseconds = { process.starvedNanoseconds }
    do throws(ForeignFailure) {
      return (process, channel, try greet(program, channel, process.tail, slots: slots?.count))
    } catch {
      let fault = Self.fault(error, program, process)
      throw ForeignError.notReady(
        program.title, cause: fault.text, hasWords: !fault.lastLines.isEmpty)
    }
  }

  private static func greet(
    _ program: ForeignProgram, _ channel: MessageChannel, _ tail: ProgramTail, slots: Int?
  ) throws(ForeignFailure) -> ForeignReady {
    let deadline = channel.deadline(seconds: program.startSeconds)
    try channel.send(hello(program, slots: slots), before: deadline)
    let message = try channel.receive(before: deadline, logs: tail)
    guard let ready = message["ready"] else {
      throw .unexpected("\(message.outline) before 'ready'")
    }
    do {
      return try ForeignReady(ready, output: program.output)
    } catch {
      throw .unexpected("a 'ready' that cannot be used: \(error.placedMessage)")
    }
  }

  private static func hello(_ program: ForeignProgram, slots: Int?) -> String {
    var content: [String: JSONValue] = [
      "v": .integer(Int64(ForeignReady.protocolVersion)), "clock": .string("virtual"),
      "options": program.options, "output": .string(program.output.rawValue),
    ]
    if !program.sensors.isEmpty {
      content["sensors"] = .array(
        program.sensors.map {
          .object(["sensor": .string($0.sensor), "windowNs": .integer($0.length.nanoseconds)])
        })
    }
    if let slots {
      content["slots"] = .integer(Int64(slots))
      content["slotBytes"] = .integer(Int64(ForeignSlots.slotBytes))
    }
    return JSONValue.object(["hello": .object(content)]).canonicalText
  }

  // MARK: Frames

  /// The value for a frame, or the program's own error.
  ///
  /// - Parameter seconds: The longest time for it; if `nil`, the timeout of the program's node.
  /// - Throws: `ForeignFault`; the program has ended then.
  func compute(
    _ frame: Frame, _ context: StageContext, seconds: Double? = nil
  ) throws(ForeignFault) -> StageOutcome {
    watch(context)
    do throws(ForeignFailure) {
      let name = FrameName(context)
      let deadline = channel.deadline(seconds: seconds ?? program.timeoutSeconds)
      try refuseUnasked()
      try process.fakeClock?.set(context.timestamp.nanoseconds)
      try send(frame, context, now: nil, before: deadline)
      let reply = try channel.receive(before: deadline, logs: process.tail)
      try check(reply, answers: name)
      answered = name
      return try outcome(of: reply)
    } catch {
      throw Self.fault(error, program, process)
    }
  }

  /// The values for the frames of a batch, of a program with shared memory.
  ///
  /// - Throws: `ForeignFault`; the program has ended then.
  func compute(
    batch frames: [(frame: Frame, context: StageContext)]
  ) throws(ForeignFault) -> [StageOutcome] {
    guard let first = frames.first else { return [] }
    watch(first.context)
    do throws(ForeignFailure) {
      let deadline = channel.deadline(seconds: program.timeoutSeconds * Double(frames.count))
      try refuseUnasked()
      var outcomes: [StageOutcome] = []
      // Ends: each turn computes at least one frame.
      while outcomes.count < frames.count {
        let rest = frames[outcomes.count...]
        outcomes += try computeTogether(rest.prefix(Self.fitting(rest)), before: deadline)
      }
      return outcomes
    } catch {
      throw Self.fault(error, program, process)
    }
  }

  /// How many of the first frames fit into the slot, but at least one.
  private static func fitting(_ frames: ArraySlice<(frame: Frame, context: StageContext)>) -> Int {
    var bytes = 0
    let after = frames.firstIndex { frame, _ in
      bytes += frame.visibleBytes + alignment
      return bytes > ForeignSlots.slotBytes
    }
    return max(1, (after ?? frames.endIndex) - frames.startIndex)
  }

  private func computeTogether(
    _ frames: ArraySlice<(frame: Frame, context: StageContext)>, before deadline: Deadline
  ) throws(ForeignFailure) -> [StageOutcome] {
    var offset = 0
    for (index, item) in frames.enumerated() {
      let message = FrameMessage(
        item.frame, item.context, planes: try place(item.frame, from: &offset),
        batch: frames.count - index)
      try channel.send(message.text, before: deadline)
    }
    var outcomes: [StageOutcome] = []
    for (_, context) in frames {
      let name = FrameName(context)
      let reply = try channel.receive(before: deadline, logs: process.tail)
      try check(reply, answers: name)
      answered = name
      outcomes.append(try outcome(of: reply))
    }
    return outcomes
  }

  private func send(
    _ frame: Frame, _ context: StageContext, now: Int64?, before deadline: Deadline
  ) throws(ForeignFailure) {
    guard slots != nil else {
      let (planes, pixels) = try packed(frame)
      let message = FrameMessage(frame, context, planes: planes, now: now, bytes: pixels.count)
      return try channel.send(message.text, pixels, before: deadline)
    }
    var offset = 0
    let message = FrameMessage(
      frame, context, planes: try place(frame, from: &offset), now: now)
    try channel.send(message.text, before: deadline)
  }

  // MARK: Whole programs

  /// How many messages a whole program sends before it is done with a frame or a timer.
  private static let wordsMax = 10_000
  /// And how many bytes, because the values of a frame are in memory until it is complete.
  private static let wordBytesMax = 32 << 20

  /// Sends a frame or a timer to a whole program, and returns when the program is done with it.
  ///
  /// - Parameter hear: Called with each message that the program sends before `done`.
  /// - Throws: `ForeignFault`; the program has ended then.
  func call(
    _ call: ProgramCall, _ context: StageContext,
    hear: (ProgramWord) throws(ForeignFailure) -> Void
  ) throws(ForeignFault) {
    watch(context)
    let name = call.name(context)
    do throws(ForeignFailure) {
      let deadline = channel.deadline(seconds: program.timeoutSeconds)
      try refuseUnasked()
      try send(call, context, before: deadline)
      let bytesBefore = channel.takenBytes
      for _ in 0..<Self.wordsMax {
        let message = try channel.receive(before: deadline, logs: process.tail)
        guard channel.takenBytes - bytesBefore <= Self.wordBytesMax else {
          throw .unexpected("more than \(Self.wordBytesMax) bytes of messages with \(name)")
        }
        if try isDone(message, with: name) {
          done = name
          return
        }
        try hear(try word(message, in: name))
      }
      throw .unexpected("more than \(Self.wordsMax) messages and no 'done' with \(name)")
    } catch {
      var fault = Self.fault(error, program, process)
      if case .timer = call { fault.timer = "\(name)" }
      throw fault
    }
  }

  private func send(
    _ call: ProgramCall, _ context: StageContext, before deadline: Deadline
  ) throws(ForeignFailure) {
    switch call {
    case .frame(let frame):
      try process.fakeClock?.set(context.nowNanoseconds)
      try send(frame, context, now: context.nowNanoseconds, before: deadline)
    case .timer(let due):
      try process.fakeClock?.set(due.nanoseconds)
      let message: JSONValue = .object([
        "timer": .integer(due.id), "nowNs": .integer(due.nanoseconds),
      ])
      try channel.send(message.canonicalText, before: deadline)
    }
  }

  private func isDone(
    _ message: JSONValue, with name: ProgramCallName
  ) throws(ForeignFailure) -> Bool {
    guard let json = message["done"] else { return false }
    let given: ProgramCallName
    do {
      given = try ProgramCallName(done: json)
    } catch {
      throw .badValue(error.placedMessage)
    }
    guard given != name else { return true }
    // The second answer may arrive only when the next frame was already sent.
    if given == done { throw .repeated("\(given)") }
    throw .wrongFrame(expected: "\(name)", answered: "\(given)")
  }

  /// A whole program may end the run at any time, with its own error.
  private func throwOwnError(in message: JSONValue) throws(ForeignFailure) {
    guard program.output == .program, let json = message["error"] else { return }
    let error: StageError
    do {
      error = try StageError(ofProgram: json)
    } catch {
      throw .badValue(error.placedMessage)
    }
    throw .ownError(code: error.code, message: error.message)
  }

  private func word(
    _ message: JSONValue, in name: ProgramCallName
  ) throws(ForeignFailure) -> ProgramWord {
    try throwOwnError(in: message)
    let word: ProgramWord?
    do {
      word = try ProgramWord(message)
    } catch {
      throw .badValue(error.placedMessage)
    }
    guard let word else {
      throw .unexpected("\(message.outline) before 'done' with \(name)")
    }
    // A late message may arrive only when the next frame was already sent.
    if case .out(_, let sequence, _) = word, case .frame(let current) = name,
      case .frame(sequence)? = done, sequence != current
    {
      throw .unexpected("an 'out' after 'done' with frame \(sequence)")
    }
    return word
  }

  /// The program forgets all frames.
  ///
  /// - Throws: `ForeignFault`; the program has ended then.
  func reset() throws(ForeignFault) {
    do throws(ForeignFailure) {
      let deadline = channel.deadline(seconds: program.timeoutSeconds)
      try refuseUnasked()
      resets += 1
      let message = JSONValue.object(["reset": .integer(resets)])
      try channel.send(message.canonicalText, before: deadline)
      let reply = try channel.receive(before: deadline, logs: process.tail)
      try throwOwnError(in: reply)
      guard reply["reset"] == .integer(resets) else {
        throw ForeignFailure.unexpected("\(reply.outline) instead of the answer to 'reset'")
      }
      (answered, done) = (nil, nil)
    } catch {
      throw Self.fault(error, program, process)
    }
  }

  /// From now on a wait ends with the run, and the run is notified once that an answer is missing.
  func watch(_ context: StageContext) {
    guard let run = context.run else {
      channel.whileWaiting = nil
      return
    }
    channel.whileWaiting = { [unowned self] waited throws(ForeignFailure) in
      if run.isOver { throw .abandoned }
      guard waited >= Self.slowNanoseconds, !isSlowTold else { return }
      isSlowTold = true
      context.note(
        .slow, code: "process.slow",
        "the program '\(program.title)' has not answered for 2 s; its timeout is "
          + "\(program.timeoutSeconds.shortText) s")
    }
  }

  /// Between frames a program may only log.
  private func refuseUnasked() throws(ForeignFailure) {
    // Bounded: a program that logs without an end is stopped when its answer is late.
    for _ in 0..<Self.logsAtOnceMax {
      guard let message = try channel.receiveAtOnce() else { return }
      try throwOwnError(in: message)
      if let log = message["log"] {
        process.tail.append(line: log.logLine)
      } else if let done, let given = message["done"], done == (try? ProgramCallName(done: given)) {
        throw .repeated("\(done)")
      } else if let done, message["out"] != nil {
        throw .unexpected("an 'out' after 'done' with \(done)")
      } else if let answered, let name = FrameName(answerIn: message), name == answered {
        throw .repeated("frame \(name)")
      } else {
        throw .unexpected("\(message.outline) when it was not asked")
      }
    }
  }

  private static let logsAtOnceMax = 1_000

  /// Bytes to whose multiples a frame in the slot is aligned.
  private static let alignment = 64

  /// Where the program finds the pixels. A frame outside of the shared memory is copied into the
  /// slot, without gaps between its rows.
  ///
  /// - Parameter offset: The first free byte of the slot, before and after.
  private func place(
    _ frame: Frame, from offset: inout Int
  ) throws(ForeignFailure) -> FrameMessage.Planes {
    guard let slots else { preconditionFailure("pixels without shared memory are sent") }
    if let planes = slots.planes(of: frame) { return planes }
    guard frame.visibleBytes <= ForeignSlots.slotBytes else {
      throw .frameSize(bytes: frame.visibleBytes, bytesMax: ForeignSlots.slotBytes)
    }
    var planes = FrameMessage.Planes(slot: slot, places: [])
    let start = slot * ForeignSlots.slotBytes
    for plane in 0..<frame.format.planeCount {
      let stride = frame.format.rowBytes(plane: plane, width: frame.width)
      planes.places.append(FrameMessage.Plane(offset: offset, stride: stride))
      frame.forEachRow(of: plane) { row in
        slots.memory.write(row, at: start + offset)
        offset += stride
      }
    }
    offset += (Self.alignment - offset % Self.alignment) % Self.alignment
    return planes
  }

  /// The visible bytes of all planes, without gaps.
  private func packed(
    _ frame: Frame
  ) throws(ForeignFailure) -> (planes: FrameMessage.Planes, pixels: [UInt8]) {
    guard frame.visibleBytes <= ForeignSlots.slotBytes else {
      throw .frameSize(bytes: frame.visibleBytes, bytesMax: ForeignSlots.slotBytes)
    }
    var planes = FrameMessage.Planes(slot: 0, places: [])
    var pixels: [UInt8] = []
    pixels.reserveCapacity(frame.visibleBytes)
    for plane in 0..<frame.format.planeCount {
      let stride = frame.format.rowBytes(plane: plane, width: frame.width)
      planes.places.append(FrameMessage.Plane(offset: pixels.count, stride: stride))
      frame.forEachRow(of: plane) { row in pixels.append(contentsOf: row) }
    }
    return (planes, pixels)
  }

  private func check(_ reply: JSONValue, answers name: FrameName) throws(ForeignFailure) {
    guard let given = FrameName(answerIn: reply) else {
      throw .unexpected("\(reply.outline) instead of an answer to frame \(name)")
    }
    guard given != name else { return }
    // The second answer may arrive only when the next frame was already sent.
    if given == answered { throw .repeated("frame \(given)") }
    throw .wrongFrame(expected: "frame \(name)", answered: "frame \(given)")
  }

  private func outcome(of reply: JSONValue) throws(ForeignFailure) -> StageOutcome {
    do {
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

  /// Ends the program, and describes the failure with the last lines of the program's output.
  private static func fault(
    _ failure: ForeignFailure, _ program: ForeignProgram, _ process: ForeignProcess
  ) -> ForeignFault {
    var failure = failure
    // A program that exits closes its socket first; its status says more.
    if failure == .closed, let end = process.end(withinSeconds: exitSeconds) {
      failure = .ended(end)
    }
    process.kill()
    return ForeignFault(program: program.title, failure: failure, lastLines: process.tail.text)
  }
}

extension MessageChannel {
  /// The next message that is not a log; logs go to the tail.
  fileprivate func receive(
    before deadline: Deadline, logs tail: ProgramTail
  ) throws(ForeignFailure) -> JSONValue {
    // Bounded by the deadline, which the channel checks for each message.
    while true {
      let message = try receive(before: deadline)
      guard let log = message["log"] else { return message }
      tail.append(line: log.logLine)
    }
  }
}
