/// The tracking of one class: CLEAR MOT, identities and HOTA, as TrackEval computes them at IoU 0.5
/// and, for HOTA, at IoU 0.05, 0.1 … 0.95.
///
/// Luiten and others, "HOTA: A Higher Order Metric for Evaluating Multi-Object Tracking", 2021;
/// Bernardin and Stiefelhagen, "Evaluating Multiple Object Tracking Performance", 2008.
struct TrackingMeter {
  /// Counts that are added over classes.
  struct Sums {
    var objects = 0
    var detections = 0
    /// Pairs at IoU 0.5, and the pairs with another identity than the object's last pair.
    var matches = 0
    var switches = 0
    /// Detections that have their object's identity, in the best pairing of all identities.
    var identified = 0
    /// By IoU: pairs, and their association scores.
    var hotaMatches = [Int](repeating: 0, count: TrackingMeter.alphas.count)
    var hotaAssociation = [Double](repeating: 0, count: TrackingMeter.alphas.count)

    static func + (left: Sums, right: Sums) -> Sums {
      var sum = left
      sum.objects += right.objects
      sum.detections += right.detections
      sum.matches += right.matches
      sum.switches += right.switches
      sum.identified += right.identified
      for index in TrackingMeter.alphas.indices {
        sum.hotaMatches[index] += right.hotaMatches[index]
        sum.hotaAssociation[index] += right.hotaAssociation[index]
      }
      return sum
    }

    /// `nil` without objects.
    var accuracy: Double? {
      objects > 0 ? Double(matches - (detections - matches) - switches) / Double(objects) : nil
    }

    /// `nil` without objects.
    var identityF1: Double? {
      objects > 0 ? Double(2 * identified) / Double(objects + detections) : nil
    }

    /// `nil` without objects.
    var hota: Double? {
      guard objects > 0 else { return nil }
      var sum = 0.0
      for (matches, association) in zip(hotaMatches, hotaAssociation) where matches > 0 {
        let detection = Double(matches) / Double(objects + detections - matches)
        sum += (detection * association / Double(matches)).squareRoot()
      }
      return sum / Double(hotaMatches.count)
    }
  }

  static let alphas = (0..<19).map { 0.05 + Double($0) * 0.05 }

  /// Numbers for the identities of one side. A box without an identity, or with an identity that
  /// its frame has already, is a separate track.
  private struct Tracks {
    private struct Key: Hashable {
      var track: Int
      var identity: Int
    }

    private var numbers: [Key: Int] = [:]
    /// The boxes of each.
    private(set) var counts: [Int] = []

    mutating func numbers(of identities: [Int?], track: Int) -> [Int] {
      var found: [Int] = []
      for identity in identities {
        let key = identity.map { Key(track: track, identity: $0) }
        if let known = key.flatMap({ numbers[$0] }), !found.contains(known) {
          counts[known] += 1
          found.append(known)
        } else {
          if let key, numbers[key] == nil { numbers[key] = counts.count }
          found.append(counts.count)
          counts.append(1)
        }
      }
      return found
    }
  }

  /// A track of the labels and one of the run that overlap in a frame.
  private struct TrackPair: Hashable {
    var object: Int
    var detection: Int
  }

  /// A pair of boxes: the number of the pair of tracks, and the overlap.
  private struct Cell {
    var object: Int
    var detection: Int
    var pair: Int
    var overlap: Double
  }

  private struct Row {
    var objects: Int
    var detections: Int
    var cells: [Cell]
  }

  private var objects = Tracks()
  private var found = Tracks()
  private var pairNumbers: [TrackPair: Int] = [:]
  private var pairs: [TrackPair] = []
  /// By pair of tracks: the sum of their normalized overlaps, and the frames with an IoU of 0.5.
  private var alignment: [Double] = []
  private var closeFrames: [Int] = []
  private var rows: [Row] = []
  private var sums = Sums()
  /// By track of the labels: the track of the run in the frame before, and when it was last found.
  private var previous: [Int: Int] = [:]
  private var last: [Int: Int] = [:]

