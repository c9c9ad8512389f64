import RetakeCompare
import RetakeCore
import RetakeReport
import RetakeRuntime

/// Comparison of results with their golden, in which every frame differs within tolerance, with
/// four boxes each; the memory of a long comparison; and the page for many findings.
struct CompareSection {
  let scale: Scale

  func run() throws -> SectionReport {
    let frames = scale.count(262_144, tiny: 2_048)
    let long = scale.count(2_000_000, tiny: 4_096)
    var report = SectionReport(
      name: "compare",
      title: "Golden against result: \(frames) frames of 4 boxes, all within tolerance; "
        + "\(long * 5) rows; a page for 18,000 frames and 5,000 findings", hash: "")
    var best = Double.infinity
    var hash = ""
    for _ in 0..<scale.rounds {
      let outcome = try ResultStream().compare(frames: frames)
      best = min(best, outcome.seconds)
      hash = "\(outcome.counts.withinTolerance)"
    }
    let stream = try ResultStream().compare(frames: long)
    hash += " \(stream.counts.withinTolerance)"
    report.figures = [
      Figure(name: "compare.rate", value: Double(frames) / best, unit: "frames/s"),
      Figure(name: "compare.long.rate", value: Double(long) / stream.seconds, unit: "frames/s"),
    ]
    if let megabytes = stream.megabytes {
      report.figures.append(
        Figure(name: "compare.memory", value: megabytes, unit: "MB resident at most"))
    } else {
      report.notes.append("this system does not tell the resident memory")
    }
    let page = try Contest(
      rounds: scale.rounds,
      [{ "\(Digest128(of: try HTMLReport.render(LargeReport.document)))" }])
    report.figures += [
      Figure(name: "compare.page.seconds", value: page.bestSeconds[0], unit: "s"),
      Figure(
        name: "compare.page.size",
        value: Double(try HTMLReport.render(LargeReport.document).count) / 1e6, unit: "MB"),
    ]
    report.hash = Digest128(of: hash + page.hash).description
    return report
  }
}

/// Two streams of results files, created and compared in parts. Only the comparison is timed,
/// starting with the bytes of the files.
private struct ResultStream {
  struct Outcome {
    var counts = ComparisonCounts()
    var seconds = 0.0
    /// The largest value that was measured.
    var megabytes: Double?
  }

  private let header = ResultHeader(
    key: "yard/boxes", tracks: [.init(0, TimeBase(1, 30))], sinks: ["boxes"],
    classes: ["boxes": ["car"]])

  func compare(frames: Int) throws -> Outcome {
    var rule = SinkRule.standard
    (rule.position, rule.score, rule.driftPer1000) = (1, 0.01, 1)
    var comparator = ResultComparator(
      golden: header, actual: header, rules: CompareRules(["boxes": rule]))
    let writers = [0, 1].map { _ in ResultWriterBox(header) }
    var outcome = Outcome()
    var rolling = DigestHasher()
    let clock = WallClock()
    for sequence in 0..<frames {
      let texts = [false, true].enumerated().map { side, isActual in
        writers[side].append(frame(sequence, isActual), isLast: sequence == frames - 1)
      }
      guard let golden = texts[0], let actual = texts[1] else { continue }
      let start = clock.monotonicNanoseconds
      let chunk = try ResultChunk(golden.bytes, file: golden.name)
      chunk.append(to: &rolling)
      try comparator.compare(
        golden: chunk, actual: try ResultChunk(actual.bytes, file: actual.name))
      outcome.seconds += Double(clock.monotonicNanoseconds - start) / 1e9
      if sequence % 65_536 < 1_024, let now = TimePlaneSection.residentMegabytes {
        outcome.megabytes = max(outcome.megabytes ?? 0, now)
      }
    }
    _ = comparator.finish()
    outcome.counts = comparator.counts
    return outcome
  }

  /// Four boxes that move independently. The boxes of the run are slightly offset from the golden's
  /// boxes.
  private func frame(_ sequence: Int, _ isActual: Bool) -> FrameResult {
    let facts = (0..<4).map { index -> ResultFact in
      let beside = isActual ? Double((sequence + index) % 5 + 1) / 10 : 0
      let place = Double(sequence % 400)
      return .detection(
        Detection(
          box: Box(
            x: place + beside, y: Double(index) * 120 + 7 - beside, width: 48.5 + beside,
            height: 96.5),
          score: 0.9 - beside / 1_000, identity: index))
    }
    return FrameResult(
      id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence),
      outcomes: [SinkOutcome(sink: "boxes", content: .facts(facts))])
  }
}

/// A writer that can be stored in an array.
private final class ResultWriterBox {
  private var writer: ResultWriter

  init(_ header: ResultHeader) {
    writer = ResultWriter(header: header, sinks: header.sinks.map { .init($0) })
  }

  func append(_ frame: FrameResult, isLast: Bool) -> ResultChunkText? {
    writer.append(frame) ?? (isLast ? writer.finish() : nil)
  }
}

/// A report of a bad day: half of all frames are close to one of 5,000 findings.
private enum LargeReport {
  static let document: ReportDocument = {
    var comparison = Comparison(key: "yard/boxes", verdict: .changed)
    comparison.counts.changed = 4_000
    comparison.counts.same = 14_000
    comparison.findings = (0..<5_000).map { index in
      let frame = FrameID(track: 0, sequence: index * 18_000 / 5_000)
      var finding = Finding(
        .boxMoved, frame: frame, time: Int64(frame.sequence) * 33_333_333, node: "boxes",
        golden: "D 1:0 \(index % 300).0 64.0 32.0 48.0 0.9132",
        actual: "D 1:0 \(index % 300 + 2).0 64.0 32.0 48.0 0.9132", magnitude: 2, allowed: 1,
        message: "car at \(index % 300).0,64.0 32.0x48.0: moved by 2.0 px")
      finding.root = 0
      return finding
    }
    comparison.findingCount = 5_000
    comparison.errorCurves = ["position", "score"].map { quantity in
      let errors = (0..<4_500).map { Double($0 % 97) / 50 }
      return ErrorCurve(
        sink: "boxes", quantity: quantity, track: 0, framesPerBin: 4, largest: errors,
        least: errors.map { $0 / 3 }, allowed: 1)
    }
    var root = RootCause(
      frame: FrameID(track: 0, sequence: 0), time: 0, stage: "detect", why: .outputDiffers)
    (root.findings, root.downstream) = (5_000, 4_999)
    comparison.rootCauses = [root]
    let item = ReportCase(
      comparison, session: "yard", name: "boxes", pipeline: "boxes", mode: "every-frame",
      tracks: [
        ReportTrack(track: 0, width: 640, height: 480, frames: 18_000, timeBase: TimeBase(1, 30))
      ], classes: ["car"])
    return ReportDocument(
      tool: ReportTool(version: "0"), title: "retake test", exit: ReportExit(code: 1),
      cases: [item])
  }()
}
