import RetakeStore

/// Keeps the last seconds of a recording in memory until somebody triggers it.
///
/// It begins with a frame that can be decoded alone, and reaches back at least as far as promised,
/// where so much was recorded and fits into its bytes. A group of frames that hang on one key frame
/// stays whole, so that it holds twice its bytes at most.
struct PreTriggerRing {
  let nanoseconds: Int64
  let bytesMax: Int
  private var rows: [RecordedRow] = []
  private var bytes = 0
  /// What happened before the first frame: never shed, so it is told with the rest.
  private var earlier: [EventRecord] = []
  /// Frames that left the ring, by design.
  private(set) var passedFrames = 0
  /// The bytes were not enough for the promise.
  private(set) var isShort = false

  /// Events that are kept from before, at most; the oldest go.
  private static let earlierMax = 4_096

  init(nanoseconds: Int64, bytesMax: Int) {
    (self.nanoseconds, self.bytesMax) = (nanoseconds, bytesMax)
  }

  /// Frames that are kept now.
  var frameCount: Int {
    rows.count { if case .frame = $0 { true } else { false } }
  }

  mutating func add(_ row: RecordedRow) {
    rows.append(row)
    bytes += Self.bytes(of: row)
    guard case .frame(let newest, _) = row else { return }
    // Ends: each round removes rows.
    while let next = nextKey {
      let isOver = bytes > bytesMax
      guard isOver || newest.arrivalNanoseconds - next.arrival >= nanoseconds else { return }
      if newest.arrivalNanoseconds - next.arrival < nanoseconds { isShort = true }
      removeRows(before: next.place)
    }
    // A source without key frames for so long: nothing of it could be decoded, so nothing is kept.
    if bytes / 2 > bytesMax {
      isShort = true
      removeRows(before: rows.endIndex)
    }
  }

  /// Everything that is kept, in order; the ring is empty afterwards.
  mutating func take() -> [RecordedRow] {
    defer { (rows, earlier, bytes) = ([], [], 0) }
    return earlier.map(RecordedRow.event) + rows
  }

  /// The second frame that can be decoded alone.
  private var nextKey: (place: Int, arrival: Int64)? {
    for place in rows.indices.dropFirst() {
      if case .frame(let record, let encoded?) = rows[place],
        encoded.packet.flags.contains(.key)
      {
        return (place, record.arrivalNanoseconds)
      }
    }
    return nil
  }

  private mutating func removeRows(before place: Int) {
    for row in rows[..<place] {
      bytes -= Self.bytes(of: row)
      switch row {
      case .frame: passedFrames += 1
      case .event(let event): earlier.append(event)
      case .run: preconditionFailure("a recorder with a ring runs no pipeline")
      }
    }
    rows.removeSubrange(..<place)
    if earlier.count > Self.earlierMax { earlier.removeFirst(earlier.count - Self.earlierMax) }
  }

  private static func bytes(of row: RecordedRow) -> Int {
    if case .frame(_, let encoded?) = row { encoded.packet.size } else { 0 }
  }
}
