import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Changes planted into pipelines over the project's own sessions. Each must be found, with its
/// frame and its stage, and a run without a change must have no finding.
@Suite struct PlantedRegressionTests {
  private static let all =
    PlantedBoxes.all + PlantedDecisions.all + PlantedSignals.all
    + PlantedObservations.all

  private struct Runs {
    let folder: TemporaryFolder
    let golden: GoldenFolder
    let actual: GoldenFolder

    init(golden: GoldenFolder? = nil) throws {
      folder = try TemporaryFolder("retake-planted")
      self.golden = golden ?? GoldenFolder(folder.file("golden"))
      actual = GoldenFolder(folder.file("actual"))
    }

    /// Two sessions are paired by the frames' times, as in `retake diff`.
    func compare(betweenSessions: Bool = false) -> Comparison {
      var options = GoldenComparator.Options.withImages
      if betweenSessions {
        options.ignoresKeys = true
        options.pairing = .presentationTime
      }
      return GoldenComparator(golden: golden, actual: actual, options: options).outcome()
    }
  }

  /// A golden, and the run that wrote it.
  // @unchecked: the observer has heard the whole run before anyone else gets the golden.
  private final class Golden: @unchecked Sendable {
    private static let written = Locked<[String: Golden]>([:])

    let run = Observed()
    let folder: GoldenFolder
    private let temporary: TemporaryFolder

    private init(_ recipe: Recipe) throws {
      temporary = try TemporaryFolder("retake-planted")
      folder = GoldenFolder(temporary.file("golden"))
      try recipe.write(to: folder, observers: [run])
    }

    /// Most changes are planted into a few recipes, so a golden is written once for all of them.
    static func of(_ recipe: Recipe) throws -> Golden {
      guard let key = recipe.key else { return try Golden(recipe) }
      return try written.withLock { written in
        if let golden = written[key] { return golden }
        let golden = try Golden(recipe)
        written[key] = golden
        return golden
      }
    }
  }

  @Test func `there are at least 60 regressions, and no two of one name`() {
    #expect(Self.all.count { $0.verdict == .changed } >= 60)
    #expect(Set(Self.all.map(\.testDescription)).count == Self.all.count)
  }

  @Test func `recipes with a difference have no golden in common`() {
    let recipe = Recipe(.boxes, "figures")
    #expect(recipe.key != nil && recipe.key == Recipe(.boxes, "figures").key)
    var keys: Set<String?> = [recipe.key, recipe.simulated.key, Recipe(.boxes, "cut").key]
    for change: (inout Recipe) -> Void in [
      { $0.motion.threshold = 25 }, { $0.crop.x = 2 }, { $0.seed = 7 }, { $0.skipped = [3] },
      { $0.rule = SinkRule(mode: .pictures) }, { $0.precision = ["boxes": ["box": 0.1]] },
    ] {
      var other = recipe
      change(&other)
      keys.insert(other.key)
    }
    #expect(keys.count == 9 && !keys.contains(nil))
    var coded = recipe
    coded.plate = { "\($0)" }
    #expect(coded.key == nil)
  }

