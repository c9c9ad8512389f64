import Foundation
import RetakeCompare
import RetakeCore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeGolden

/// Root causes are accepted and rejected one by one.
@Suite struct PartialAcceptTests {
  /// camera → gray → motion* → boxes, and gray → color → hues.
  private static func run(
    frames: Int = 40, motion: Set<Int> = [], color: Set<Int> = [], dropped: Set<Int> = []
  ) -> SampleRun {
    var run = SampleRun(frames: frames)
    run.columns.append(StageColumn("colour", inputs: ["grey"]))
    run.sinks.append(.init("hues"))
    run.manifest.precision["hues"] = .default
    run.manifest.pipeline.sinks = ["boxes": ["motion"], "hues": ["colour"]]
    for index in run.frames.indices {
      let isChanged = color.contains(index)
      run.frames[index].outcomes.append(
        SinkOutcome(
          sink: "hues",
          content: .facts([
            .scalar(name: "hue", value: Double(index) + (isChanged ? 7 : 0))
          ])))
      run.rows[index].cells.append(SampleRun.cell("colour", index, isChanged ? "changed" : ""))
      if motion.contains(index) {
        run.setFacts([SampleRun.box(index, dx: 9)], at: index)
        run.rows[index].cells[2] = SampleRun.cell("motion", index, "changed")
      }
    }
    for sequence in dropped.sorted() {
      run.drop(sequence)
      run.frames[sequence].outcomes[1].content = .ended(.dropped(.queue), node: "motion")
      run.rows[sequence].cells[3] = .notRun
    }
    return run
  }

  private let options: GoldenComparator.Options = {
    var options = GoldenComparator.Options(platform: SampleRun.platform)
    options.findingLimit = .max
    return options
  }()

  private func entry(_ rootCauses: [RootCause], _ frames: Int) -> GoldenManifest.Acceptance {
    .init(at: "2026-11-21", reason: "right", rootCauses: rootCauses.map(\.id), frames: frames)
  }

  private func accept(_ folder: GoldenFolder, _ stage: String) throws -> GoldenSplit {
    try folder.accept(options: options, rootCauses: { $0.stage == stage }, acceptance: entry)
  }

  private func compare(_ golden: GoldenFolder, _ actual: GoldenFolder) throws -> Comparison {
    try GoldenComparator(golden: golden, actual: actual, options: options).compare()
  }

  private func verdict(_ golden: GoldenFolder, _ run: SampleRun) throws -> Verdict {
    let folders = try SampleFolders()
    try run.write(to: folders.run)
    return try compare(golden, folders.run).verdict
  }

  @Test(arguments: ["motion", "colour"])
  func `kept images come from the side of their lines`(stage: String) throws {
    let folders = try SampleFolders()
    let frame = FrameID(track: 0, sequence: 0)
    let name = GoldenFolder.imageName(frame, sink: "hues", index: 0, isPicture: false)
    let maps = try [Float(1), 9].map { try #require(PixelArray(width: 1, height: 1, [$0])) }
    var runs = [Self.run(frames: 2), Self.run(frames: 2, motion: [0], color: [0])]
    for (index, folder) in [folders.golden, folders.golden.pending].enumerated() {
      runs[index].manifest.compare = CompareRules(["hues": SinkRule(mode: .pictures)])
      let image = Observation(.image(maps[index]), label: "hue")
      runs[index].frames[0].outcomes[1].content = .facts([.observation(image)])
      try runs[index].write(to: folder)
      try Data(try #require(maps[index].npy)).write(to: folder.file(name))
    }
    var options = options
    options.pixels = { _ in nil }
    let split = try folders.golden.accept(
      options: options, rootCauses: { $0.stage == stage }, acceptance: entry)
    #expect(split.chosen.count == 1 && split.left.count == 1)
    let place = StoredImages.Place(frame: frame, sink: "hues", index: 0)
    let kept = folders.golden.image(place) { _ in nil }.array
    #expect(kept == maps[stage == "colour" ? 1 : 0])
    #expect(folders.golden.pending.image(place) { _ in nil }.array == maps[1])
  }

  @Test func `one root cause is accepted, the other goes on waiting`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    try Self.run(motion: [5, 6, 7], color: [6, 20]).write(to: folders.golden.pending)
    let split = try accept(folders.golden, "motion")
    #expect(split.chosen.map(\.id) == ["motion@0:5"] && split.left.map(\.id) == ["colour@0:6"])
    #expect(split.frames == 3)
    #expect(try verdict(folders.golden, Self.run(motion: [5, 6, 7])) == .passed)
    let left = try compare(folders.golden, folders.golden.pending)
    #expect(left.rootCauses.map(\.id) == ["colour@0:6"] && left.counts.changed == 2)
    #expect(try folders.golden.manifest().accepted.last?.rootCauses == ["motion@0:5"])
    _ = try accept(folders.golden, "colour")
    #expect(!folders.golden.pending.exists)
    #expect(
      try verdict(folders.golden, Self.run(motion: [5, 6, 7], color: [6, 20])) == .passed)
  }

