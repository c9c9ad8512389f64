import RetakeCore

@testable import RetakeCompare

enum CompareSamples {
  static func header(_ sinks: [String] = ["boxes"]) -> ResultHeader {
    ResultHeader(
      key: "yard/motion", tracks: [.init(0, TimeBase(1, 1_000))], sinks: sinks,
      classes: ["boxes": ["car", "bus"]])
  }

  static func box(
    _ x: Double, _ y: Double = 0, _ width: Double = 10, _ height: Double = 10,
    score: Double = 0.5, classIndex: Int = 0, identity: Int? = nil,
    classes: [Classification] = []
  ) -> ResultFact {
    .detection(
      Detection(
        box: Box(x: x, y: y, width: width, height: height), score: score, classIndex: classIndex,
        identity: identity, classes: classes))
  }

  /// One frame for each list of facts, at one sink.
  static func frames(_ facts: [[ResultFact]]) -> [FrameResult] {
    facts.enumerated().map { sequence, facts in
      FrameResult(
        id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence) * 40,
        outcomes: [SinkOutcome(sink: "boxes", content: .facts(facts))])
    }
  }

  static func chunks(
    _ frames: [FrameResult], header: ResultHeader = header()
  ) throws -> [ResultChunk] {
    var writer = ResultWriter(header: header, sinks: header.sinks.map { .init($0) })
    var texts: [ResultChunkText] = []
    for frame in frames {
      if let text = writer.append(frame) { texts.append(text) }
    }
    if let text = writer.finish() { texts.append(text) }
    return try texts.map { try ResultChunk($0.bytes, file: $0.name) }
  }

  struct Outcome {
    var findings: [Finding]
    var rootCauses: [RootCause]
    var counts: ComparisonCounts
    var headroom: [ErrorHeadroom]
  }

  static func compare(
    _ golden: [FrameResult], _ actual: [FrameResult], _ rule: SinkRule = .standard,
    header: ResultHeader = header(), actualHeader: ResultHeader? = nil,
    actualTimes: RunTimes? = nil
  ) throws -> Outcome {
    let mine = try chunks(golden, header: header)
    let theirs = try chunks(actual, header: actualHeader ?? header)
    var comparator = ResultComparator(
      golden: header, actual: actualHeader ?? header, rules: CompareRules(["boxes": rule]))
    comparator.actualTimes = actualTimes
    for index in 0..<max(mine.count, theirs.count) {
      try comparator.compare(
        golden: index < mine.count ? mine[index] : nil,
        actual: index < theirs.count ? theirs[index] : nil)
    }
    let headroom = comparator.finish()
    let (findings, rootCauses) = comparator.log.sorted()
    return Outcome(
      findings: findings, rootCauses: rootCauses, counts: comparator.counts, headroom: headroom)
  }

  /// The findings for frames with these facts at one sink.
  static func findings(
    _ golden: [[ResultFact]], _ actual: [[ResultFact]], _ rule: SinkRule = .standard
  ) throws -> [Finding] {
    try compare(frames(golden), frames(actual), rule).findings
  }
}
