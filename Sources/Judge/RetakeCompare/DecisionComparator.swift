package import RetakeCore

/// Compares two lists of decisions: which were added, removed, or moved in time or to another
/// frame.
package struct DecisionComparator {
  /// The most frames by which a decision may move and still be the same decision.
  static let reach = 16
  /// The most lines per side that wait for a partner, and the most differences between paired
  /// lines. When that many wait, lines are paired by their order alone from then on; lines without
  /// a partner beyond this number are only counted.
  static let windowSize = 65_536

  private struct Key: Hashable {
    var node: String
    var frame: FrameID?
    var item: Int?
    var kind: DecisionKind

    init(_ line: DecisionLine) {
      (node, frame, item, kind) = (line.node, line.frame, line.item, line.kind)
    }
  }

  /// A line, and the number of lines before it at the same instant. Decisions are logged in the
  /// order in which they follow from each other.
  private struct Placed {
    var line: DecisionLine
    var index: Int

    /// Whether this line is earlier than another. At the same position in both logs, the line of
    /// the earlier frame is first.
    func precedes(_ other: Placed) -> Bool {
      if line.time != other.line.time { return line.time < other.line.time }
      if index != other.index { return index < other.index }
      guard let mine = line.frame, let theirs = other.line.frame else { return false }
      return mine < theirs
    }
  }

  /// A difference, and the line at which it begins.
  private struct Difference {
    var finding: Finding
    var first: Placed?
  }

  /// Lines that have no partner yet.
  private struct Side {
    /// Lines in the order in which they were added, taken from the front in constant time.
    private struct Queue {
      private var lines: [(order: Int, line: Placed)] = []
      private var head = 0

      var rest: ArraySlice<(order: Int, line: Placed)> { lines[head...] }

      mutating func append(_ order: Int, _ line: Placed) { lines.append((order, line)) }

      mutating func takeFirst() -> Placed? {
        guard head < lines.count else { return nil }
        defer { head += 1 }
        return lines[head].line
      }
    }

    /// Lines that wait for an equal one.
    private var equals: [DecisionLine: [(order: Int, line: Placed)]] = [:]
    /// Lines that wait for a line of the same key, once equal lines are no longer searched.
    private var queues: [Key: Queue] = [:]
    private var order = 0
    private var count = 0
    private var lastTime: Int64?
    /// The index of the next line, if it belongs to the same instant as the previous one.
    var nextIndex = 0
    /// The number of lines beyond `windowSize`; each of them is a difference.
    private(set) var overflow = 0

    var hasRoom: Bool { count < DecisionComparator.windowSize }

    mutating func place(_ line: DecisionLine) -> Placed {
      if let lastTime, lastTime != line.time { nextIndex = 0 }
      lastTime = line.time
      defer { nextIndex += 1 }
      return Placed(line: line, index: nextIndex)
    }

    /// Removes a line that is equal in everything, and returns whether there was one.
    mutating func takeEqual(_ line: DecisionLine) -> Bool {
      guard var lines = equals[line] else { return false }
      lines.removeLast()
      // An empty list is removed, so that memory is bounded by the lines that wait.
      equals[line] = lines.isEmpty ? nil : lines
      count -= 1
      return true
    }

    mutating func waitForEqual(_ line: Placed) {
      equals[line.line, default: []].append((order, line))
      order += 1
      count += 1
    }

    /// Removes the first line of a key: lines of one key pair in the order in which they were made.
    mutating func takeFirst(_ key: Key) -> Placed? {
      guard let line = queues[key]?.takeFirst() else { return nil }
      if queues[key]?.rest.isEmpty == true { queues[key] = nil }
      count -= 1
      return line
    }

    mutating func wait(_ key: Key, _ line: Placed) {
      guard hasRoom else {
        overflow += 1
        return
      }
      queues[key, default: Queue()].append(order, line)
      order += 1
      count += 1
    }

    /// From now on, the lines wait for one of the same key.
    mutating func queueByKey() {
      let waiting = lines
      (equals, count) = ([:], 0)
      for line in waiting { wait(Key(line.line), line) }
    }

    /// In the order in which they were added.
    var lines: [Placed] {
      // A Dictionary has another order in each process, and findings must not.
      (equals.values.flatMap { $0[...] } + queues.values.flatMap(\.rest))
        .sorted { $0.order < $1.order }.map(\.line)
    }

    /// Removes the lines that wait, and returns them in the order in which they were added.
    mutating func removeAll() -> [Placed] {
      defer { (equals, queues, count) = ([:], [:], 0) }
      return lines
    }
  }

  private var golden = Side()
  private var actual = Side()
  private var differences: [Difference] = []
  private var folds: [[DecisionFold]] = [[], []]
  /// Whether lines are paired by their order alone, because too many wait for an equal one.
  private var pairsByOrder = false
  package private(set) var compared = 0

  package init() {}

  /// Adds the next line of each side, if there is one. Equal lines need not be parsed; they may be
  /// counted with `noteEqual`.
  package mutating func add(golden: DecisionLine?, actual: DecisionLine?) {
    if let golden { add(golden, isGolden: true) }
    if let actual { add(actual, isGolden: false) }
  }

  package mutating func add(goldenFold: DecisionFold) { folds[0].append(goldenFold) }
  package mutating func add(actualFold: DecisionFold) { folds[1].append(actualFold) }

  package mutating func noteEqual() {
    compared += 1
    // Both logs are at the same position within an instant, whatever came before.
    let next = max(golden.nextIndex, actual.nextIndex) + 1
    (golden.nextIndex, actual.nextIndex) = (next, next)
  }

  private mutating func add(_ line: DecisionLine, isGolden: Bool) {
    let placed = isGolden ? golden.place(line) : actual.place(line)
    if !pairsByOrder {
      // Equal lines first: without that, one decision that is no longer made would shift every
      // later one of its key, and each would be a difference.
      if isGolden ? actual.takeEqual(line) : golden.takeEqual(line) {
        compared += 1
        return
      }
      if isGolden, golden.hasRoom { return golden.waitForEqual(placed) }
      if !isGolden, actual.hasRoom { return actual.waitForEqual(placed) }
      pairByOrder()
    }
    let key = Key(line)
    if let partner = isGolden ? actual.takeFirst(key) : golden.takeFirst(key) {
      compared += 1
      compare(isGolden ? placed : partner, isGolden ? partner : placed)
    } else if isGolden {
      golden.wait(key, placed)
    } else {
      actual.wait(key, placed)
    }
  }

  /// Pairs the lines that have no equal partner: the lines of each key in their order.
  private mutating func pairByOrder() {
    guard !pairsByOrder else { return }
    pairsByOrder = true
    actual.queueByKey()
    for line in golden.removeAll() {
      let key = Key(line.line)
      if let partner = actual.takeFirst(key) {
        compared += 1
        compare(line, partner)
      } else {
        golden.wait(key, line)
      }
    }
  }

  private mutating func compare(_ golden: Placed, _ actual: Placed) {
    guard golden.line != actual.line, differences.count < Self.windowSize else { return }
    let subject = Self.subject(golden.line)
    if golden.line.details != actual.line.details {
      let details = [actual, golden].map { Self.details($0.line) }
      differences.append(
        difference(
          .decisionChanged, golden, actual,
          "\(subject) has other details: \(details[0]), golden: \(details[1])"))
    } else {
      // The keys and the details are equal, so only the time differs.
      let change = actual.line.time - golden.line.time
      let words = "\(Self.milliseconds(change)) \(change < 0 ? "earlier" : "later")"
      differences.append(
        difference(
          .decisionMoved, golden, actual, "\(subject) comes \(words)",
          magnitude: Double(change.magnitude)))
    }
  }

  /// All differences in the order of virtual time; within one instant, in the order in which they
  /// follow from each other.
  package mutating func finish() -> [Finding] {
    pairByOrder()
    var removed = golden.lines.map { Optional($0) }
    var added = actual.lines.map { Optional($0) }
    pairMoved(&removed, &added)
    for line in removed.compactMap(\.self) {
      differences.append(
        difference(
          .decisionRemoved, line, nil,
          "\(Self.subject(line.line)) is no longer made\(Self.content(line.line))"))
    }
    for line in added.compactMap(\.self) {
      differences.append(
        difference(.decisionAdded, nil, line, "\(Self.subject(line.line)) is new"))
    }
    // The position decides between equals, because `sorted` does not promise to keep their order.
    var sorted = differences.enumerated().sorted { left, right in
      guard let mine = left.element.first, let theirs = right.element.first else {
        return left.offset < right.offset
      }
      if mine.precedes(theirs) { return true }
      return theirs.precedes(mine) ? false : left.offset < right.offset
    }.map(\.element.finding)
    for (side, kind) in [(golden, Finding.Kind.decisionRemoved), (actual, .decisionAdded)]
    where side.overflow > 0 {
      sorted.append(Finding(kind, message: "\(side.overflow) more decisions have no partner"))
    }
    sorted += foldDifferences(explainedBy: sorted)
    var chain = DecisionChain()
    chain.link(&sorted)
    return sorted
  }

  /// Pairs decisions that moved to a nearby frame, with the same node, kind and details.
  private mutating func pairMoved(
    _ removed: inout [Placed?], _ added: inout [Placed?]
  ) {
    var candidates: [DecisionForm: [Int]] = [:]
    for (index, line) in added.enumerated() {
      if let form = line.flatMap({ DecisionForm($0.line) }) {
        candidates[form, default: []].append(index)
      }
    }
    var next: [DecisionForm: Int] = [:]
    for (index, line) in removed.enumerated() {
      guard let line, let form = DecisionForm(line.line), let indices = candidates[form] else {
        continue
      }
      // Lines of one form come in the order of their frames: a candidate that is too far back for
      // this line is also too far back for all later lines. This keeps the search linear.
      var place = next[form] ?? 0
      while place < indices.count, let other = added[indices[place]],
        form.distance(line.line, other.line) < -Self.reach
      {
        place += 1
      }
      next[form] = place
      guard place < indices.count, let other = added[indices[place]],
        form.distance(line.line, other.line) <= Self.reach
      else { continue }
      next[form] = place + 1
      removed[index] = nil
      added[indices[place]] = nil
      differences.append(moved(line, other, by: form.distance(line.line, other.line)))
    }
  }

  private func moved(_ golden: Placed, _ actual: Placed, by frames: Int) -> Difference {
    let change = Self.milliseconds(actual.line.time - golden.line.time)
    let words =
      "\(frames.magnitude) \(frames.magnitude == 1 ? "frame" : "frames") "
      + "\(frames < 0 ? "earlier" : "later") (\(change))"
    return difference(
      .decisionMoved, golden, actual, "\(Self.subject(golden.line)) comes \(words)",
      magnitude: Double(frames.magnitude))
  }

  private mutating func foldDifferences(explainedBy findings: [Finding]) -> [Finding] {
    struct Place: Hashable {
      var track: Int
      var first: Int
    }
    var others = Dictionary(
      folds[1].map { (Place(track: $0.track, first: $0.first), $0) },
      uniquingKeysWith: { first, _ in first })
    var result: [Finding] = []
    var explained: Set<Place> = []
    for finding in findings {
      guard let frame = finding.frame else { continue }
      // A fold's digest covers all decisions about its frames, so a line that differs explains it.
      let first = frame.sequence / DecisionFold.size * DecisionFold.size
      explained.insert(Place(track: frame.track, first: first))
    }
    for fold in folds[0] {
      let place = Place(track: fold.track, first: fold.first)
      let other = others.removeValue(forKey: place)
      compared += 1
      if other != fold && !explained.contains(place) { result.append(differ(fold, other)) }
    }
    for fold in folds[1] {
      let place = Place(track: fold.track, first: fold.first)
      if others[place] != nil && !explained.contains(place) { result.append(differ(nil, fold)) }
    }
    return result
  }

  private func differ(_ golden: DecisionFold?, _ actual: DecisionFold?) -> Finding {
    let fold = golden ?? actual
    let track = fold?.track ?? 0
    let counts = [golden, actual].map { $0.map { String($0.count) } ?? "no" }
    let range = fold.map { "\(track):\($0.first) to \(track):\($0.last)" } ?? ""
    return Finding(
      .decisionsDiffer, frame: fold.map { FrameID(track: track, sequence: $0.first) },
      golden: golden.map { "n=\($0.count) \($0.digest)" },
      actual: actual.map { "n=\($0.count) \($0.digest)" },
      message:
        "\(counts[1]) decisions instead of \(counts[0]) for the frames \(range), or different: "
        + "only start, done, deliver, block or unblock differ")
  }

  private func difference(
    _ kind: Finding.Kind, _ golden: Placed?, _ actual: Placed?, _ message: String,
    magnitude: Double? = nil
  ) -> Difference {
    // A moved decision differs from the earlier of its two positions on.
    let first = [golden, actual].compactMap(\.self).min { $0.precedes($1) }
    let line = first?.line
    let finding = Finding(
      kind, frame: line?.frame, time: line?.time, node: line?.node,
      golden: golden?.line.description, actual: actual?.line.description, magnitude: magnitude,
      message: message)
    return Difference(finding: finding, first: first)
  }

  /// `drop of frame 0:12 at motion`. A decision about no frame has its time instead.
  private static func subject(_ line: DecisionLine) -> String {
    let frame = line.frame.map { " of frame \($0)" } ?? ""
    let item = line.item.map { ", item \($0)" } ?? ""
    let seconds = FixedDecimal(Double(line.time) / 1e9, decimals: 3).text
    let time = line.frame == nil ? " (t = \(seconds) s)" : ""
    return "\(line.kind)\(frame)\(item) at \(line.node)\(time)"
  }

  private static func details(_ line: DecisionLine) -> String {
    guard !line.details.isEmpty else { return "none" }
    return line.details.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
  }

  /// The details of a decision about no frame, to add to its subject: only they identify the
  /// decision.
  private static func content(_ line: DecisionLine) -> String {
    line.frame == nil && !line.details.isEmpty ? ": \(details(line))" : ""
  }

  /// `33.367 ms`, without a sign.
  private static func milliseconds(_ nanoseconds: Int64) -> String {
    FixedDecimal(Double(nanoseconds.magnitude) / 1e6, decimals: 3).text + " ms"
  }
}
