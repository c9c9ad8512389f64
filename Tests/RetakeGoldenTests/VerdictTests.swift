import Foundation
import RetakeCompare
import RetakeCore
import Testing

@testable import RetakeGolden

@Suite struct VerdictTests {
  @Test func `equal runs pass with every frame counted`() throws {
    let comparison = try SampleFolders.compare(SampleRun(frames: 200), SampleRun(frames: 200))
    #expect(comparison.verdict == .passed)
    #expect(comparison.counts.same == 200 && comparison.counts.facts == 200)
    #expect(comparison.counts.decisions == 1)
    #expect(
      comparison.findings.isEmpty && comparison.rootCauses.isEmpty && comparison.notes.isEmpty)
    #expect(comparison.headroom.allSatisfy { $0.used == 0 })
  }

  @Test func `without a golden the verdict is missing`() throws {
    let folders = try SampleFolders()
    try SampleRun().write(to: folders.run)
    #expect(try folders.compare().verdict == .missing)
    try SampleRun().write(to: folders.golden.pending)
    #expect(try folders.compare().verdict == .missing)
  }

  @Test func `a changed threshold names the first frame and the stage`() throws {
    var actual = SampleRun(frames: 100)
    actual.changeStage(2, from: 40)
    for sequence in 40..<100 { actual.setFacts([SampleRun.box(sequence, dx: 0.4)], at: sequence) }
    let comparison = try SampleFolders.compare(SampleRun(frames: 100), actual)
    #expect(comparison.verdict == .changed)
    #expect(comparison.counts.same == 40 && comparison.counts.changed == 60)
    let root = try #require(comparison.firstDivergence)
    #expect(root.frame == FrameID(track: 0, sequence: 40) && root.stage == "motion")
    #expect(root.why == .outputDiffers && root.equalBefore == ["camera", "grey"])
    #expect(root.findings == 60 && root.downstream == 59 && root.largest == 0.4)
    #expect(root.time == Timestamp(pts: 40_040, timeBase: TimeBase(1, 30_000))?.nanoseconds)
    #expect(comparison.rootCauses.count == 1)
    #expect(comparison.findings.first?.kind == .boxMoved)
    #expect(comparison.findings.first?.message == "motion at 160.0,64.0 32.0x48.0: moved by 0.4 px")
  }

  @Test func `a lost frame is one finding`() throws {
    var actual = SampleRun(frames: 2_000)
    actual.drop(700)
    let comparison = try SampleFolders.compare(SampleRun(frames: 2_000), actual)
    #expect(comparison.verdict == .changed)
    #expect(comparison.findings.map(\.kind) == [.fateChanged])
    #expect(comparison.findings.first?.frame == FrameID(track: 0, sequence: 700))
    #expect(comparison.findings.first?.actual == "drop (queue) at motion")
    #expect(comparison.rootCauses.map(\.id) == ["motion@0:700"])
    #expect(comparison.rootCauses.first?.why == .decisionDiffers)
    #expect(comparison.counts.same == 1_999)
  }

  @Test func `a frame without a line is one finding, and so is a new one`() throws {
    var shorter = SampleRun(frames: 2_000)
    shorter.frames.remove(at: 700)
    shorter.rows.remove(at: 700)
    shorter.decisions.removeAll { $0.frame?.sequence == 700 }
    let lost = try SampleFolders.compare(SampleRun(frames: 2_000), shorter)
    #expect(lost.findings.filter { $0.kind != .decisionsDiffer }.map(\.kind) == [.frameLost])
    #expect(lost.counts.missing == 1 && lost.counts.same == 1_999)
    let inserted = try SampleFolders.compare(shorter, SampleRun(frames: 2_000))
    #expect(
      inserted.findings.filter { $0.kind != .decisionsDiffer }.map(\.kind) == [.frameInserted])
    #expect(inserted.counts.inserted == 1)
  }

  @Test func `a run that ends early is one finding however many frames are missing`() throws {
    var actual = SampleRun(frames: 3_000)
    actual.frames.removeLast(1_500)
    actual.rows.removeLast(1_500)
    let comparison = try SampleFolders.compare(SampleRun(frames: 3_000), actual)
    #expect(comparison.verdict == .changed && comparison.counts.missing == 1_500)
    #expect(comparison.findings.map(\.kind) == [.frameLost])
    #expect(comparison.findings.first?.frameCount == 1_500)
  }

  @Test func `0 compared frames never pass`() throws {
    let comparison = try SampleFolders.compare(SampleRun(frames: 0), SampleRun(frames: 0))
    #expect(comparison.verdict == .errored && comparison.comparedNothing)
    #expect(comparison.reasons == ["no frame was compared"])
  }

  @Test func `other keys are not comparable and say why`() throws {
    func check(_ reason: String, _ change: (inout SampleRun) -> Void) throws {
      var actual = SampleRun()
      change(&actual)
      let comparison = try SampleFolders.compare(SampleRun(), actual)
      #expect(comparison.verdict == .notComparable)
      #expect(comparison.reasons.first?.contains(reason) == true, "\(comparison.reasons)")
    }
    try check("session digest") { $0.manifest.input.digest = .zero }
    try check("choice of tracks") { $0.manifest.input.tracks = ["camera": 1] }
    try check("mode") { $0.manifest.testCase.mode = "simulate" }
    try check("seed") { $0.manifest.testCase.seed = 7 }
    try check("override") { $0.manifest.testCase.overrides = ["motion.threshold": .integer(3)] }
    let coarse = try Precision(box: 1)
    try check("precision of boxes") { $0.sinks = [.init("boxes", precision: coarse)] }
  }

  @Test func `a changed pipeline is a suspect, not a verdict`() throws {
    var actual = SampleRun()
    actual.manifest.pipeline.digest = Digest128(of: "changed")
    actual.environment["libavcodec"] = "60.0.0"
    let comparison = try SampleFolders.compare(SampleRun(), actual)
    #expect(comparison.verdict == .passed)
    #expect(comparison.suspects.count == 2)
    #expect(comparison.suspects.first?.hasPrefix("the pipeline changed: motion-boxes") == true)
    #expect(
      comparison.suspects.last == "libavcodec is 60.0.0, the golden was made with 59.37.100")
  }

  @Test func `stage digests that differ under equal results are a note`() throws {
    var actual = SampleRun()
    actual.changeStage(1, from: 3)
    let comparison = try SampleFolders.compare(SampleRun(), actual)
    #expect(comparison.verdict == .passed)
    #expect(
      comparison.notes
        == ["stage digests differ under equal results: 3 of 6 frames from grey@0:3 on"])
  }

  @Test func `no digests for this platform is a note, and the cause is seen at the sink`() throws {
    var golden = SampleRun()
    golden.platform = "linux-aarch64-fma"
    var actual = SampleRun()
    actual.setFacts([], at: 2)
    actual.setFacts([], at: 4)
    let comparison = try SampleFolders.compare(golden, actual)
    #expect(comparison.notes == ["the golden has no stage digests for linux-x86_64-fma"])
    #expect(comparison.findings.map(\.kind) == [.boxDisappeared, .boxDisappeared])
    #expect(
      comparison.rootCauses.map(\.why) == [.seenAtSink] && comparison.rootCauses[0].downstream == 1)
    #expect(comparison.firstDivergence?.frame == FrameID(track: 0, sequence: 2))
  }

  @Test func `pictures of another platform are missing, not changed`() throws {
    func run(_ platform: String) -> SampleRun {
      var run = SampleRun()
      run.platform = platform
      run.setFacts([.user(kind: "own", digest: Digest128(of: platform))], at: 1)
      return run
    }
    let comparison = try SampleFolders.compare(run("linux-aarch64-fma"), run(SampleRun.platform))
    #expect(comparison.verdict == .missing)
    #expect(comparison.reasons.first?.contains("linux-aarch64-fma only") == true)
    #expect(
      try SampleFolders.compare(run(SampleRun.platform), run(SampleRun.platform)).verdict == .passed
    )
  }

  @Test func `a marked change is expected`() throws {
    var golden = SampleRun()
    golden.manifest.expected = [.init(id: "new model", frames: "2..3")]
    var actual = SampleRun()
    actual.setFacts([SampleRun.box(2, dx: 5)], at: 2)
    var comparison = try SampleFolders.compare(golden, actual)
    #expect(comparison.verdict == .changed && comparison.isExpected)
    #expect(comparison.known == [KnownChange(id: "new model")])
    actual.setFacts([SampleRun.box(4, dx: 5)], at: 4)
    comparison = try SampleFolders.compare(golden, actual)
    #expect(comparison.verdict == .changed && !comparison.isExpected)
  }

  @Test func `a known change that is gone is an error, with and without other changes`() throws {
    var golden = SampleRun()
    golden.manifest.expected = [.init(id: "7", frames: "2..3", url: "https://example.org/7")]
    let gone = try SampleFolders.compare(golden, SampleRun())
    #expect(gone.verdict == .changed && !gone.isExpected)
    #expect(gone.findings.map(\.kind) == [.knownChangeGone])
    #expect(gone.rootCauses.map(\.id) == ["a known change is gone@0:2"])
    #expect(gone.findings[0].message.contains("'7'") && gone.known.isEmpty)
    var actual = SampleRun()
    actual.setFacts([SampleRun.box(4, dx: 5)], at: 4)
    let other = try SampleFolders.compare(golden, actual)
    #expect(other.findings.map(\.kind) == [.boxMoved, .knownChangeGone])
    #expect(other.findings.allSatisfy { $0.root != nil } && other.rootCauses.count == 2)
  }

  @Test func `a budget that is broken is a finding`() throws {
    var golden = SampleRun()
    golden.drop(3)
    golden.manifest.budgets = .init(droppedMax: 0)
    let comparison = try SampleFolders.compare(golden, golden)
    #expect(comparison.verdict == .changed)
    #expect(comparison.findings.map(\.kind) == [.budget])
    #expect(comparison.budgets == [BudgetResult(name: "droppedMax", spent: 1, allowed: 0)])
    golden.manifest.budgets = .init(droppedMax: 1)
    #expect(try SampleFolders.compare(golden, golden).verdict == .passed)
  }

  @Test func `decisions that come later are found though all results are equal`() throws {
    var actual = SampleRun()
    for index in actual.decisions.indices where actual.decisions[index].kind == .done {
      actual.decisions[index].time += 5
    }
    let comparison = try SampleFolders.compare(SampleRun(), actual)
    #expect(comparison.verdict == .changed)
    #expect(comparison.findings.map(\.kind) == [.decisionsDiffer])
  }

  @Test func `added and removed nodes are findings`() throws {
    var actual = SampleRun()
    actual.columns = [
      StageColumn("camera"), StageColumn("blur", inputs: ["camera"]),
      StageColumn("motion", isStateful: true, inputs: ["blur"]),
    ]
    actual.changeStage(1, from: 0)
    for sequence in 0..<6 { actual.setFacts([SampleRun.box(sequence, dx: 1)], at: sequence) }
    let comparison = try SampleFolders.compare(SampleRun(), actual)
    #expect(comparison.findings.prefix(2).map(\.kind) == [.nodeRemoved, .nodeAdded])
    #expect(comparison.rootCauses.map(\.id) == ["grey", "blur"])
    #expect(comparison.findingCount == 8)
  }

  @Test func `stale goldens are those that were selected and are produced by nothing`() throws {
    let folders = try SampleFolders()
    try SampleRun().write(to: folders.golden)
    let library = GoldenLibrary(root: folders.temporary.file("Goldens"))
    let key = GoldenLibrary.Key(session: "yard", testCase: "motion")
    #expect(library.keys() == [key] && library.pendingKeys().isEmpty)
    #expect(library.stale(isSelected: { _ in true }, existing: []) == [key])
    #expect(library.stale(isSelected: { _ in true }, existing: [key]).isEmpty)
    #expect(library.stale(isSelected: { $0.session == "park" }, existing: []).isEmpty)
    #expect(Comparison.stale(key, why: "no case").verdict == .stale)
  }

  @Test func `two sessions pair by presentation time`() throws {
    let folders = try SampleFolders()
    try SampleRun(frames: 300).write(to: folders.golden)
    var actual = SampleRun(frames: 300)
    actual.manifest.input.digest = Digest128(of: "one frame less")
    actual.frames.remove(at: 100)
    for index in 100..<299 { actual.frames[index].id.sequence -= 1 }
    actual.rows.removeLast()
    try actual.write(to: folders.run)
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.ignoresKeys = true
    options.pairing = .presentationTime
    let comparison = try GoldenComparator(
      golden: folders.golden, actual: folders.run, options: options
    ).compare()
    #expect(comparison.findings.map(\.kind) == [.frameLost])
    #expect(comparison.findings.first?.frame?.sequence == 100)
  }
}
