import Foundation
import RetakeGolden
import RetakeSuite
import RetakeTestProjects
import RetakeTestSupport
import Testing

@Suite struct ReviewTests {
  /// Two sessions whose two detectors both changed.
  private func changed() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.folder.write(PipelineText.branches, to: "motion.json")
    try fixture.record("yard-1")
    try fixture.record("yard-2", seed: 2)
    _ = try fixture.test()
    _ = try fixture.accept()
    try write(fixture, motion: 26, fine: 30)
    #expect(try fixture.test().status == .regression)
    return fixture
  }

  private func write(_ fixture: ProjectFixture, motion: Int, fine: Int) throws {
    try fixture.folder.write(
      PipelineText.branches.replacing("24", with: "\(motion)").replacing("20", with: "\(fine)"),
      to: "motion.json")
  }

  private func review(_ fixture: ProjectFixture) throws -> Review {
    try Review(Acceptance(project: try fixture.project()))
  }

  @Test func `each root cause is a question with its first findings`() throws {
    let review = try review(try changed())
    #expect(
      review.questions.map(\.key) == [
        "yard-1/motion", "yard-1/motion", "yard-2/motion", "yard-2/motion",
      ])
    #expect(Set(review.questions.map(\.stage)) == ["motion", "fine"])
    for question in review.questions {
      #expect(question.headline.contains("output differs while its inputs are equal"))
      #expect(!question.details.isEmpty && question.details.count <= Review.detailsMax)
      #expect(question.suspects.contains("the pipeline changed: motion.threshold: 24 → 26"))
      // The message contains the values in words: the lines of the files are not shown as well.
      #expect(!question.details.contains { $0.contains("→") }, "\(question.details)")
    }
  }

  @Test func `what is accepted at one stage passes, what is rejected is pending no more`() throws {
    let fixture = try changed()
    var review = try review(fixture)
    while let next = review.next {
      review.answerAlike(next, review.questions[next].stage == "motion" ? .accept : .reject)
    }
    let done = try review.apply(reason: "a better threshold")
    #expect(done.accepted.map(\.key) == ["yard-1/motion", "yard-2/motion"])
    #expect(done.rejected.count == 2 && done.failures.isEmpty)
    #expect(fixture.files("Goldens").allSatisfy { !$0.hasSuffix(".new") })
    try write(fixture, motion: 26, fine: 20)
    #expect(try fixture.test().status == .passed)
  }

  @Test func `the frames of an acceptance are those of its root causes`() throws {
    let fixture = try changed()
    let all = try fixture.accept("yard-1/*", reason: "look", dryRun: true)
    let item = try #require(
      try fixture.accept("yard-1/*", reason: "a better threshold") { $0.stages = ["motion"] }.first)
    let manifest = try GoldenFolder(fixture.folder.file("Goldens/yard-1/motion")).manifest()
    let accepted = try #require(manifest.accepted.last)
    #expect(item.frames == accepted.frames && item.rootCauses == accepted.rootCauses)
    #expect(item.frames > 0 && item.frames <= all[0].frames && !item.left.isEmpty)
  }

  @Test func `each of several root causes has a command that accepts it alone`() throws {
    let fixture = try changed()
    for item in try fixture.test().document.cases {
      #expect(item.rootCauses.count == 2)
      for root in item.rootCauses {
        let accept = try #require(root.commands.last?.command)
        #expect(accept.contains(" --root-cause '\(root.id)' --reason"))
      }
    }
  }

  @Test func `what is skipped goes on waiting`() throws {
    let fixture = try changed()
    var review = try review(fixture)
    let first = try #require(review.next)
    review.answer(first, .accept)
    while let next = review.next { review.answer(next, .skip) }
    let done = try review.apply(reason: "seen")
    let item = try #require(done.accepted.first)
    #expect(done.accepted.count == 1 && item.rootCauses.count == 1 && item.left.count == 1)
    #expect(try self.review(fixture).questions.count == 3)
  }

  @Test func `a question that was answered can be opened again`() throws {
    var review = try review(try changed())
    review.answer(0, .accept)
    #expect(review.next == 1)
    review.withdraw(0)
    #expect(review.next == 0 && review.count(.accept) == 0)
  }

  @Test func `without a reason nothing is changed`() throws {
    let fixture = try changed()
    let before = fixture.files("Goldens")
    var review = try review(fixture)
    while let next = review.next { review.answerAlike(next, .accept) }
    #expect(throws: SuiteError.missingReason) { _ = try review.apply(reason: "  ") }
    #expect(fixture.files("Goldens") == before)
    #expect(try self.review(fixture).questions.count == 4)
  }

  @Test func `root causes are chosen by id and by stage, and a misspelt one is an error`() throws {
    let fixture = try changed()
    let error = #expect(throws: SuiteError.self) {
      try fixture.accept { $0.stages = ["motoin"] }
    }
    #expect(error?.code == "suite.accept.noRootCause" && error?.advice == "Did you mean 'motion'?")
    let items = try fixture.accept("yard-1") { $0.stages = ["mot*"] }
    #expect(items.map(\.key) == ["yard-1/motion"])
    #expect(items[0].left.count == 1 && items[0].left[0].hasPrefix("fine@0:"))
    let id = try #require(
      try review(fixture).questions.first { $0.key == "yard-2/motion" && $0.stage == "fine" }?.root)
    #expect(try fixture.accept("yard-2") { $0.rootCauses = [id] }.map(\.rootCauses) == [[id]])
  }

  @Test func `a rejection in CI touches nothing`() throws {
    let fixture = try changed()
    let before = fixture.files("Goldens")
    var rejection = Acceptance(project: try fixture.project())
    rejection.isCI = true
    #expect(throws: SuiteError.rejectInCI) { _ = try rejection.reject() }
    #expect(throws: SuiteError.acceptInCI) { _ = try Review(rejection) }
    #expect(fixture.files("Goldens") == before)
  }

  @Test func `stale goldens are named with what is gone, and removed on demand`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    let golden = fixture.folder.file("Goldens/yard/motion").path
    for name in ["Goldens/gone/motion", "Goldens/yard/old"] {
      let target = fixture.folder.file(name)
      try FileManager.default.createDirectory(
        at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
      try FileManager.default.copyItem(atPath: golden, toPath: target.path)
    }
    try fixture.folder.write("a person's own", to: "Goldens/yard/old/notes.txt")
    let listed = fixture.folder.file("retake.yml")
    let project = try Data(contentsOf: listed)
    try FileManager.default.removeItem(at: listed)
    #expect(throws: SuiteError.noProjectFile) {
      _ = try StaleGoldens(project: fixture.project()).remove(isCI: false)
    }
    try project.write(to: listed)
    let stale = StaleGoldens(project: try fixture.project())
    #expect(try stale.items().map(\.key) == ["yard/old"])
    #expect(try stale.items().map(\.missing) == ["case"])
    #expect(throws: SuiteError.removeInCI) { _ = try stale.remove(isCI: true) }
    #expect(try stale.remove(isCI: false).count == 1)
    #expect(try stale.items().isEmpty)
    // Its recording may be elsewhere, so it goes only if a person names it.
    #expect(try stale.problems().map(\.code) == ["suite.select.noRecording"])
    #expect(fixture.exists("Goldens/gone/motion/golden.yml"))
    var named = stale
    named.keys = ["gone/motion"]
    #expect(try named.items().map(\.missing) == ["session"])
    #expect(try named.problems().isEmpty)
    #expect(try named.remove(isCI: false).count == 1)
    #expect(!fixture.exists("Goldens/gone"))
    #expect(fixture.files("Goldens/yard/old") == ["notes.txt"])
    #expect(try fixture.test().status == .passed)
  }
}
