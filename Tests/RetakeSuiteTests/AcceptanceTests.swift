import Foundation
import RetakeGolden
import RetakeSuite
import RetakeTestProjects
import Testing

@Suite struct AcceptanceTests {
  /// Two sessions, both with a pending golden.
  private func waiting() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard-1")
    try fixture.record("yard-2", seed: 2)
    _ = try fixture.test { $0.selection.suite = "slow" }
    return fixture
  }

  private func code(_ body: () throws -> some Any) -> String? {
    (#expect(throws: SuiteError.self) { _ = try body() })?.code
  }

  @Test func `a dry run says what would be accepted and changes nothing`() throws {
    let fixture = try waiting()
    let before = fixture.files("Goldens")
    let items = try fixture.accept(dryRun: true)
    #expect(items.map(\.key) == ["yard-1/motion", "yard-1/slow", "yard-2/motion", "yard-2/slow"])
    #expect(fixture.files("Goldens") == before)
  }

  @Test(arguments: ["", "  ", "\n"])
  func `nothing is accepted without a reason`(reason: String) throws {
    let fixture = try waiting()
    let before = fixture.files("Goldens")
    #expect(code { try fixture.accept(reason: reason) } == "suite.accept.missingReason")
    #expect(fixture.files("Goldens") == before)
  }

  @Test func `globs and names choose what is accepted`() throws {
    let fixture = try waiting()
    #expect(try fixture.accept("yard-1/slow").map(\.key) == ["yard-1/slow"])
    #expect(try fixture.accept("*/slow").map(\.key) == ["yard-2/slow"])
    #expect(
      try fixture.accept("yard-?").map(\.key) == ["yard-1/motion", "yard-2/motion"])
    #expect(code { try fixture.accept() } == "suite.accept.nothingPending")
  }

  @Test func `a name that waits for nothing is an error, and nothing is accepted`() throws {
    let fixture = try waiting()
    let error = #expect(throws: SuiteError.self) {
      try fixture.accept("yard-1/motion", "yard-1/moton")
    }
    #expect(error?.code == "suite.accept.notPending")
    #expect(error?.advice == "Did you mean 'yard-1/motion'?")
    #expect(!fixture.exists("Goldens/yard-1/motion/golden.yml"))
  }

  @Test func `nothing is accepted in CI`() throws {
    let fixture = try waiting()
    let before = fixture.files("Goldens")
    #expect(code { try fixture.accept { $0.isCI = true } } == "suite.accept.inCI")
    #expect(
      code {
        try fixture.accept {
          $0.isCI = true
          $0.pendingFolder = "elsewhere"
        }
      } == "suite.accept.inCI")
    #expect(fixture.files("Goldens") == before)
    #expect(try fixture.accept(dryRun: true) { $0.isCI = true }.count == 4)
  }

  @Test func `a result of an older pipeline or session is not accepted`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("24", to: "40")
    _ = try fixture.test()
    try fixture.change("24", to: "24")
    let before = fixture.files("Goldens")
    func refusal() -> SuiteError? { #expect(throws: SuiteError.self) { try fixture.accept() } }
    let pipeline = refusal()
    #expect(pipeline?.code == "suite.accept.outdated")
    #expect(pipeline?.message.contains("is of another pipeline than now") == true)
    #expect(pipeline?.advice == "Test again: retake test yard/motion")

    try fixture.change("24", to: "40")
    let session = fixture.folder.file("Recordings/yard")
    let kept = fixture.folder.file("kept")
    try FileManager.default.moveItem(at: session, to: kept)
    try fixture.record("yard", seed: 2)
    #expect(refusal()?.message.contains("is of another session than now") == true)
    #expect(fixture.files("Goldens") == before)

    try FileManager.default.removeItem(at: session)
    try FileManager.default.moveItem(at: kept, to: session)
    #expect(try fixture.accept().map(\.key) == ["yard/motion"])
  }

  @Test func `a result of the golden's pipeline is not accepted for another pipeline`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    let folder = fixture.folder.file("Goldens/yard/motion")
    let kept = fixture.folder.file("kept")
    try FileManager.default.copyItem(at: folder, to: kept)
    _ = try fixture.accept()
    let names = try FileManager.default.contentsOfDirectory(atPath: kept.path)
    for name in names where name.hasSuffix(".new") {
      try FileManager.default.copyItem(
        at: kept.appending(path: name), to: folder.appending(path: name))
    }
    try fixture.change("24", to: "40")
    #expect(code { try fixture.accept() } == "suite.accept.outdated")
    try fixture.change("24", to: "24")
    #expect(try fixture.accept().map(\.key) == ["yard/motion"])
  }

  @Test func `the reason, the cause and the size of a change stay in golden.yml`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("24", to: "26")
    _ = try fixture.test()
    let items = try fixture.accept(reason: "  a \"better\" threshold: 26 \n")
    let item = try #require(items.first)
    #expect(item.kind == "changed")
    #expect(item.rootCauses.first?.hasPrefix("motion@0:") == true)
    #expect(item.frames > 0)
    let text = try String(
      contentsOf: fixture.folder.file("Goldens/yard/motion/golden.yml"), encoding: .utf8)
    #expect(text.contains("first golden"))
    #expect(text.contains("a \\\"better\\\" threshold: 26"))
    #expect(try fixture.test().status == .passed)
  }
}

