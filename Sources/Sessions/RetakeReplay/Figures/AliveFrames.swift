import RetakeCore

/// Counts how many frames are alive at once, and their bytes. The lifetime of a frame is given by
/// the numbers of its first and last decision line. Frames are added in the order of their capture.
struct AliveFrames {
  private(set) var framesMax = 0
  private(set) var bytesMax = 0
  private var bytes = 0
  private var lastBirth = 0
  /// Frames that may be alive, by their ends. There are as many as are alive at once.
  private var ends: [(end: Int, bytes: Int)] = []

  mutating func add(from birth: Int, to end: Int, bytes frameBytes: Int) {
    // Frames that are captured at one instant may appear in another order in the lines.
    let birth = max(birth, lastBirth)
    lastBirth = birth
    let end = max(end, birth)
    let ended = ends.firstIndex { $0.end >= birth } ?? ends.count
    for entry in ends[..<ended] { bytes -= entry.bytes }
    ends.removeFirst(ended)
    // Sorted by end, so that the frames that have ended are always at the front.
    let place = ends.lastIndex { $0.end <= end }.map { $0 + 1 } ?? 0
    ends.insert((end, frameBytes), at: place)
    bytes += frameBytes
    framesMax = max(framesMax, ends.count)
    bytesMax = max(bytesMax, bytes)
  }
}

/// The frames that finished last. A decision line may still refer to a late part of one.
struct RecentFrames {
  private static let countMax = 4_096

  private var members: Set<FrameID> = []
  private var ring: [FrameID] = []
  private var next = 0

  func contains(_ frame: FrameID) -> Bool { members.contains(frame) }

  mutating func insert(_ frame: FrameID) {
    if ring.count < Self.countMax {
      ring.append(frame)
    } else {
      members.remove(ring[next])
      ring[next] = frame
      next = (next + 1) % Self.countMax
    }
    members.insert(frame)
  }
}