  @Test(arguments: all)
  func `a planted regression is found at its frame and its stage`(planted: Planted) throws {
    let golden = try Golden.of(planted.golden)
    let runs = try Runs(golden: golden.folder)
    let now = Observed()
    try planted.actual.write(to: runs.actual, observers: [now])
    let comparison = runs.compare(
      betweenSessions: planted.golden.skipped != planted.actual.skipped)

    #expect(comparison.verdict == planted.verdict, "\(comparison.reasons)")
    if let words = planted.words {
      let said = comparison.findings.map(\.message) + comparison.notes
      #expect(said.contains { $0.contains(words) }, "\(said.prefix(4))")
    }
    guard planted.verdict == .changed else {
      #expect(comparison.findingCount == 0 && comparison.rootCauses.isEmpty)
      return
    }
    if let kind = planted.kind {
      #expect(
        comparison.findings.contains { $0.kind == kind },
        "\(Set(comparison.findings.map(\.kind)))")
    }
    let root = try #require(comparison.firstDivergence)
    #expect(root.stage == planted.stage, "\(root)")
    #expect(root.why == planted.why, "\(root)")
    #expect(root.frame?.sequence == frame(planted, golden.run, now), "\(root)")
  }

  @Test func `a kept image that is damaged is an error of its file, where its pixels are read`()
    throws
  {
    let planted = try #require(
      Self.all.first { $0.testDescription.contains("noise of a map within its tolerance") })
    // A golden of its own, because it is damaged.
    let runs = try Runs()
    try planted.golden.write(to: runs.golden)
    try planted.actual.write(to: runs.actual)
    #expect(runs.compare().verdict == .passed)
    let frame = FrameID(track: 0, sequence: 40)
    let name = GoldenFolder.imageName(
      frame, sink: planted.golden.sink, index: 1, isPicture: false)
    let (file, other) = (runs.golden.file(name), runs.actual.file(name))
    for damaged in [try Data(contentsOf: file).dropLast(), try Data(contentsOf: other)] {
      try damaged.write(to: file)
      let comparison = runs.compare()
      #expect(comparison.verdict == .errored)
      #expect(comparison.reasons.first?.contains(name) == true, "\(comparison.reasons)")
    }
    try FileManager.default.removeItem(at: file)
    let comparison = runs.compare()
    #expect(comparison.verdict == .changed)
    #expect(
      comparison.findings.map(\.message)
        == ["the image depth: differs, and there is no file of its pixels"])
  }

  private func frame(_ planted: Planted, _ before: Observed, _ now: Observed) -> Int? {
    switch planted.place {
    case .frame(let number): number
    case .firstDifference:
      planted.stage.flatMap { now.firstDifference(from: before, at: $0) }
    case .firstDecision: now.firstOtherDecision(from: before)?.frame?.sequence
    case .none: nil
    }
  }

  /// 60 runs: twelve recipes, each with five numbers of workers.
  private static let unchanged: [(recipe: Recipe, workers: Int)] = {
    var recipes = [Recipe(.boxes, "figures"), Recipe(.boxes, "cut")]
    recipes += recipes.map(\.simulated)
    recipes += ["pulse", "figures"].map { Recipe(.means, $0) }
    recipes += ["pulse", "cut"].map { Recipe(.waves, $0) }
    recipes += [
      Recipe(.labels, "pulse"), Recipe(.plates, "pulse"), Recipe(.preview, "figures"),
      Recipe(.digest, "cut"),
    ]
    return recipes.flatMap { recipe in [0, 1, 2, 4, 8].map { (recipe, $0) } }
  }()

  @Test func `nothing is found in 60 unchanged runs`() throws {
    #expect(Self.unchanged.count == 60)
    var golden: Runs?
    for (place, run) in Self.unchanged.enumerated() {
      if place.isMultiple(of: 5) {
        golden = try Runs()
        try run.recipe.write(to: try #require(golden).golden, workers: 3)
      }
      let runs = try #require(golden)
      try run.recipe.write(to: runs.actual, workers: run.workers)
      let comparison = runs.compare()
      #expect(comparison.verdict == .passed && comparison.findingCount == 0, "\(run)")
      #expect(comparison.counts.same == SessionPart.frameCount)
      #expect(comparison.notes.isEmpty, "\(comparison.notes)")
    }
  }

  @Test func `an expensive change and a wrong one are two root causes`() throws {
    let runs = try Runs()
    let golden = Recipe(.boxes, "figures").simulated
    var actual = golden
    actual.cost = 20
    actual.changeBoxes(at: 5) { $0.removeFirst() }
    try golden.write(to: runs.golden)
    try actual.write(to: runs.actual)
    let rootCauses = runs.compare().rootCauses
    #expect(
      rootCauses.map(\.stage).contains("filter") && rootCauses.map(\.stage).contains("motion"))
    #expect(rootCauses.first { $0.stage == "filter" }?.frame?.sequence == 5)
    #expect(rootCauses.first { $0.stage == "motion" }?.why == .decisionDiffers)
  }

  @Test func `a frame that ended otherwise names the decisions that it follows from`() throws {
    let runs = try Runs()
    let golden = Recipe(.boxes, "figures").simulated
    var actual = golden
    actual.cost = 50
    try golden.write(to: runs.golden)
    try actual.write(to: runs.actual)
    let fates = runs.compare().findings.filter { $0.kind == .fateChanged }
    let later = try #require(fates.last)
    #expect(later.because.count > 1, "\(later)")
    #expect(later.because.allSatisfy { $0.contains("drop") || $0.contains("outcome") })
  }

  @Test func `what cannot be compared is a verdict of its own`() throws {
    let runs = try Runs()
    let recipe = Recipe(.means, "pulse")
    try recipe.write(to: runs.actual)
    #expect(runs.compare().verdict == .missing)
    try recipe.write(to: runs.golden)
    #expect(runs.compare().verdict == .passed)
    for change: (inout Recipe) -> Void in [
      { $0.seed = 7 }, { $0.mode = .simulate },
      { $0.precision = ["means": ["scalar": 0.1]] }, { $0.skipped = [3] },
    ] {
      var other = recipe
      change(&other)
      try other.write(to: runs.actual)
      #expect(runs.compare().verdict == .notComparable)
    }
    var nothing = recipe
    nothing.skipped = Set(0..<SessionPart.frameCount)
    try nothing.write(to: runs.golden)
    try nothing.write(to: runs.actual)
    #expect(runs.compare().verdict == .errored)
  }
}
