package import RetakeCompare
package import RetakeCore

extension ReportFinding {
  init(
    _ finding: Finding, rootCauses: [RootCause], classes: [String], place: ReportBox.Placing
  ) {
    self.init(
      kind: finding.kind.rawValue, frame: finding.frame, sink: finding.node,
      golden: finding.golden, actual: finding.actual, message: finding.message)
    let unit = finding.unit
    rootCause = finding.root.flatMap { rootCauses.indices.contains($0) ? rootCauses[$0].id : nil }
    timeNanoseconds = finding.time
    magnitude = finding.magnitude.map { $0 * unit.factor }
    allowed = finding.allowed.map { $0 * unit.factor }
    self.unit = unit.name
    because = finding.because
    let lines = [(ReportBox.Side.golden, finding.golden), (.actual, finding.actual)]
    boxes = lines.compactMap { side, line in
      guard let line, let box = ReportBox(side, line: line, classes: classes) else { return nil }
      return place(box, finding.node, finding.frame)
    }
  }
}

extension ReportBox {
  /// Maps a box from the coordinates of a sink to the pixels of the frame's source; `nil` if the
  /// mapping is not known.
  package typealias Placing = (_ box: ReportBox, _ sink: String?, _ frame: FrameID?) -> ReportBox?

  /// The box of a result line of a detection, a mask or points; `nil` for any other line.
  package init?(_ side: Side, line: some StringProtocol, classes: [String]) {
    if let item = ObservationLine(parsing: line)?.observation {
      self.init(side, item)
      return
    }
    let words = line.split(separator: " ")
    guard words.count == 7, words[0] == "D" else { return nil }
    let names = words[1].split(separator: ":", omittingEmptySubsequences: false)
    let numbers = words[2..<6].compactMap { Double($0) }
    guard names.count == 2, numbers.count == 4 else { return nil }
    let index = Int(names[1])
    let name = index.flatMap { classes.indices.contains($0) ? classes[$0] : nil }
    // docs/formats/goldens.md: `-` comes from a detector without a tracker, so there is no number
    // to show.
    let identity = names[0] == "-" ? "" : "\(names[0]) "
    self.init(
      side, Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]),
      label: "\(identity)\(name ?? "class \(names[1])") \(words[6])")
  }
}

extension ReportRootCause {
  package init(_ root: RootCause, findings: [Finding], graph: ReportGraph? = nil) {
    self.init(
      id: root.id, kind: Kind(root.why), frame: root.frame, timeNanoseconds: root.time,
      stage: root.stage, why: root.words, findings: max(0, root.findings - root.downstream),
      downstream: root.downstream)
    extent = Self.extent(findings)
    equalBefore = root.equalBefore
    if let graph, let stage = root.stage {
      statuses = graph.statuses(root: stage, why: root.why, touched: Set(findings.map(\.node)))
    }
  }

  /// The largest error of each kind of findings, with the allowed error.
  private static func extent(_ findings: [Finding]) -> String? {
    // In the order of the findings.
    var worst: [Finding] = []
    // Embeddings of the same direction have other numbers, and no cosine distance.
    for finding in findings where (finding.magnitude ?? 0) > 0 {
      let index = worst.firstIndex {
        $0.kind == finding.kind && $0.unit.name == finding.unit.name
      }
      guard let index else {
        worst.append(finding)
        continue
      }
      if (finding.magnitude ?? 0) > (worst[index].magnitude ?? 0) { worst[index] = finding }
    }
    // Next to others, an error without the name of its quantity would say little.
    if worst.count > 1 { worst.removeAll { $0.kind.measured == nil } }
    guard !worst.isEmpty else { return nil }
    return worst.enumerated().map { index, finding in
      let subject = finding.kind.measured.map { $0 + (index == 0 ? " differ by " : " by ") } ?? ""
      return subject + finding.extent
    }.joined(separator: ", ")
  }
}

extension Finding {
  /// `at most 0.4 px (0.1 px allowed)`.
  fileprivate var extent: String {
    let unit = unit
    func text(_ number: Double) -> String {
      Wording.number(number * unit.factor) + (unit.name.map { " \($0)" } ?? "")
    }
    return "at most \(text(magnitude ?? 0))" + (allowed.map { " (\(text($0)) allowed)" } ?? "")
  }
}

extension Finding.Kind {
  /// The quantity whose differences are the magnitudes of such findings.
  fileprivate var measured: String? {
    switch self {
    case .boxMoved: "boxes"
    case .maskChanged: "masks"
    case .pointMoved: "points"
    case .embeddingChanged: "embeddings"
    case .pictureChanged: "numbers of maps"
    case .fieldChanged: "fields"
    case .scoreChanged: "scores"
    case .numberChanged: "numbers"
    case .waveformChanged: "samples"
    case .timeChanged: "times"
    case .decisionMoved: "times of decisions"
    default: nil
    }
  }
}