  @Test func `a rejected root cause is out of what can still be accepted`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    try Self.run(motion: [5, 6, 7], color: [6, 20]).write(to: folders.golden.pending)
    let split = try folders.golden.reject(options: options) { $0.stage == "motion" }
    #expect(split.left.map(\.id) == ["motion@0:5"])
    #expect(
      try compare(folders.golden, folders.golden.pending).rootCauses.map(\.id) == ["colour@0:6"])
    try folders.golden.accept(.init(at: "2026-11-21", reason: "hues"))
    #expect(try verdict(folders.golden, Self.run(color: [6, 20])) == .passed)
  }

  @Test func `with its last root cause rejected nothing is pending`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    try Self.run(motion: [5]).write(to: folders.golden.pending)
    _ = try folders.golden.reject(options: options) { _ in true }
    #expect(!folders.golden.pending.exists)
    #expect(try verdict(folders.golden, Self.run()) == .passed)
  }

  @Test func `values are accepted without the decisions, and decisions without the values`() throws
  {
    for takesDecisions in [true, false] {
      let folders = try SampleFolders()
      try Self.run().write(to: folders.golden)
      try Self.run(color: [2, 30], dropped: [9]).write(to: folders.golden.pending)
      let split = try folders.golden.accept(
        options: options, rootCauses: { ($0.stage != "colour") == takesDecisions },
        acceptance: entry)
      #expect(!split.chosen.isEmpty && !split.left.isEmpty)
      let expected = takesDecisions ? Self.run(dropped: [9]) : Self.run(color: [2, 30])
      #expect(try verdict(folders.golden, expected) == .passed)
    }
  }

  @Test func `a value is accepted where a decision about its frame goes on waiting`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    // Folded decisions are reported at their first frame, with the deepest stage that differs
    // there.
    var pending = Self.run(motion: [0, 3], color: [0])
    for index in pending.decisions.indices where pending.decisions[index].frame?.sequence == 9 {
      pending.decisions[index].time += 5
    }
    try pending.write(to: folders.golden.pending)
    let split = try accept(folders.golden, "motion")
    #expect(split.chosen.map(\.id) == ["motion@0:0"] && split.left.map(\.id) == ["colour@0:0"])
    #expect(try verdict(folders.golden, Self.run(motion: [0, 3])) == .passed)
  }

  @Test func `other class names are accepted with everything or not at all`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    var run = Self.run(motion: [5], color: [2])
    run.classes = ["movement"]
    try run.write(to: folders.golden.pending)
    let before = try folders.golden.manifest()
    let error = #expect(throws: GoldenError.self) { try accept(folders.golden, "motion") }
    #expect(error?.code == "golden.pending.inseparable")
    #expect(error?.message.contains("colour@0:2") == true)
    #expect(try folders.golden.manifest() == before && folders.golden.pending.exists)
  }

  @Test func `what is not a change of this golden has no root causes to choose from`() throws {
    let folders = try SampleFolders()
    try Self.run().write(to: folders.golden)
    var run = Self.run(motion: [5])
    run.manifest.testCase.seed = 9
    try run.write(to: folders.golden.pending)
    let error = #expect(throws: GoldenError.self) { try accept(folders.golden, "motion") }
    #expect(error?.code == "golden.pending.indivisible")
  }

  @Test(arguments: 0..<60)
  func `whatever is accepted first, exactly the findings of the others are left`(seed: UInt64)
    throws
  {
    var random = SeededGenerator(seed: seed)
    func some() -> Set<Int> {
      Set(
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
          Int.random(in: 0..<1_100, using: &random)
        })
    }
    let folders = try SampleFolders()
    try Self.run(frames: 1_100).write(to: folders.golden)
    let (motion, color) = (some(), some())
    let dropped = seed % 3 == 0 ? some().subtracting(motion).subtracting(color) : []
    let pending = Self.run(frames: 1_100, motion: motion, color: color, dropped: dropped)
    try pending.write(to: folders.golden.pending)
    let before = try compare(folders.golden, folders.golden.pending)
    let isTaken = before.rootCauses.map { _ in Bool.random(using: &random) }
    let ids = zip(before.rootCauses, isTaken).filter(\.1).map(\.0.id)
    guard !ids.isEmpty else {
      #expect(before.rootCauses.isEmpty == (before.verdict == .passed))
      return
    }
    do {
      _ = try folders.golden.accept(
        options: options, rootCauses: { ids.contains($0.id) }, acceptance: entry)
    } catch {
      #expect(error.facts.code == "golden.pending.inseparable" && !dropped.isEmpty)
      return
    }
    let left = before.findings.filter { finding in
      finding.root.map { !ids.contains(before.rootCauses[$0].id) } ?? true
    }
    guard !left.isEmpty else {
      #expect(try verdict(folders.golden, pending) == .passed)
      return
    }
    let after = try compare(folders.golden, folders.golden.pending)
    #expect(Self.texts(after.findings) == Self.texts(left))
  }

  private static func texts(_ findings: [Finding]) -> [String] {
    findings.map { "\($0.frame.map(String.init(describing:)) ?? "-") \($0.kind) \($0.message)" }
      .sorted()
  }

  @Test func `two people who accept different root causes at once lose nothing`() throws {
    for _ in 0..<10 {
      let folders = try SampleFolders()
      try Self.run().write(to: folders.golden)
      try Self.run(motion: [5, 6], color: [6, 20]).write(to: folders.golden.pending)
      let golden = folders.golden
      let errors = Mutex<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 2) { index in
        do {
          _ = try accept(golden, index == 0 ? "motion" : "colour")
        } catch {
          errors.withLock { $0.append("\(error)") }
        }
      }
      #expect(errors.withLock { $0 } == [])
      #expect(try verdict(golden, Self.run(motion: [5, 6], color: [6, 20])) == .passed)
    }
  }
}
