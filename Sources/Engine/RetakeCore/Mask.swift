/// A binary image: the pixels of an object.
///
/// It is stored in COCO's form: the lengths of runs down the columns, from the left column on.
public struct Mask: Hashable, Sendable {
  /// The most columns and the most rows.
  public static let sideMax = 65_536

  /// Columns.
  public let width: Int
  /// Rows.
  public let height: Int
  /// Lengths of runs outside and inside the object in turns, column by column. The first run is
  /// outside and may be 0; the others are at least 1. Their sum is `width × height`.
  public let runs: [Int]

  /// A mask of the pixels for which `contains(x, y)` is `true`. The process ends unless both sides
  /// are 1 to `sideMax`.
  public init(width: Int, height: Int, contains: (_ x: Int, _ y: Int) -> Bool) {
    requirement(Self.isSize(width, height), "the sides of a mask are 1 to \(Self.sideMax)")
    var runs = [0]
    for x in 0..<width {
      for y in 0..<height {
        if contains(x, y) != (runs.count % 2 == 0) { runs.append(0) }
        runs[runs.count - 1] += 1
      }
    }
    (self.width, self.height, self.runs) = (width, height, runs)
  }

  /// A mask from runs in the order of `runs`; empty runs are joined to their neighbors. `nil` unless
  /// the runs cover the mask exactly, and both sides are 1 to `sideMax`.
  public init?(width: Int, height: Int, runs: [Int]) {
    guard Self.isSize(width, height) else { return nil }
    var (joined, left) = ([0], width * height)
    for (index, run) in runs.enumerated() {
      guard (0...left).contains(run) else { return nil }
      left -= run
      guard run > 0 else { continue }
      // An empty run leaves two runs of one kind, which are one.
      if index % 2 == joined.count % 2 { joined.append(0) }
      joined[joined.count - 1] += run
    }
    guard left == 0 else { return nil }
    (self.width, self.height, self.runs) = (width, height, joined)
  }

  private static func isSize(_ width: Int, _ height: Int) -> Bool {
    (1...sideMax).contains(width) && (1...sideMax).contains(height)
  }

  /// The number of pixels inside.
  public var area: Int {
    stride(from: 1, to: runs.count, by: 2).reduce(0) { $0 + runs[$1] }
  }

  /// Intersection over union, 0 to 1: 1 for two masks without pixels, 0 for masks of different
  /// sizes.
  public func overlap(with other: Mask) -> Double {
    guard width == other.width, height == other.height else { return 0 }
    var (mine, theirs, inner) = (0, 0, 0)
    var (left, right) = (runs[0], other.runs[0])
    while true {
      let step = min(left, right)
      if mine % 2 == 1, theirs % 2 == 1 { inner += step }
      left -= step
      right -= step
      if left == 0 {
        mine += 1
        // Both cover the same number of pixels, so they end together.
        guard mine < runs.count else { break }
        left = runs[mine]
      }
      if right == 0 {
        theirs += 1
        guard theirs < other.runs.count else { break }
        right = other.runs[theirs]
      }
    }
    let union = area + other.area - inner
    return union == 0 ? 1 : Double(inner) / Double(union)
  }
}

// MARK: COCO's string

extension Mask {
  /// The runs in COCO's compressed form (`rleToString` of its mask API): 1 or 2 characters for a
  /// usual run. The characters are printable ASCII, without space, comma and percent sign.
  public var counts: String {
    var bytes: [UInt8] = []
    for (index, run) in runs.enumerated() {
      // From the fourth run on, the difference to the run before the last: neighboring columns are
      // alike.
      var rest = index > 2 ? run - runs[index - 2] : run
      var isLast = false
      while !isLast {
        let bits = rest & 0x1f
        rest >>= 5
        isLast = bits & 0x10 == 0 ? rest == 0 : rest == -1
        bytes.append(UInt8(bits | (isLast ? 0 : 0x20)) + 48)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The inverse of `counts`. `nil` for any other text, and unless the runs cover the mask exactly.
  public init?(width: Int, height: Int, counts: some StringProtocol) {
    var runs: [Int] = []
    var (value, shift) = (0, 0)
    for byte in counts.utf8 {
      // Longer runs than 2^35 do not fit a mask.
      guard (48..<112).contains(byte), shift < 40 else { return nil }
      let bits = Int(byte) - 48
      value |= (bits & 0x1f) << shift
      shift += 5
      guard bits & 0x20 == 0 else { continue }
      if bits & 0x10 != 0 { value |= -1 << shift }
      runs.append(runs.count > 2 ? value + runs[runs.count - 2] : value)
      (value, shift) = (0, 0)
    }
    guard shift == 0 else { return nil }
    self.init(width: width, height: height, runs: runs)
  }
}
