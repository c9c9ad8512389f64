import Dispatch
import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Passes detections on unchanged.
private struct Honest: PureStage {
  static let kind = "tamper"

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections { input }
}

/// The same stage after a mistake in its code: from the sixth frame on, boxes are at another
/// position.
private struct Mistaken: PureStage {
  static let kind = "tamper"

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections {
    guard context.frame.sequence >= 5 else { return input }
    var moved = input
    for index in moved.items.indices { moved.items[index].box.x += 3 }
    return moved
  }
}

/// Another mistake: some boxes are missing.
private struct Careless: PureStage {
  static let kind = "tamper"

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections {
    context.frame.sequence == 5 ? Detections([], classNames: input.classNames) : input
  }
}

/// Two `retake test` in one project, one with a correct program and one with a regressed one.
@Suite struct ConcurrentTestTests {
  private static let pipeline = ProjectFixture.pipeline
    .replacing(
      #"{"id": "boxes", "kind""#,
      with: #"{"id": "tamper", "kind": "tamper"}, {"id": "boxes", "kind""#
    )
    .replacing(
      #"{"from": "motion", "to": "boxes"}"#,
      with: #"{"from": "motion", "to": "tamper"}, {"from": "tamper", "to": "boxes"}"#)

  private static let registries: [StageRegistry] = {
    var all = [StageRegistry](repeating: .builtIn, count: 3)
    all[0].register(Honest.self)
    all[1].register(Mistaken.self)
    all[2].register(Careless.self)
    return all
  }()

  private func yard() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    try fixture.folder.write(Self.pipeline, to: "motion.json")
    return fixture
  }

  private static func test(
    _ fixture: ProjectFixture, _ program: Int, _ change: (inout SuiteRun) -> Void = { _ in }
  ) throws -> SuiteRun.Outcome {
    try fixture.test {
      $0.project.registry = registries[program]
      change(&$0)
    }
  }

  private func accepted() throws -> ProjectFixture {
    let fixture = try yard()
    _ = try Self.test(fixture, 0)
    _ = try fixture.accept()
    return fixture
  }

