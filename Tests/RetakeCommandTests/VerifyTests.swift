import Foundation
import Retake
import RetakeTestSupport
import Testing

/// Whether the C library computes exp and sin with fused multiplication.
private let hasFusedMathematics = PlatformKey.current.description.hasSuffix("x86_64-fma")

@Suite struct VerifyTests {
  /// Verifies a pipeline of Tests/ImpureRetake.
  private func verify(
    _ pipeline: String, _ more: String..., session: String? = nil, in workplace: Workplace? = nil
  ) throws -> CommandResult {
    try (workplace ?? Workplace()).retake(
      words: ["verify"] + (session.map { [$0] } ?? []) + ["--pipeline", "example:\(pipeline)"]
        + more,
      binary: Workplace.impureBinary)
  }

  private func outcomes(_ report: JSON) -> [String: String] {
    var outcomes: [String: String] = [:]
    for index in 0..<report.variations.count {
      let variation = report.variations[index]
      outcomes[variation.condition.name.text ?? "-"] = variation.outcome.text
    }
    return outcomes
  }

  @Test func `an honest stage is the same under every condition, in every process`() throws {
    let result = try verify("pure", "--portable", "--json")
    #expect(result.status == 0, "\(result.stderr)")
    let report = try result.json()
    #expect(report.outcome.text == "deterministic")
    #expect(report.firstDivergence.value == nil)
    let outcomes = outcomes(report)
    #expect(Set(outcomes.values) == ["same"])
    for name in [
      "a new process, fixed hash seed", "a new process, another hash seed",
      "a new process, poisoned heap", "a processor without vector instructions",
    ] {
      #expect(outcomes[name] != nil, "\(name)")
    }
    #expect(report.variations[8].condition.process.hashSeed.text == "drawn")
  }

