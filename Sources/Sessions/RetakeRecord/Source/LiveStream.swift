import RetakeCore
import RetakeRuntime

/// The frames of a source that may disappear and come back. Its state changes become notes.
///
/// A separate thread waits for the source, so that a blocking call does not stall the recorder.
final class LiveStream: FrameStream {
  struct Plan: Sendable {
    var connect: @Sendable (CallLimit) throws -> any LiveConnection
    var timeBase: TimeBase
    var limits = SourceWatch.Limits()
    var backOff = BackOff()
    var callNanosecondsMax: Int64 = 5_000_000_000
    var clock: any LiveClock
  }

  private let plan: Plan
  private let mailbox: LiveMailbox
  private var watch: SourceWatch
  private var timeline: LiveTimeline
  private var reader: LiveReader
  private var thread: NamedThread
  /// A frame, or a missed one, that follows the note it caused.
  private var held: SourceItem?

  /// Maximum time that `item()` blocks, so that the recorder can check whether it should end.
  private static let idleNanosecondsMax: Int64 = 200_000_000
  /// Time limit for closing a source; after that it is abandoned.
  private static let closeNanosecondsMax: Int64 = 500_000_000

  /// - Parameter first: A connection that has already been made.
  /// - Throws: `RuntimeError.noThread`.
  init(
    _ plan: Plan, first: (any LiveConnection)? = nil, limit: CallLimit? = nil
  ) throws {
    let mailbox = LiveMailbox()
    (self.plan, self.mailbox) = (plan, mailbox)
    watch = SourceWatch(plan.limits, nowNanoseconds: plan.clock.monotonicNanoseconds)
    timeline = LiveTimeline(timeBase: plan.timeBase)
    let reader = LiveReader(plan, mailbox, generation: 0, limit: limit)
    self.reader = reader
    thread = try NamedThread("retake-source") { reader.run(first) }
  }

  deinit {
    // A recording that is refused after the probe never calls `close`, and the thread must end,
    // too.
    mailbox.close()
    reader.limit.cancel()
  }

  func next() throws -> SourceFrame? {
    // Ends: the source sends a frame, or the watch gives up if it has a bound.
    while true {
      if case .frame(let frame) = try item() { return frame }
    }
  }

  func item() throws -> SourceItem {
    if let item = held {
      held = nil
      return item
    }
    let end = plan.clock.monotonicNanoseconds + Self.idleNanosecondsMax
    // Ends: there is an item, or the time limit is reached.
    while true {
      if let item = mailbox.take() {
        if let said = take(item) { return said }
        continue
      }
      let now = plan.clock.monotonicNanoseconds
      switch watch.step(nowNanoseconds: now, callNanoseconds: reader.limit.startedNanoseconds) {
      case .note(let note): return .note(kind: note.kind, json: note.json)
      case .giveUp(let cause): throw SourceGone(cause: cause)
      case .abandon: try abandon()
      case .wait(let deadline):
        guard now < end else { return .nothing }
        plan.clock.wait(untilNanoseconds: min(deadline, end), or: mailbox.arrived)
      }
    }
  }

  func discardWaiting() {
    mailbox.takeAll()
  }

  func close() {
    mailbox.close()
    reader.limit.cancel()
    thread.join(nanosecondsMax: Self.closeNanosecondsMax, clock: plan.clock)
  }

  private func take(_ item: LiveMailbox.Item) -> SourceItem? {
    switch item {
    case .lost(let cause):
      return watch.lost(cause).map { .note(kind: $0.kind, json: $0.json) }
    case .missed(var missed, let arrival, let connection):
      let place = timeline.place(
        nanoseconds: missed.timestamp?.nanoseconds, pts: missed.pts, connection: connection,
        arrival: arrival)
      (missed.timestamp, missed.pts) = (Timestamp(nanoseconds: place.nanoseconds), place.pts)
      return came(.missed(missed), arrival: arrival)
    case .frame(var frame, let arrival, let connection):
      let place = timeline.place(
        nanoseconds: frame.pts == nil ? nil : frame.frame.timestamp.nanoseconds, pts: frame.pts,
        connection: connection, arrival: arrival)
      frame.frame.timestamp = Timestamp(nanoseconds: place.nanoseconds)
      frame.pts = place.pts
      return came(.frame(frame), arrival: arrival)
    }
  }

  /// The source gave a frame, also if there was no memory for it.
  private func came(_ item: SourceItem, arrival: Int64) -> SourceItem {
    guard let note = watch.frame(atNanoseconds: arrival) else { return item }
    // The note first: the session says that the source is back before the first frame after it.
    held = item
    return .note(kind: note.kind, json: note.json)
  }

  private func abandon() throws {
    // The old call ends if FFmpeg's interrupt callback still runs, and its items are refused if
    // not.
    reader.limit.cancel()
    let reader = LiveReader(plan, mailbox, generation: mailbox.nextGeneration())
    self.reader = reader
    thread = try NamedThread("retake-source") { reader.run(nil) }
  }
}

/// Why a live source is considered gone for good.
struct SourceGone: Error, CustomStringConvertible {
  var cause: String
  var description: String { cause }
}

/// Connects, reads, and reconnects, on its own thread.
final class LiveReader: Sendable {
  let limit: CallLimit
  private let plan: LiveStream.Plan
  private let mailbox: LiveMailbox
  private let generation: Int
  /// Distance between the first connection numbers of two threads, so that connections of a later
  /// thread have higher numbers.
  private static let connectionsMax = 1 << 20

  init(_ plan: LiveStream.Plan, _ mailbox: LiveMailbox, generation: Int, limit: CallLimit? = nil) {
    (self.plan, self.mailbox, self.generation) = (plan, mailbox, generation)
    self.limit =
      limit ?? CallLimit(clock: plan.clock, nanosecondsMax: plan.callNanosecondsMax)
  }

  func run(_ first: (any LiveConnection)?) {
    var connection = first
    var backOff = plan.backOff
    var number = generation * Self.connectionsMax
    // Ends: the box is closed, or another thread has taken over.
    while mailbox.isCurrent(generation) {
      do {
        let open = try connection ?? connect()
        while let item = try limit.during({ try item(of: open, number) }) {
          // At a frame and not at a connection: a source that accepts and sends no frame is retried
          // less and less often.
          backOff.reset()
          guard mailbox.put(item, generation: generation) else { return }
        }
        guard lost("the stream ended") else { return }
      } catch {
        guard lost(Self.text(error)) else { return }
      }
      // Before the pause, because releasing a connection ends it, and a device may allow only one.
      connection = nil
      number += 1
      limit.wait(nanoseconds: backOff.next())
    }
  }

  private func item(
    of connection: any LiveConnection, _ number: Int
  ) throws -> LiveMailbox.Item? {
    do {
      guard let frame = try connection.next() else { return nil }
      return .frame(
        frame, arrivalNanoseconds: plan.clock.monotonicNanoseconds, connection: number)
    } catch let missed as MissedFrame {
      return .missed(
        missed, arrivalNanoseconds: plan.clock.monotonicNanoseconds, connection: number)
    }
  }

  private func connect() throws -> any LiveConnection {
    try limit.during { try plan.connect(limit) }
  }

  private func lost(_ cause: String) -> Bool {
    mailbox.put(.lost(cause: cause), generation: generation)
  }

  private static func text(_ error: any Error) -> String {
    guard let error = error as? any CodedError else { return error.causeText }
    return error.cause.map { "\(error.message): \($0)" } ?? error.message
  }
}