  @Test(arguments: [false, true])
  func `each of many runs at once gives its own verdict`(isCI: Bool) throws {
    let fixture = try accepted()
    let golden = try fixture.contents("Goldens/yard/motion")
    let wrong = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 64) { index in
      let program = index % 2
      do {
        let outcome = try Self.test(fixture, program) { $0.isCI = isCI }
        if outcome.status != (program == 0 ? Status.passed : Status.regression) {
          let reasons = outcome.document.cases.map { "\($0.verdict) \($0.reason)" }
          wrong.withLock { $0.append("program \(program): \(reasons)") }
        }
      } catch {
        wrong.withLock { $0.append("program \(program): \(error)") }
      }
    }
    #expect(wrong.withLock { $0 } == [])
    #expect(try fixture.contents("Goldens/yard/motion", pending: false) == golden)
    #expect(fixture.files("Goldens").allSatisfy { !$0.contains(".writing-") })
  }

  @Test func `what is pending while runs end is always one run, whole`() throws {
    let fixture = try accepted()
    let expected = try [1, 2].map { program in
      let alone = try accepted()
      _ = try Self.test(alone, program)
      return try alone.contents("Goldens/yard/motion")
    }
    let rootCauses: Set = ["tamper@0:5"]
    let wrong = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 60) { index in
      do {
        if index % 3 < 2 {
          _ = try Self.test(fixture, 1 + index % 3)
        } else {
          for waiting in try Acceptance(project: try fixture.project()).waiting()
          where Set(waiting.rootCauses.map(\.id)) != rootCauses
            || ![13, 1].contains(waiting.findingCount)
          {
            wrong.withLock {
              $0.append("\(waiting.verdict) \(waiting.findingCount) \(waiting.reasons)")
            }
          }
        }
      } catch let error as SuiteError where error == .nothingPending {
        // Between two runs that end.
      } catch {
        wrong.withLock { $0.append("\(error)") }
      }
    }
    #expect(wrong.withLock { $0 } == [])
    #expect(expected.contains(try fixture.contents("Goldens/yard/motion")))
  }

  @Test func `what is accepted beside runs that end is one of them, whole`() throws {
    let fixture = try accepted()
    let golden = try fixture.contents("Goldens/yard/motion/")
    let results = try [1, 2].map { program in
      let alone = try accepted()
      _ = try Self.test(alone, program)
      _ = try alone.accept(reason: "so be it")
      return try alone.contents("Goldens/yard/motion").filter { $0.key != "golden.yml" }
    }
    let wrong = Locked<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 40) { index in
      do {
        if index % 4 < 3 {
          _ = try Self.test(fixture, 1 + index % 2)
        } else {
          _ = try fixture.accept(reason: "so be it")
        }
      } catch let error as SuiteError where error == .nothingPending {
        // Between two runs that end.
      } catch {
        wrong.withLock { $0.append("\(error)") }
      }
    }
    #expect(wrong.withLock { $0 } == [])
    let left = try fixture.contents("Goldens/yard/motion", pending: false)
      .filter { $0.key != "golden.yml" }
    #expect((results + [golden.filter { $0.key != "golden.yml" }]).contains(left))
    #expect(fixture.files("Goldens").allSatisfy { !$0.contains(".writing-") })
  }

  @Test func `an interrupted run leaves nothing pending that equals its golden`() throws {
    let fixture = try accepted()
    try fixture.record("zone", frames: 200, seed: 2)
    _ = try Self.test(fixture, 0)
    _ = try fixture.accept("zone")
    let asked = Locked(0)
    #expect(throws: RuntimeError.interrupted) {
      try Self.test(fixture, 0) {
        $0.progress = { key, done, _ in
          if key.hasPrefix("zone"), done > 0 { asked.withLock { $0 += 1 } }
        }
        $0.options.isInterrupted = { asked.withLock { $0 > 0 } }
      }
    }
    #expect(fixture.files("Goldens").allSatisfy { !$0.hasSuffix(".new") })
  }

  @Test func `a review does not accept what another run left pending since`() throws {
    let fixture = try accepted()
    _ = try Self.test(fixture, 1)
    var review = try Review(Acceptance(project: try fixture.project()))
    let golden = try fixture.contents("Goldens/yard/motion", pending: false)
    _ = try Self.test(fixture, 2)
    review.answer(0, .accept)
    let result = try review.apply(reason: "as it was shown")
    #expect(result.accepted.isEmpty)
    #expect(result.failures.map(\.error.code) == ["golden.pending.changed"])
    #expect(try fixture.contents("Goldens/yard/motion", pending: false) == golden)
    #expect(fixture.exists("Goldens/yard/motion/golden.yml.new"))
  }

  @Test func `a folder of a process that was killed goes, that of a living one stays`() throws {
    let fixture = try accepted()
    try fixture.folder.write("half", to: "Goldens/.writing-1-0.new/yard/motion/golden.yml")
    try fixture.folder.write("half", to: "Goldens/.writing-1-1.new/yard/motion/golden.yml")
    let held = open(fixture.folder.file("Goldens/.writing-1-1.new").path, O_RDONLY)
    defer { close(held) }
    #expect(flock(held, LOCK_EX | LOCK_NB) == 0)
    #expect(try Self.test(fixture, 0).status == Status.passed)
    #expect(!fixture.exists("Goldens/.writing-1-0.new"))
    #expect(fixture.exists("Goldens/.writing-1-1.new"))
  }
}

extension ProjectFixture {
  /// The bytes of all files of a folder, by their paths.
  func contents(_ path: String, pending: Bool = true) throws -> [String: Data] {
    var result: [String: Data] = [:]
    for name in files(path) where pending || !name.hasSuffix(".new") {
      result[name] = try Data(contentsOf: folder.file("\(path)/\(name)"))
    }
    return result
  }
}