  @Test func `without a session, verify advises verify and not replay`() throws {
    let result = try Workplace().retake("verify", "--pipeline", "example:motion-boxes")
    #expect(result.status == 2)
    #expect(
      result.stderr.contains("\n  Name one: retake verify SESSION --pipeline P"), "\(result.stderr)"
    )
    #expect(!result.stderr.contains("retake replay"), "\(result.stderr)")
  }

  @Test(arguments: [
    ("readsClock", "clocks"), ("ordersByHash", "the order of a Dictionary"),
    ("readsOldMemory", "before anything is written"), ("readsClockElsewhere", "clocks"),
  ])
  func `an impure stage is named, with what to look for`(stage: String, advice: String) throws {
    let result = try verify(stage)
    #expect(result.status == 1, "\(result.stderr)")
    #expect(
      result.stdout.contains("not deterministic: the stage '\(stage)' returned a different value"))
    let next = try #require(result.stdout.split(separator: "\n").last)
    #expect(next.hasPrefix("next: look in '\(stage)' for "), "\(next)")
    #expect(next.contains(advice), "\(next)")
  }

  @Test func `the order of a dictionary shows in other processes alone`() throws {
    let outcomes = outcomes(try verify("ordersByHash", "--json").json())
    #expect(outcomes["8 workers, random delays"] == "same")
    #expect(outcomes["a new process, another hash seed"] == "different")
    #expect(outcomes["a new process, poisoned heap"] == "same")
  }

  @Test func `memory that nobody wrote shows where it is poisoned`() throws {
    let outcomes = outcomes(try verify("readsOldMemory", "--json").json())
    #expect(outcomes.filter { $0.value != "same" } == ["a new process, poisoned heap": "different"])
  }

  @Test func `rows of an output that a stage leaves out show where frames' memory is poisoned`()
    throws
  {
    let result = try verify("leavesRows", "--json")
    #expect(result.status == 1, "\(result.stderr)")
    let report = try result.json()
    let outcomes = outcomes(report)
    #expect(outcomes["2 workers, poisoned memory of frames"] == "different")
    #expect(outcomes["a new process, poisoned heap"] == "different")
    #expect(report.firstDivergence.stage.text == "leavesRows")
  }

  @Test func `the padding of decoded rows shows where decoders' memory is poisoned`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 4, size: "72x48")
    let result = try verify("readsPadding", session: "yard", in: workplace)
    #expect(result.status == 1, "\(result.stderr)")
    #expect(result.stdout.contains("different  2 workers, poisoned memory of frames"))
    #expect(result.stdout.contains("not deterministic: the stage 'readsPadding'"))
  }

  @Test(.enabled(if: hasFusedMathematics, "this processor does not fuse"))
  func `a value that hangs on the processor is the platform's, unless it shall be portable`()
    throws
  {
    let result = try verify("mathematics")
    #expect(result.status == 0, "\(result.stderr)")
    #expect(result.stdout.contains("platform   a processor without AVX and FMA: 'mathematics'"))
    #expect(
      result.stdout.contains(
        "platform-dependent: stage 'mathematics'; first for frame 0:0\nnext: look in"))
    let portable = try verify("mathematics", "--portable", "--json")
    #expect(portable.status == 1)
    let report = try portable.json()
    #expect(report.outcome.text == "platform-dependent")
    #expect(report.platformDependentStages.list as? [String] == ["mathematics"])
    #expect(report.suspect.text == "processor")
    #expect(report.exit.int == 1)
  }

  @Test(.enabled(if: hasFusedMathematics, "this processor does not fuse"))
  func `a decision that hangs on the processor fails in any case`() throws {
    let result = try verify("failsByMathematics")
    #expect(result.status == 1, "\(result.stderr)")
    #expect(result.stdout.contains("the stage 'failsByMathematics' returned a different value"))
    #expect(result.stdout.contains("fail code=odd'"), "\(result.stdout)")
    #expect(result.stdout.contains("next: look in 'failsByMathematics' for exp"))
  }

  @Test func `a process that dies is an error, with its last words`() throws {
    let result = try verify("diesElsewhere")
    #expect(result.status == 2)
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains("signal 6 ended it"), "\(result.stderr)")
    #expect(result.stderr.contains("these were my last words"))
    #expect(result.stderr.contains("[suite.verify.infrastructure]"))
  }

  @Test(arguments: [SIGINT, SIGKILL])
  func `no process stays behind a verify that is ended`(signal: Int32) throws {
    let workplace = try Workplace()
    let run = try LongRun(
      ["verify", "--pipeline", "example:hangsElsewhere"], in: workplace,
      binary: Workplace.impureBinary, environment: ["TMPDIR": workplace.folder.url.path])
    let file = workplace.folder.file("hanging")
    var child: String? { try? String(contentsOf: file, encoding: .utf8) }
    #expect(run.wait { child?.isEmpty == false })
    let id = try #require(child.flatMap { Int32($0) })
    #expect(run.end(signal) == (signal == SIGINT ? 130 : nil))
    #expect(isGone(process: id))
    if signal == SIGINT { #expect(try workplace.listing() == ["hanging \("\(id)".utf8.count)"]) }
  }

  @Test func `what a started process is told is nobody else's business`() throws {
    let workplace = try Workplace()
    let help = try workplace.retake("verify", "--help").stdout
    #expect(!help.contains("--trace") && !help.contains("--condition"))
    #expect(help.contains("--portable"))
    let half = try workplace.retake("verify", "--trace", "x")
    #expect(half.status == 64)
    let unknown = try workplace.retake(
      "verify", "--trace", "x", "--condition", "full moon", "--pipeline", "example:motion-boxes")
    #expect(unknown.status == 64, "\(unknown.stderr)")
    #expect(try workplace.listing().isEmpty)
  }

  @Test func `a recording of this repository is the same on other processors`() throws {
    let result = try runCommand(
      Workplace.binary,
      arguments: ["verify", "cut", "--pipeline", "motion-slow", "--portable", "--json"],
      folder: packageRoot)
    #expect(result.status == 0, "\(result.stdout) \(result.stderr)")
    let report = try result.json()
    #expect(report.outcome.text == "deterministic")
    let lesser = (0..<report.variations.count).map { report.variations[$0] }
      .filter { ![nil, "all"].contains($0.condition.process.processor.text) }
    #expect(!lesser.isEmpty)
    if hasFusedMathematics {
      #expect(lesser.allSatisfy { $0.hasOtherMathematics.value as? Bool == true })
    }
  }
}