@Suite struct DamagedPendingTests {
  @Test(arguments: [true, false])
  func `what was damaged while it waited does not become a golden`(hasGolden: Bool) throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    if hasGolden {
      _ = try fixture.accept()
      try fixture.change("24", to: "26")
      _ = try fixture.test()
    }
    let file = fixture.folder.file("Goldens/yard/motion/results-00000.gold.new")
    let whole = try Data(contentsOf: file)
    try (whole + Data("junk\n".utf8)).write(to: file)
    let before = fixture.files("Goldens/yard/motion")
    #expect(throws: GoldenError.self) { try fixture.accept() }
    #expect(fixture.files("Goldens/yard/motion") == before)
    try whole.write(to: file)
    #expect(try fixture.accept().count == 1)
    #expect(try fixture.test().status == .passed)
  }
}

@Suite struct AlternateTests {
  /// A golden with threshold 24, and the pipeline with 26.
  private func changed() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    try fixture.change("24", to: "26")
    #expect(try fixture.test().status == .regression)
    return fixture
  }

  @Test func `an alternate holds on this platform, and the golden stays for all others`() throws {
    let fixture = try changed()
    let golden = fixture.folder.file("Goldens/yard/motion/golden.yml")
    let before = try Data(contentsOf: golden)
    let items = try fixture.accept(reason: "another processor") { $0.asAlternate = true }
    #expect(items.map(\.kind) == ["alternate"])
    #expect(try Data(contentsOf: golden) == before)
    let outcome = try fixture.test()
    #expect(outcome.status == .passed)
    #expect(outcome.document.cases[0].notes.contains { $0.contains("alternate for linux-") })
    try fixture.change("24", to: "28")
    #expect(try fixture.test().status == .regression)
    _ = try fixture.accept(reason: "now the alternate is compared, and changes")
    #expect(try Data(contentsOf: golden) == before)
    #expect(try fixture.test().status == .passed)
  }

  @Test func `an alternate is whole`() throws {
    let fixture = try changed()
    #expect(throws: SuiteError.partialAlternate) {
      try fixture.accept {
        $0.asAlternate = true
        $0.stages = ["motion"]
      }
    }
  }

  @Test func `with a stale golden its alternates go`() throws {
    let fixture = try changed()
    _ = try fixture.accept { $0.asAlternate = true }
    try fixture.folder.write("v: 1\ncases:\n  other: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try StaleGoldens(project: fixture.project()).remove(isCI: false).count == 1)
    #expect(!fixture.exists("Goldens/yard"))
  }
}
