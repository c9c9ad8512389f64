import RetakeCore

/// Finds equal pictures of one track by their digests: still runs, and stretches that come a second
/// time.
struct EqualImages {
  /// Consecutive frames with the same picture.
  struct Still: Hashable {
    var first: Int
    var last: Int
    /// From the first to the last.
    var nanoseconds: Int64

    var count: Int { last - first + 1 }
  }

  /// Consecutive frames whose pictures came before, in the same order.
  struct Echo: Hashable {
    var first: Int
    var count: Int
    /// The first frame of the earlier stretch.
    var earlier: Int
  }

  /// The longest stills, of equal length the first, at most `keptMax`, in the order of the track.
  private(set) var stills: [Still] = []
  /// The number of all stills, including the stills that are not kept.
  private(set) var stillCount = 0
  private(set) var echoes: [Echo] = []
  private(set) var echoCount = 0
  /// Number of different pictures, of the frames with a digest.
  private(set) var pictureCount = 0

  /// A stretch is as long as this, or it is not worth a word.
  private static let framesMin = 10
  private static let nanosecondsMin: Int64 = 1_000_000_000
  private static let keptMax = 3
  /// Bounds the memory: later pictures are only looked up.
  private static let picturesMax = 2_000_000

  private var places: [Digest128: Int32] = [:]
  /// By frame, the first frame with that picture; -1 where the picture is not known.
  private var firsts = CompactList<Int32>()
  private var still: Still?
  private var stillStart: Int64 = 0
  private var echo: Echo?
  /// Number of different pictures in a row within `echo`.
  private var echoImages = 0

  /// Frames are added in order, from 0 on.
  mutating func add(_ digest: Digest128?, nanoseconds: Int64) {
    let frame = firsts.count
    let first = digest.map { place(of: $0, frame) } ?? -1
    extendStill(frame, first, nanoseconds)
    extendEcho(frame, first)
    firsts.append(first)
  }

  mutating func finish() {
    endStill()
    endEcho()
  }

  /// The first frame with that picture.
  private mutating func place(of digest: Digest128, _ frame: Int) -> Int32 {
    if let known = places[digest] { return known }
    pictureCount += 1
    if places.count < Self.picturesMax { places[digest] = Int32(clamping: frame) }
    return Int32(clamping: frame)
  }

  private mutating func extendStill(_ frame: Int, _ first: Int32, _ nanoseconds: Int64) {
    if first >= 0, frame > 0, firsts[frame - 1] == first, var still {
      (still.last, still.nanoseconds) = (frame, nanoseconds &- stillStart)
      self.still = still
      return
    }
    endStill()
    guard first >= 0 else { return }
    stillStart = nanoseconds
    still = Still(first: frame, last: frame, nanoseconds: 0)
  }

  private mutating func endStill() {
    defer { still = nil }
    guard let still, still.count >= Self.framesMin, still.nanoseconds >= Self.nanosecondsMin else {
      return
    }
    stillCount += 1
    stills = Self.kept(stills + [still]) { $0.count }
  }

  private mutating func extendEcho(_ frame: Int, _ first: Int32) {
    let isNew = frame == 0 || firsts[frame - 1] != first
    if first >= 0, var echo, firsts[echo.earlier + echo.count] == first {
      echo.count += 1
      if isNew { echoImages += 1 }
      self.echo = echo
      return
    }
    endEcho()
    // A still run does not repeat itself.
    guard first >= 0, Int(first) < frame, isNew else { return }
    echo = Echo(first: frame, count: 1, earlier: Int(first))
    echoImages = 1
  }

  private mutating func endEcho() {
    defer { echo = nil }
    // Few different pictures are slides, which come again by themselves.
    guard let echo, echoImages >= Self.framesMin else { return }
    echoCount += 1
    echoes = Self.kept(echoes + [echo]) { $0.count }
  }

  /// Without the shortest one, if there are too many.
  private static func kept<Stretch>(
    _ stretches: [Stretch], _ count: (Stretch) -> Int
  ) -> [Stretch] {
    guard stretches.count > keptMax else { return stretches }
    var kept = stretches
    // The last of several: earlier places stay.
    let shortest = kept.indices.reversed().min { count(kept[$0]) < count(kept[$1]) }
    if let shortest { kept.remove(at: shortest) }
    return kept
  }
}
