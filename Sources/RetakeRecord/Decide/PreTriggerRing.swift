import RetakeStore

/// Keeps the last seconds of a recording in memory until the recorder is triggered.
///
/// The ring begins with a frame that can be decoded alone. It reaches back at least as far as
/// requested, if that much was recorded and fits into its bytes. A group of frames that depends on
/// one key frame is kept whole, so the ring holds at most twice its bytes.
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
    rows.append(row)
    bytes += Self.bytes(of: row)
    guard case .frame(let newest, _) = row else { return }
    // Ends: each round removes rows.
    while let next = nextKey {
      let isOver = bytes > bytesMax
      // Older rows leave only if the rest, which begins with this key frame, still reaches back far
      // enough, or if the bytes are used up.
      guard isOver || newest.arrivalNanoseconds - next.arrival >= nanoseconds else { return }
      if newest.arrivalNanoseconds - next.arrival < nanoseconds { isShort = true }
      removeRows(before: next.place)
    }
    // There was no key frame for this long. None of these frames could be decoded, so none is kept.
    if bytes / 2 > bytesMax {
      isShort = true
      removeRows(before: rows.endIndex)
    }
  }

  /// All rows in the ring, in order; the ring is empty afterwards.
  mutating func take() -> [RecordedRow] {
    defer { (rows, earlier, bytes) = ([], [], 0) }
    return earlier.map(RecordedRow.event) + rows
  }

  /// The next frame that can be decoded alone, after the ring's first row.
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
