import RetakeMedia
import RetakeStore

/// Keeps the last seconds of a recording in memory until the recorder is triggered.
///
/// The ring begins with a frame that can be decoded alone. It reaches back at least as far as
/// requested, if that much was recorded and fits into its bytes. A group of frames that depends on
/// one key frame is kept complete, so the ring holds at most twice its bytes. A recovery point of
/// H.264 needs the packets up to the next recovery point before its pictures are exact, so those
/// packets are kept without their frames.
struct PreTriggerRing {
  let nanoseconds: Int64
  let bytesMax: Int
  private var rows: [RecordedRow] = []
  private var bytes = 0
  /// Events before the first frame. They are kept when frames leave the ring, and are written with
  /// the rest.
  private var earlier: [EventRecord] = []
  /// Frames that left the ring, as intended.
  private(set) var passedFrames = 0
  /// Whether frames left since the last frame was taken.
  private(set) var hasGap = false
  /// Whether the bytes did not suffice for the requested time.
  private(set) var isShort = false

  /// Maximum number of events kept from before the first frame; the oldest are removed.
  private static let earlierMax = 4_096

  init(nanoseconds: Int64, bytesMax: Int) {
    (self.nanoseconds, self.bytesMax) = (nanoseconds, bytesMax)
  }

  /// Frames in the ring now.
  var frameCount: Int {
    rows.count { if case .frame = $0 { true } else { false } }
  }

  mutating func add(_ row: RecordedRow) {
    append(row)
    guard case .frame(let newest, _) = row else { return }
    trim(reachingBackFrom: newest.arrivalNanoseconds)
  }

  /// Adds a row without removing others; `trim` bounds the ring.
  mutating func append(_ row: RecordedRow) {
    rows.append(row)
    bytes += Self.bytes(of: row)
  }

  /// Removes the rows that are not needed to reach back from this time; `nil` removes rows only if
  /// the bytes are used up.
  mutating func trim(reachingBackFrom time: Int64?) {
    // Ends: each round removes rows.
    while let next = nextKeys.first {
      let isOver = bytes > bytesMax
      // Older rows leave only if the rest, which begins with this key frame, still reaches back far
      // enough, or if the bytes are used up.
      let reach = time.flatMap { time in exactArrival(from: next).map { time - $0 } } ?? 0
      guard isOver || reach >= nanoseconds else { return }
      if reach < nanoseconds { isShort = true }
      removeRows(before: next.place)
    }
    // There was no key frame for this long. No frame here could be decoded, so all are removed.
    if bytes / 2 > bytesMax {
      isShort = true
      removeRows(before: rows.endIndex)
    }
  }

  /// Removes and returns the rows up to the last frame that arrived by this time, in order; all
  /// rows if no time is given.
  mutating func take(through arrival: Int64 = .max) -> [RecordedRow] {
    func isLater(_ row: RecordedRow) -> Bool {
      if case .frame(let record, _) = row { record.arrivalNanoseconds > arrival } else { false }
    }
    // Events wait for a frame.
    guard arrival == .max || firstFrame.map({ $0.arrivalNanoseconds <= arrival }) ?? false else {
      return []
    }
    if hasGap { rollIn() }
    let end = rows.firstIndex(where: isLater) ?? rows.endIndex
    let taken = earlier.map(RecordedRow.event) + rows[..<end]
    for row in rows[..<end] { bytes -= Self.bytes(of: row) }
    rows.removeSubrange(..<end)
    (earlier, hasGap) = ([], false)
    return taken
  }

  /// The oldest frame in the ring.
  var firstFrame: FrameRecord? {
    for case .frame(let record, _) in rows { return record }
    return nil
  }

  private struct Key {
    var place: Int
    var arrival: Int64
    var start: DecodingStart
  }

  /// The next two key frames, after the ring's first row.
  private var nextKeys: [Key] { keys(from: rows.startIndex + 1) }

  /// At most two.
  private func keys(from first: Int) -> [Key] {
    var keys: [Key] = []
    for place in rows.indices.dropFirst(first) {
      guard let key = key(at: place) else { continue }
      keys.append(key)
      if keys.count == 2 { break }
    }
    return keys
  }

  private func key(at place: Int) -> Key? {
    guard case .frame(let record, let encoded?) = rows[place],
      encoded.packet.flags.contains(.key)
    else { return nil }
    return Key(
      place: place, arrival: record.arrivalNanoseconds,
      start: DecodingStart(of: encoded.packet, in: encoded.epoch.stream))
  }

  /// When the pictures are exact, if the ring begins with this key frame; nil if that is not known
  /// yet.
  private func exactArrival(from key: Key) -> Int64? {
    key.start == .recovery ? nextKeys.dropFirst().first?.arrival : key.arrival
  }

  /// Frames that the ring cannot decode exactly become packets that the frames after them need.
  private mutating func rollIn() {
    let keys = keys(from: rows.startIndex)
    guard keys.count == 2, keys[0].start == .recovery,
      case .frame(let record, var encoded?) = rows[keys[1].place]
    else { return }
    let (first, next) = (keys[0], keys[1])
    encoded.rollIn = rows[first.place..<next.place].compactMap { row in
      if case .frame(_, let encoded?) = row { encoded.packet } else { nil }
    }
    rows[next.place] = .frame(record, encoded)
    removeRows(before: next.place)
  }

  private mutating func removeRows(before place: Int) {
    for row in rows[..<place] {
      bytes -= Self.bytes(of: row)
      switch row {
      case .frame: (passedFrames, hasGap) = (passedFrames + 1, true)
      case .event(let event): earlier.append(event)
      case .run, .compared: preconditionFailure("a ring keeps frames and events")
      }
    }
    rows.removeSubrange(..<place)
    if earlier.count > Self.earlierMax { earlier.removeFirst(earlier.count - Self.earlierMax) }
  }

  private static func bytes(of row: RecordedRow) -> Int {
    if case .frame(_, let encoded?) = row { encoded.packet.size } else { 0 }
  }
}