  /// Adds a frame; the frames of a track in their order.
  ///
  /// - Parameter track: The frame's track: other tracks have other objects.
  /// - Returns: The pairs at IoU 0.5, and how often an object changed its identity.
  mutating func add(_ frame: ClassFrame, track: Int) -> (matches: [ClassFrame.Pair], switches: Int)
  {
    let mine = objects.numbers(of: frame.objects.map(\.identity), track: track)
    let theirs = found.numbers(of: frame.detections.map(\.identity), track: track)
    sums.objects += mine.count
    sums.detections += theirs.count
    // As in TrackEval, a frame without boxes on one side is not "the frame before".
    guard !mine.isEmpty, !theirs.isEmpty else { return ([], 0) }
    align(frame, mine, theirs)
    let before = previous
    let matches = frame.matches { before[mine[$0.object]] == theirs[$0.detection] }
    previous = [:]
    var switches = 0
    for match in matches {
      let (object, detection) = (mine[match.object], theirs[match.detection])
      if let old = last.updateValue(detection, forKey: object), old != detection { switches += 1 }
      previous[object] = detection
    }
    sums.matches += matches.count
    sums.switches += switches
    return (matches, switches)
  }

  private mutating func align(_ frame: ClassFrame, _ mine: [Int], _ theirs: [Int]) {
    guard !frame.pairs.isEmpty else { return }
    var rowSums = [Double](repeating: 0, count: mine.count)
    var columnSums = [Double](repeating: 0, count: theirs.count)
    for pair in frame.pairs {
      rowSums[pair.object] += pair.overlap
      columnSums[pair.detection] += pair.overlap
    }
    var row = Row(objects: mine.count, detections: theirs.count, cells: [])
    for pair in frame.pairs {
      let number = self.number(
        of: TrackPair(object: mine[pair.object], detection: theirs[pair.detection]))
      alignment[number] +=
        pair.overlap / (rowSums[pair.object] + columnSums[pair.detection] - pair.overlap)
      if pair.overlap >= 0.5 { closeFrames[number] += 1 }
      row.cells.append(
        Cell(
          object: pair.object, detection: pair.detection, pair: number, overlap: pair.overlap))
    }
    rows.append(row)
  }

  private mutating func number(of pair: TrackPair) -> Int {
    if let number = pairNumbers[pair] { return number }
    pairNumbers[pair] = pairs.count
    pairs.append(pair)
    alignment.append(0)
    closeFrames.append(0)
    return pairs.count - 1
  }

  func finish() -> Sums {
    var sums = sums
    sums.identified = identified()
    addHOTA(to: &sums)
    return sums
  }

  /// The largest number of detections that have their object's identity.
  private func identified() -> Int {
    let numbers = pairs.indices.filter { closeFrames[$0] > 0 }
    let edges = numbers.map {
      Assignment.Edge(
        row: pairs[$0].object, column: pairs[$0].detection, weight: closeFrames[$0])
    }
    return Assignment.best(edges, rows: objects.counts.count, columns: found.counts.count)
      .reduce(0) { $0 + edges[$1].weight }
  }

  private func addHOTA(to sums: inout Sums) {
    let jaccard = pairs.indices.map { index -> Double in
      let all = objects.counts[pairs[index].object] + found.counts[pairs[index].detection]
      return alignment[index] / (Double(all) - alignment[index])
    }
    var counts = [[Int]](
      repeating: [Int](repeating: 0, count: pairs.count), count: Self.alphas.count)
    for row in rows {
      let edges = row.cells.map {
        Assignment.Edge(
          row: $0.object, column: $0.detection,
          weight: Int((jaccard[$0.pair] * $0.overlap * 0x1p50).rounded()))
      }
      for index in Assignment.best(edges, rows: row.objects, columns: row.detections) {
        let cell = row.cells[index]
        for (alpha, threshold) in Self.alphas.enumerated() {
          guard cell.overlap >= threshold - 0x1p-52 else { break }
          counts[alpha][cell.pair] += 1
        }
      }
    }
    for (alpha, counts) in counts.enumerated() {
      for (index, count) in counts.enumerated() where count > 0 {
        let pair = pairs[index]
        let all = objects.counts[pair.object] + found.counts[pair.detection] - count
        sums.hotaMatches[alpha] += count
        sums.hotaAssociation[alpha] += Double(count) * Double(count) / Double(all)
      }
    }
  }
}
