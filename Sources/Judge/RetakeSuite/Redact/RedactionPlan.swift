import RetakeCompare
import RetakeCore
import RetakeRewrite

/// The areas that a redaction averages, for each frame of a track.
///
/// Boxes of one object are linked over the frames. Between two of them the box is interpolated; before
/// the first and after the last it is kept for some time, because detectors find an object late.
struct RedactionPlan: Hashable {
  /// A frame, with the boxes that the pipeline found, in pixels of the frame.
  struct Seen: Hashable {
    var nanoseconds: Int64
    var width: Int
    var height: Int
    /// False for a frame that cannot be replayed, and that no copy contains.
    var hasImage = true
    /// Whether the pipeline did not finish the frame.
    var isFailed = false
    var boxes: [Found] = []
  }

  struct Found: Hashable {
    var box: Box
    /// A tracker's number.
    var identity: Int?
  }

  /// By sequence.
  private(set) var areas: [[RedactedArea]]
  /// The frames in which an object may be visible: without an area, with an area that is only kept
  /// from other frames or interpolated over a long way, or on which the pipeline failed.
  private(set) var uncertain: [Int] = []
  private let seen: [Seen]
  /// By sequence: areas between detections that are far apart.
  private var stretched: [[RedactedArea]]

  /// - Parameters:
  ///   - margin: Added at each side of a box, as a share of the box.
  ///   - hold: How long an object is covered before it is found first, and after it is found last.
  init(_ seen: [Seen], margin: Double, hold: Duration) {
    self.seen = seen
    areas = seen.map { _ in [] }
    stretched = areas
    let nanoseconds = hold / .nanoseconds(1)
    for chain in Self.chains(seen, within: 2 * nanoseconds) {
      cover(chain, margin, nanoseconds)
    }
    uncertain = seen.indices.filter { seen[$0].hasImage && isUncertain($0) }
  }

  private func isUncertain(_ frame: Int) -> Bool {
    let found = areas[frame].filter { $0.reason != .dilated && !stretched[frame].contains($0) }
    let guessed = areas[frame].filter { $0.reason == .dilated } + stretched[frame]
    return seen[frame].isFailed || areas[frame].isEmpty
      // A guessed area may be the same object as an area around its center.
      || guessed.contains { guess in !found.contains { $0.containsCenter(of: guess) } }
  }

  // MARK: Linking

  /// The least overlap (IoU) of two boxes of one object.
  private static let overlapMin = 0.1

  /// One object: the frames in which it was found, in ascending order.
  private struct Chain {
    var steps: [(frame: Int, box: Box)]
    let identity: Int?

    /// 0 for another object. Boxes that touch little may be one fast object: an interpolated box
    /// between two objects hides too much, and a missing one too little.
    func likeness(_ found: Found) -> Double {
      if let identity, let other = found.identity { return identity == other ? 2 : 0 }
      let overlap = steps.last?.box.overlap(found.box) ?? 0
      return overlap >= RedactionPlan.overlapMin ? overlap : 0
    }
  }

  private static func chains(_ seen: [Seen], within nanoseconds: Double) -> [Chain] {
    var (open, closed): ([Chain], [Chain]) = ([], [])
    for (frame, image) in seen.enumerated() where !image.boxes.isEmpty {
      let isOver = { (chain: Chain) in
        chain.steps.last.map { distance(seen, $0.frame, frame) > nanoseconds } ?? true
      }
      closed += open.filter(isOver)
      open.removeAll(where: isOver)
      let pairs = pairs(open, image.boxes)
      for (number, found) in image.boxes.enumerated() {
        if let chain = pairs[number] {
          open[chain].steps.append((frame, found.box))
        } else {
          open.append(Chain(steps: [(frame, found.box)], identity: found.identity))
        }
      }
    }
    return closed + open
  }

