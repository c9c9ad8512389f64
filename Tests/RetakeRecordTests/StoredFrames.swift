import RetakeStore

/// The rows of a recorded session, as stored in the database.
struct StoredFrames {
  var all: [FrameRecord]
  var packets: [PacketRecord]
  var segments: [SegmentRecord]
  var events: [EventRecord]

  init(_ folder: String) throws {
    let store = try StoreReader(opening: folder + "/session.sqlite")
    all = try store.frames(track: 0, sequences: 0..<100_000)
    packets = try store.packets(track: 0, indexes: 0..<100_000)
    segments = try store.segments()
    events = try store.events()
  }

  /// The most packets from one key packet to the next, or to the end.
  var keyDistanceMax: Int {
    let keys = packets.indices.filter { packets[$0].flags.contains(.key) } + [packets.count]
    return zip(keys, keys.dropFirst()).map { $1 - $0 }.max() ?? 0
  }

  /// Frames without pixels, by cause.
  var causes: [String: Int] {
    all.reduce(into: [:]) { counts, frame in
      if let cause = frame.cause { counts[cause, default: 0] += 1 }
    }
  }
}