extension RootCause {
  /// The reason, and the origin of the difference.
  var words: String {
    switch origin {
    case .environment: why.rawValue + " (the environment changed, the pipeline did not)"
    case .program: why.rawValue + " (a program changed)"
    case .model: why.rawValue + " (a model changed)"
    case .file: why.rawValue + " (a file of stored results changed)"
    case .pipeline where why != .nodeAdded && why != .nodeRemoved:
      why.rawValue + " (the pipeline changed)"
    // The digest of a pipeline does not include costs, but decisions depend on them.
    case .code where why == .decisionDiffers:
      why.rawValue + " (pipeline and libraries are the golden's; the costs may differ)"
    case .code: why.rawValue + " (pipeline and libraries are the golden's)"
    case .codeOrLibraries:
      why.rawValue + " (pipeline and models are the golden's; its libraries here are not known)"
    default: why.rawValue
    }
  }
}

extension ReportRootCause.Kind {
  init(_ why: RootCause.Why) {
    self =
      switch why {
      case .decisionDiffers: .decision
      case .frameLost, .frameInserted: .input
      case .nodeAdded, .nodeRemoved, .inputsRewired, .sinkChanged: .graph
      case .outputDiffers, .ranOnOneSide, .budget, .drift, .seenAtSink, .knownChangeGone: .value
      }
  }
}

extension ReportGraph {
  /// The colors for one root cause: nodes downstream of it may differ, all others are equal. A
  /// downstream sink is also equal if no finding names it.
  func statuses(root: String, why: RootCause.Why, touched: Set<String?>) -> [NodeStatus] {
    let behind = nodesBehind(root)
    // A report's node has no role. A sink is a node that no edge leaves.
    let sinks = Set(nodes.map(\.id)).subtracting(edges.map(\.nodes.from))
    return nodes.map { node in
      let status: ReportNode.Status =
        if node.id == root {
          why == .nodeAdded ? .added : why == .nodeRemoved ? .removed : .rootCause
        } else if !behind.contains(node.id)
          || (sinks.contains(node.id) && !touched.contains(node.id))
        {
          .equal
        } else {
          node.stateful ? .tainted : .downstream
        }
      return NodeStatus(node: node.id, status: status)
    }
  }

  private func nodesBehind(_ root: String) -> Set<String> {
    var reached: Set = [root]
    // At most one round per node.
    for _ in nodes {
      let next = edges.map(\.nodes).filter { reached.contains($0.from) }.map(\.to)
      if reached.isSuperset(of: next) { break }
      reached.formUnion(next)
    }
    return reached
  }
}

extension ReportTimeline {
  /// The most bins of a timeline.
  static let binsMax = 20_000

  /// The findings of one track, by frame.
  init(_ track: ReportTrack, findings: [Finding], errors: [ErrorCurve] = []) {
    let size = max(1, (track.frames + Self.binsMax - 1) / Self.binsMax)
    var bins = Array(repeating: 0, count: (max(0, track.frames) + size - 1) / size)
    for finding in findings {
      guard let frame = finding.frame, frame.track == track.track else { continue }
      let bin = frame.sequence / size
      if bins.indices.contains(bin) { bins[bin] += 1 }
    }
    self.init(track: track.track, framesPerBin: size, findings: bins)
    self.errors = TimelineErrors.all(errors, track: track.track)
  }
}

extension DecisionDifferences {
  /// The most lines that a report keeps.
  static let linesMax = 1000

  /// `nil` if no decision differs.
  init?(_ findings: [Finding]) {
    let changes = findings.compactMap { finding in
      DecisionDifference.Change(finding.kind).map { ($0, finding) }
    }
    guard !changes.isEmpty else { return nil }
    func count(_ change: DecisionDifference.Change) -> Int { changes.count { $0.0 == change } }
    self.init(
      added: count(.added), removed: count(.removed), moved: count(.moved),
      changed: count(.changed),
      lines: Excerpt(
        changes.prefix(Self.linesMax).map { change, finding in
          DecisionDifference(
            change, golden: finding.golden, actual: finding.actual,
            note: finding.message, because: finding.because)
        }, total: changes.count))
  }
}

extension DecisionDifference.Change {
  init?(_ kind: Finding.Kind) {
    switch kind {
    case .decisionAdded: self = .added
    case .decisionRemoved: self = .removed
    case .decisionMoved: self = .moved
    case .decisionChanged, .decisionsDiffer: self = .changed
    default: return nil
    }
  }
}