  /// The chain of each box that continues one; the most similar pair first.
  private static func pairs(_ open: [Chain], _ boxes: [Found]) -> [Int: Int] {
    let likely = open.indices.flatMap { chain in
      boxes.indices.compactMap { box -> (likeness: Double, chain: Int, box: Int)? in
        let likeness = open[chain].likeness(boxes[box])
        return likeness > 0 ? (likeness, chain, box) : nil
      }
    }.sorted { ($1.likeness, $0.chain, $0.box) < ($0.likeness, $1.chain, $1.box) }
    var (result, continued): ([Int: Int], Set<Int>) = ([:], [])
    for pair in likely where result[pair.box] == nil && !continued.contains(pair.chain) {
      result[pair.box] = pair.chain
      continued.insert(pair.chain)
    }
    return result
  }

  /// Nanoseconds from one frame to another. Not in integers, which stored times could exceed.
  private static func distance(_ seen: [Seen], _ from: Int, _ to: Int) -> Double {
    Double(seen[to].nanoseconds) - Double(seen[from].nanoseconds)
  }

  // MARK: Covering

  private mutating func cover(_ chain: Chain, _ margin: Double, _ hold: Double) {
    guard let first = chain.steps.first, let last = chain.steps.last else { return }
    for step in chain.steps { add(step.box, step.frame, margin, .detected) }
    for (from, to) in zip(chain.steps, chain.steps.dropFirst()) {
      // The way between them is known only for a short time, or for an object that moves little.
      let isFar =
        Self.distance(seen, from.frame, to.frame) > hold
        || from.box.overlap(to.box) < Self.overlapMin
      for frame in from.frame + 1..<to.frame {
        let box = between(from, to, at: frame)
        if let area = add(box, frame, margin, .interpolated), isFar {
          stretched[frame].append(area)
        }
      }
    }
    var frame = first.frame - 1
    while frame >= 0, abs(Self.distance(seen, frame, first.frame)) <= hold {
      add(first.box, frame, margin, .dilated)
      frame -= 1
    }
    frame = last.frame + 1
    while frame < seen.count, abs(Self.distance(seen, last.frame, frame)) <= hold {
      add(last.box, frame, margin, .dilated)
      frame += 1
    }
  }

  private func between(
    _ from: (frame: Int, box: Box), _ to: (frame: Int, box: Box), at frame: Int
  ) -> Box {
    let length = Self.distance(seen, from.frame, to.frame)
    // Times may be equal.
    let part = length > 0 ? Self.distance(seen, from.frame, frame) / length : 0.5
    let share = min(max(part, 0), 1)
    func mix(_ one: Double, _ other: Double) -> Double { one + (other - one) * share }
    return Box(
      x: mix(from.box.x, to.box.x), y: mix(from.box.y, to.box.y),
      width: mix(from.box.width, to.box.width), height: mix(from.box.height, to.box.height))
  }

  /// Returns the area, if the box is in a frame with pixels.
  @discardableResult
  private mutating func add(
    _ box: Box, _ frame: Int, _ margin: Double, _ reason: RedactedArea.Reason
  ) -> RedactedArea? {
    let area = RedactedArea(
      box, margin: margin, frameWidth: seen[frame].width, frameHeight: seen[frame].height,
      reason: reason)
    guard let area, seen[frame].hasImage else { return nil }
    areas[frame].append(area)
    return area
  }

  // MARK: Text

  /// `redaction.jsonl`: a line for each frame with pixels.
  func list(track: Int) -> String {
    let doubtful = Set(uncertain)
    return seen.indices.filter { seen[$0].hasImage }.map { frame in
      JSONValue.object([
        "track": .integer(Int64(track)), "sequence": .integer(Int64(frame)),
        "areas": .array(areas[frame].map(\.json)), "uncertain": .bool(doubtful.contains(frame)),
      ]).canonicalText + "\n"
    }.joined()
  }

  /// The uncertain frames as ranges of consecutive frames.
  var uncertainSpans: [ClosedRange<Int>] {
    uncertain.reduce(into: []) { spans, frame in
      if let last = spans.last, last.upperBound + 1 == frame {
        spans[spans.count - 1] = last.lowerBound...frame
      } else {
        spans.append(frame...frame)
      }
    }
  }
}
