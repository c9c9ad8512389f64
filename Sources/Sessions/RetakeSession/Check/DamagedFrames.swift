import RetakeStore

/// Finds the frames that are affected by damaged packets.
struct DamagedFrames {
  let reader: SessionReader

  /// The rows of frames with a damaged packet between their entry and their own packet, with the
  /// entry that was used. Frames that already have a cause are omitted.
  ///
  /// - Parameter damaged: Packet indexes in ascending order.
  func frames(of track: Int, damaged: [Int]) throws -> [FrameRecord] {
    var suffering: [FrameRecord] = []
    try each(of: track) { frame in
      guard frame.cause == nil, let packet = frame.packet else { return }
      // A recording that was never closed has no entries yet.
      let entry =
        try frame.entry ?? reader.index.store.keyPacket(track: track, atOrBefore: packet)
      guard Self.isHit(damaged, from: entry, through: max(entry, packet)) else { return }
      var row = frame
      row.entry = entry
      suffering.append(row)
    }
    return suffering
  }

  /// The rows of frames that the session itself marks as not replayable.
  func known(of track: Int) throws -> [FrameRecord] {
    var known: [FrameRecord] = []
    try each(of: track) { frame in
      guard frame.cause != nil || frame.packet == nil else { return }
      var row = frame
      row.cause = frame.cause ?? "no pixels"
      known.append(row)
    }
    return known
  }

  /// All rows of a track in the order of their sequences.
  func each(of track: Int, _ body: (FrameRecord) throws -> Void) throws {
    try reader.index.store.eachFramePage(track: track) { page in
      for frame in page { try body(frame) }
      return true
    }
  }

  private static func isHit(_ damaged: [Int], from first: Int, through last: Int) -> Bool {
    var (low, high) = (0, damaged.count)
    while low < high {
      let middle = (low + high) / 2
      if damaged[middle] < first { low = middle + 1 } else { high = middle }
    }
    return low < damaged.count && damaged[low] <= last
  }
}
