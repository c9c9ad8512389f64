import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeStore

/// Captured rows. They are never shed; some of them have payload.
enum CapturedRow: Sendable {
  case frame(CapturedFrame)
  case event(EventRecord)
  case run(RunRows)
  case compared(ComparedFrame)
}

/// State shared by the capturing, encoding and writing threads.
final class RecorderPipes: Sendable {
  let captured: RowQueue<CapturedRow>
  let encoded: RowQueue<RecordedRow>
  /// Encoded bytes that a pre-trigger ring may hold.
  let ringBytesMax: Int
  /// Rings when the recording should end.
  let ended = ThreadCondition()
  private let clock: any LiveClock
  private let room: FreeMemory
  private let pace: RecordingPace
  private let state: Locked<State>

  private struct State: Sendable {
    var timeline: SessionTimeline
    var end: RecordingEnd?
    var failure: (any CodedError)?
    /// Tracks that need a key frame.
    var wantsKey: Set<Int> = []
    var isDiskBehind = false
    var isTriggered = false
    var lossCause: String?
    var isShortOfMemory = false
    /// Notes on data of the source that the session lacks or changes, each once.
    var notes: [String] = []
    /// The notes that are about the source's footage; the session keeps them.
    var remarks: [String] = []
    /// The notes about data that the source itself lacks; the session is lossy for them.
    var losses: [String] = []
    var memory = MemoryWatch()
    var memoryLookNanoseconds = Int64.min
  }

  init(_ options: RecorderOptions, clock: any LiveClock, room: FreeMemory = FreeMemory()) {
    self.clock = clock
    self.room = room
    pace = options.pace
    // Read once, so that the ring and both queues are shares of the same amount.
    let bytes = room.bytes()
    ringBytesMax = MemoryWatch.ringBound(
      options.ringBytesMax, room: bytes, available: room.availableBytes)
    captured = RowQueue(
      PayloadBudget(
        countMax: options.waitingFramesMax,
        bytesMax: MemoryWatch.bound(options.waitingBytesMax, room: bytes),
        // Age is real time, which has no influence on an unpaced recording.
        ageNanosecondsMax: options.pace == .realtime
          ? options.waitingDurationMax.nanoseconds : nil))
    encoded = RowQueue(
      PayloadBudget(
        countMax: options.waitingPacketsMax,
        bytesMax: MemoryWatch.bound(options.waitingPacketBytesMax, room: bytes)))
    state = Locked(State(timeline: SessionTimeline(pace: options.pace)))
  }

  /// Ends the recording. The first reason is kept.
  func end(_ reason: RecordingEnd, failure: (any CodedError)? = nil) {
    state.withLock {
      guard $0.end == nil else { return }
      $0.end = reason
      $0.failure = failure
    }
    ended.signal()
  }

  var reason: RecordingEnd? { state.withLock { $0.end } }
  var failure: (any CodedError)? { state.withLock { $0.failure } }
  var hasEnded: Bool { reason != nil }

  /// Makes the writer write the contents of the pre-trigger ring.
  func trigger() {
    // Before the note: its row wakes the writer, which must then find the flag set.
    state.withLock { $0.isTriggered = true }
    note(source: "recorder", kind: "recording.triggered", json: .object([:]))
  }

  var isTriggered: Bool { state.withLock { $0.isTriggered } }

  func requestKey(track: Int) {
    state.withLock { _ = $0.wantsKey.insert(track) }
  }

  /// Whether a key frame of the track was requested since the last call.
  func takeKeyRequest(track: Int) -> Bool {
    state.withLock { $0.wantsKey.remove(track) != nil }
  }

  func setDiskBehind(_ isBehind: Bool) {
    state.withLock { $0.isDiskBehind = isBehind }
  }

  /// The session can no longer be written. Waiting frames are not encoded any more, so that the
  /// recording ends soon. The first cause is kept.
  func loseFrames(cause: String) {
    state.withLock { $0.lossCause = $0.lossCause ?? cause }
  }

  var lossCause: String? { state.withLock { $0.lossCause } }

  /// Adds a note for people, once: a longer note that begins with the same words says it already.
  func note(_ text: String) {
    state.withLock { state in
      if !state.notes.contains(where: { $0.hasPrefix(text) }) { state.notes.append(text) }
    }
  }

  /// Adds a note about the source's footage, once.
  func remark(_ text: String) {
    note(text)
    state.withLock { if !$0.remarks.contains(text) { $0.remarks.append(text) } }
  }

  /// Adds a note about data that the source lacks.
  func lose(_ text: String) {
    note(text)
    state.withLock { $0.losses.append(text) }
  }

  var losses: [String] { state.withLock { $0.losses } }

  var remarks: [String] { state.withLock { $0.remarks } }

  /// nil without notes.
  var notes: [String]? { state.withLock { $0.notes.isEmpty ? nil : $0.notes } }

  /// An allocation for a frame failed.
  func noteShortage() {
    state.withLock { $0.isShortOfMemory = true }
  }

  /// Whether an allocation for a frame has failed.
  var isShortOfMemory: Bool { state.withLock { $0.isShortOfMemory } }

  /// Why payload is shed now.
  var shedCause: String {
    state.withLock {
      // Memory first: the queue is then full because it was made smaller.
      if $0.memory.level != .normal { return RecordCause.shedMemory }
      return $0.isDiskBehind ? RecordCause.shedDisk : RecordCause.shedEncoder
    }
  }

  /// Interval between two checks of the memory: one or two frames of a camera.
  private static let memoryNanoseconds: Int64 = 50_000_000

  /// If the process's memory is limited, shrinks the queues when the limit is nearly reached.
  func watchMemory() {
    guard !room.isUnlimited else { return }
    let now = clock.monotonicNanoseconds
    let isDue = state.withLock {
      guard now >= $0.memoryLookNanoseconds else { return false }
      $0.memoryLookNanoseconds = now + Self.memoryNanoseconds
      return true
    }
    guard isDue else { return }
    // Outside the lock, which other threads need for each frame: this reads files of the kernel.
    let bytes = room.bytes()
    guard let level = state.withLock({ $0.memory.look(room: bytes) }) else { return }
    captured.shrink(to: level)
    encoded.shrink(to: level)
    // An unpaced recording is reproducible, so it has no events of the machine.
    guard pace == .realtime else { return }
    note(
      source: "recorder", kind: "memory.\(level.rawValue)",
      json: .object(["roomBytes": .integer(bytes ?? 0)]))
  }

  func due(_ timestamp: Timestamp) -> Int64 {
    let now = clock.monotonicNanoseconds
    return state.withLock { $0.timeline.dueNanoseconds(timestamp, now: now) }
  }

  func arrival(of timestamp: Timestamp) -> Int64 {
    let now = clock.monotonicNanoseconds
    return state.withLock { $0.timeline.arrival(of: timestamp, now: now) }
  }

  /// The current time on the session's time line.
  var sessionTime: Int64 {
    let now = clock.monotonicNanoseconds
    return state.withLock { $0.timeline.time(now: now) }
  }

  func note(source: String, kind: String, json: JSONValue) {
    // The writer sets the ordinal, in the order in which it receives events (`SessionWriter.add`).
    captured.add(
      .event(
        EventRecord(
          ordinal: 0, timeNanoseconds: sessionTime, source: source, kind: kind,
          json: json.canonicalText)))
  }
}
