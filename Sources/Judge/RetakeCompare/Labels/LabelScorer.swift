package import RetakeCore

/// Scores the results of a run against the labels of its session.
///
/// A metric of several classes adds the counts of the classes; average precision is the mean of the
/// classes that have objects, as in COCO's evaluation. A class of the run that the labels do not
/// list is not scored, and `LabelScore.unknownClasses` names it.
package struct LabelScorer {
  private struct Seen {
    var detections: [Detection]
    var scalars: [String: Double]
  }

  private let labels: Labels
  /// The classes that are scored.
  private let classes: [String]
  private let isUnwanted: (String) -> Bool
  /// The run's names by the index of a class; they may be set later, before `finish()`. Without
  /// names, a class of the run is the label's class of the same index.
  package var classNames: [String]
  private var seen: [FrameID: Seen] = [:]

  /// - Parameters:
  ///   - classNames: The run's names by the index of a class.
  ///   - classes: The names of the classes that are scored; `nil` for all.
  package init(_ labels: Labels, classNames: [String], classes: Set<String>? = nil) {
    (self.labels, self.classNames) = (labels, classNames)
    self.classes = labels.classes.filter { classes?.contains($0) ?? true }
    isUnwanted = { name in classes.map { !$0.contains(name) } ?? false }
  }

  /// Adds the results of a frame, once. Frames without labels are ignored.
  ///
  /// - Parameters:
  ///   - detections: In pixels of the stored frame. The text of a detection is its first label.
  ///   - scalars: Numbers of the complete frame by their name.
  ///   - wasDelivered: Whether the results came to the sink; if not, they count as missing.
  package mutating func add(
    frame: FrameID, detections: [Detection], scalars: [String: Double] = [:],
    wasDelivered: Bool = true
  ) {
    guard wasDelivered, labels.frames[frame] != nil else { return }
    seen[frame] = Seen(detections: detections, scalars: scalars)
  }

  package func finish() -> LabelScore {
    let names = self.names()
    var allowed = labels.metrics(of: classes)
    if !isFollowed(names) { allowed.subtract([.mota, .idf1, .hota, .idSwitches]) }
    var run = Run(classes: classes, isFollowed: allowed.contains(.mota))
    for (id, truth) in labels.frames.sorted(by: { $0.key < $1.key }) {
      let seen = seen[id]
      var detections = [[Detection]](repeating: [], count: classes.count)
      for detection in seen?.detections ?? [] {
        if case .scored(let index)? = names[detection.classIndex] {
          detections[index].append(detection)
        }
      }
      run.add(id, truth, detections, scalars: seen?.scalars ?? [:])
      if seen == nil { run.missingFrames += 1 }
    }
    var score = run.finish(allowed)
    score.unknownClasses = names.values.compactMap {
      if case .unknown(let name) = $0 { name } else { nil }
    }.sorted()
    return score
  }

  private enum Name: Hashable {
    case scored(Int)
    case unwanted
    case unknown(String)
  }

  /// By the index of a class that the run returned in a labelled frame.
  private func names() -> [Int: Name] {
    var names: [Int: Name] = [:]
    for frame in seen.values {
      for detection in frame.detections where names[detection.classIndex] == nil {
        names[detection.classIndex] = name(of: detection.classIndex)
      }
    }
    return names
  }

  private func name(of index: Int) -> Name {
    let known = classNames.isEmpty ? labels.classes : classNames
    guard known.indices.contains(index) else { return .unknown("\(index)") }
    if let index = classes.firstIndex(of: known[index]) { return .scored(index) }
    return isUnwanted(known[index]) ? .unwanted : .unknown(known[index])
  }

  /// Whether the run follows objects; also if it has no detections.
  private func isFollowed(_ names: [Int: Name]) -> Bool {
    var isEmpty = true
    for frame in seen.values {
      for detection in frame.detections {
        guard case .scored? = names[detection.classIndex] else { continue }
        if detection.identity != nil { return true }
        isEmpty = false
      }
    }
    return isEmpty
  }
}

extension LabelScorer {
  /// The sums over the frames.
  private struct Run {
    let classes: [String]
    /// The index of each class.
    private let numbers: [String: Int]
    /// Whether labels and results have identities.
    let isFollowed: Bool
    var precisions: [AveragePrecision]
    var trackings: [TrackingMeter]
    var frames: [FrameLoss] = []
    var missingFrames = 0
    var countErrors = 0
    /// Frames whose boxes are labelled.
    var boxFrames = 0
    var scalarError = (sum: 0.0, count: 0)
    var texts = (wrong: 0, characters: 0)

    init(classes: [String], isFollowed: Bool) {
      (self.classes, self.isFollowed) = (classes, isFollowed)
      numbers = Dictionary(
        classes.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
      precisions = Array(repeating: AveragePrecision(), count: classes.count)
      trackings = Array(repeating: TrackingMeter(), count: classes.count)
    }

    mutating func add(
      _ id: FrameID, _ truth: FrameLabels, _ detections: [[Detection]], scalars: [String: Double]
    ) {
      var loss = FrameLoss(frame: id)
      if truth.hasBoxes { add(truth.boxes, detections, track: id.track, &loss) }
      note(truth.scalars, scalars, &loss)
      frames.append(loss)
    }

    private mutating func add(
      _ boxes: [LabelBox], _ detections: [[Detection]], track: Int, _ loss: inout FrameLoss
    ) {
      var missed: [(index: Int, box: Box)] = []
      var extra: [(index: Int, box: Box)] = []
      var count = 0
      var objects = [[LabelBox]](repeating: [], count: classes.count)
      for box in boxes where !box.isIgnored {
        if let index = numbers[box.label] { objects[index].append(box) }
      }
      let regions = boxes.filter(\.isIgnored)
      for (index, name) in classes.enumerated()
      where !objects[index].isEmpty || !detections[index].isEmpty {
        let frame = ClassFrame(
          objects: objects[index],
          regions: regions.filter { $0.label == name || $0.label == LabelBox.ignoreLabel }
            .map(\.box), detections: detections[index])
        precisions[index].add(frame)
        let kept = frame.withoutRegions()
        count += kept.detections.count - kept.objects.count
        let (matches, switches) = trackings[index].add(kept, track: track)
        if isFollowed { loss.switched += switches }
        note(matches, of: kept, &loss)
        let (paired, found) = (Set(matches.map(\.object)), Set(matches.map(\.detection)))
        for (place, object) in kept.objects.enumerated() where !paired.contains(place) {
          missed.append((index, object.box))
          texts.wrong += object.characters
        }
        for (place, detection) in kept.detections.enumerated() where !found.contains(place) {
          extra.append((index, detection.box))
        }
      }
      loss.wrongClass = Self.wrongClasses(missed, extra)
      loss.missed = missed.count - loss.wrongClass
      loss.extra = extra.count - loss.wrongClass
      countErrors += abs(count)
      boxFrames += 1
    }

    /// Boxes that are at the place of an object of another class.
    private static func wrongClasses(
      _ missed: [(index: Int, box: Box)], _ extra: [(index: Int, box: Box)]
    ) -> Int {
      var edges: [Assignment.Edge] = []
      for (row, object) in missed.enumerated() {
        for (column, detection) in extra.enumerated() where object.index != detection.index {
          let overlap = detection.box.overlap(object.box)
          guard overlap >= 0.5 - 0x1p-52 else { continue }
          edges.append(
            Assignment.Edge(row: row, column: column, weight: Int((overlap * 0x1p40).rounded())))
        }
      }
      return Assignment.best(edges, rows: missed.count, columns: extra.count).count
    }

    private mutating func note(
      _ matches: [ClassFrame.Pair], of frame: ClassFrame, _ loss: inout FrameLoss
    ) {
      for match in matches {
        loss.misplaced += 1 - match.overlap
        let object = frame.objects[match.object]
        guard let text = object.text, object.characters > 0 else { continue }
        let wrong = text.editDistance(
          to: frame.detections[match.detection].classes.first?.label ?? "")
        texts.wrong += wrong
        loss.misread += min(1, Double(wrong) / Double(object.characters))
      }
      for object in frame.objects { texts.characters += object.characters }
    }

    private mutating func note(
      _ truth: [String: Double], _ scalars: [String: Double], _ loss: inout FrameLoss
    ) {
      for (name, wanted) in truth.sorted(by: { $0.key < $1.key }) {
        guard let value = scalars[name], value.isFinite else {
          loss.misread += 1
          continue
        }
        let error = abs(value - wanted)
        scalarError = (scalarError.sum + error, scalarError.count + 1)
        if error > 0 { loss.misread += min(1, error / abs(wanted)) }
      }
    }

    func finish(_ allowed: Set<LabelMetric>) -> LabelScore {
      let tracking = trackings.map { $0.finish() }.reduce(TrackingMeter.Sums(), +)
      let (right, wrong) = (precisions.map(\.right).sum, precisions.map(\.wrong).sum)
      let values = precisions.compactMap { $0.values() }
      let count = Double(values.count)
      let metrics: [LabelMetric: Double?] = [
        .precision: right.share(of: right + wrong),
        .recall: right.share(of: precisions.map(\.objects).sum),
        .ap50: values.isEmpty ? nil : values.reduce(0) { $0 + $1[0] } / count,
        .ap: values.isEmpty
          ? nil
          : values.reduce(0) { $0 + $1.reduce(0, +) } / (count * Double(values[0].count)),
        .countError: countErrors.share(of: boxFrames),
        .scalarError: scalarError.count > 0 ? scalarError.sum / Double(scalarError.count) : nil,
        .textError: texts.wrong.share(of: texts.characters),
        .mota: tracking.accuracy, .idf1: tracking.identityF1, .hota: tracking.hota,
        .idSwitches: Double(tracking.switches),
      ]
      return LabelScore(
        metrics: metrics.compactMapValues(\.self).filter { allowed.contains($0.key) },
        frames: frames, missingFrames: missingFrames)
    }
  }
}

extension [Int] {
  fileprivate var sum: Int { reduce(0, +) }
}

extension Int {
  /// `nil` if `all` is 0.
  fileprivate func share(of all: Int) -> Double? {
    all > 0 ? Double(self) / Double(all) : nil
  }
}

extension LabelBox {
  /// Of the text, which is compared in Unicode scalars: their number does not depend on the version
  /// of Unicode.
  fileprivate var characters: Int { text?.unicodeScalars.count ?? 0 }
}

extension String {
  /// The most Unicode scalars of a text that are compared.
  private static let comparedMax = 10_000

  /// Levenshtein's distance: the least number of inserted, removed and replaced Unicode scalars.
  fileprivate func editDistance(to other: String) -> Int {
    let (mine, theirs) = (
      unicodeScalars.prefix(Self.comparedMax), Array(other.unicodeScalars.prefix(Self.comparedMax))
    )
    var row = Array(0...theirs.count)
    for (index, scalar) in mine.enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in theirs.indices {
        let replaced = diagonal + (scalar == theirs[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(replaced, row[column] + 1, row[column + 1] + 1)
      }
    }
    return row[theirs.count]
  }
}
