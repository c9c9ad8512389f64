import RetakeCore
import Testing

@testable import RetakeSuite

@Suite struct VerifyReportTests {
  private let value = VerifyReport.Divergence(
    kind: .value, frame: FrameID(track: 0, sequence: 3), stage: "net", message: "another value")
  private let decision = VerifyReport.Divergence(
    kind: .decision, frame: FrameID(track: 0, sequence: 2), stage: "net",
    decision: .init(number: 7, expected: "@0 net 0:2 start", actual: nil), message: "decided")
  private let decidedByValue = VerifyReport.Divergence(
    kind: .value, frame: FrameID(track: 0, sequence: 3), stage: "net",
    decision: .init(number: 9, expected: "@0 net 0:3 done", actual: nil), message: "both")

  private let otherProcessor = VerifyCondition(
    name: "a lesser processor", process: .init(hashSeed: .fixed, processor: .none))
  private let otherSeed = VerifyCondition(
    name: "another seed", process: .init(hashSeed: .drawn, processor: .all))

  /// A report in which some conditions made a difference.
  private func report(
    _ variations: (VerifyCondition, VerifyReport.Divergence?)...
  ) -> VerifyReport {
    VerifyReport(
      caseName: "case", frames: 9, decisionDigest: .zero, resultDigest: .zero,
      variations: variations.map { condition, divergence in
        let isFirst = condition.process == nil || condition.process?.hashSeed == .drawn
        return VerifyReport.Variation(
          condition: condition,
          outcome: VerifyReport.Variation.outcome(divergence, under: condition),
          comparedWith: isFirst || condition == .baseline
            ? VerifyCondition.first.name : VerifyCondition.baseline.name,
          decisionDigest: .zero, resultDigest: .zero, divergence: divergence)
      })
  }

  @Test func `nothing differs: passed, and nothing to look for`() {
    let report = report((VerifyCondition.inProcess[0], nil), (otherProcessor, nil))
    #expect(report.outcome == .deterministic)
    #expect(report.status(isPortable: true) == .passed)
    #expect(report.suspect == nil && report.advice == nil)
  }

  @Test func `a value that only the processor changes fails only where it shall be portable`() {
    let report = report((VerifyCondition.inProcess[0], nil), (otherProcessor, value))
    #expect(report.outcome == .platformDependent)
    #expect(report.platformDependentStages == ["net"])
    #expect(report.status(isPortable: false) == .passed)
    #expect(report.status(isPortable: true) == .regression)
    #expect(report.suspect == .processor)
  }

  @Test func `a decision that the processor changes always fails`() {
    for divergence in [decision, decidedByValue] {
      let report = report((VerifyCondition.inProcess[0], nil), (otherProcessor, divergence))
      #expect(report.outcome == .notDeterministic)
      #expect(report.platformDependentStages == [])
      #expect(report.status(isPortable: false) == .regression)
    }
  }

  @Test func `what differs anyhow comes before what the processor changes`() {
    let report = report((VerifyCondition.inProcess[0], decision), (otherProcessor, value))
    #expect(report.outcome == .notDeterministic)
    #expect(report.firstDivergence == decision)
    #expect(report.suspect == .engine)
  }

  @Test func `of two tracks, the frame that was captured first decides`() {
    var (slow, fast) = (value, value)
    (slow.frame, slow.position) = (FrameID(track: 1, sequence: 2), 14)
    (fast.frame, fast.position) = (FrameID(track: 0, sequence: 9), 11)
    let report = report(
      (VerifyCondition.inProcess[0], slow), (VerifyCondition.inProcess[1], fast))
    #expect(report.firstDivergence == fast)
  }

  @Test func `the suspect follows from which conditions made a difference`() {
    let poisoned = VerifyCondition(name: "poisoned", memory: .poisonedFrames)
    let delayed = VerifyCondition.inProcess[2]
    #expect(report((delayed, nil), (poisoned, value)).suspect == .memory)
    #expect(
      report((delayed, nil), (.baseline, value), (otherSeed, value), (otherProcessor, nil)).suspect
        == .hashSeed)
    #expect(
      report((delayed, value), (.baseline, value), (otherSeed, value), (otherProcessor, value))
        .suspect == .clockOrSharedState)
    #expect(report((delayed, value)).suspect == .clockOrSharedState)
  }

  @Test func `a program is advised in its own terms`() {
    var computed = value
    computed.isProgram = true
    let fixed = VerifyCondition.inProcess[2]
    #expect(report((fixed, nil), (.programThreads, computed)).suspect == .threads)
    let expected: [(VerifyReport, String)] = [
      (report((fixed, computed)), "the program of 'net' for clocks (use the frame's ptsNs"),
      (
        report((fixed, nil), (.baseline, computed), (otherSeed, computed), (otherProcessor, nil)),
        "hash() of strings: with PYTHONHASHSEED=0"
      ),
      (report((fixed, nil), (.programThreads, computed)), "only with OMP_NUM_THREADS=4"),
    ]
    for (report, text) in expected {
      #expect(report.advice?.contains(text) == true, "\(report.advice ?? "")")
      #expect(report.advice?.contains("StatefulStage") == false)
    }
    #expect(report((fixed, value)).advice?.contains("StatefulStage") == true)
  }

  @Test func `a script under the loop is advised without words of the protocol`() {
    var computed = value
    (computed.isProgram, computed.isLoop) = (true, true)
    let fixed = VerifyCondition.inProcess[2]
    let expected: [(VerifyReport, String)] = [
      (report((fixed, computed)), "random.seed(0)"),
      (report((fixed, computed)), "the order of a set of objects"),
      (report((fixed, computed)), "cap.get(cv2.CAP_PROP_POS_MSEC) are virtual"),
      (
        report((fixed, nil), (.baseline, computed), (otherSeed, computed), (otherProcessor, nil)),
        "hash() of strings: with PYTHONHASHSEED=0"
      ),
      (report((fixed, nil), (.programThreads, computed)), "cv2.setNumThreads(1)"),
    ]
    for (report, text) in expected {
      let advice = report.advice ?? ""
      #expect(advice.contains(text), "\(advice)")
      #expect(!advice.contains("ptsNs") && !advice.contains("reset"), "\(advice)")
    }
  }

  @Test func `a process starts with what its condition says, and the rest as it is`() throws {
    let inherited = [
      "HOME": "h", "SWIFT_DETERMINISTIC_HASHING": "1", "GLIBC_TUNABLES": "glibc.malloc.check=0",
    ]
    let drawn = otherSeed.environment(from: inherited)
    #expect(drawn["SWIFT_DETERMINISTIC_HASHING"] == nil)
    #expect(drawn["PYTHONHASHSEED"] == "random")
    #expect(drawn["GLIBC_TUNABLES"] == "glibc.malloc.check=0")
    #expect(drawn["HOME"] == "h")
    let poisoned = VerifyCondition(
      name: "poisoned", memory: .poisonedHeap, process: .init(hashSeed: .fixed, processor: .all)
    ).environment(from: inherited)
    #expect(poisoned["SWIFT_DETERMINISTIC_HASHING"] == "1")
    #expect(
      poisoned["GLIBC_TUNABLES"]
        == "glibc.malloc.check=0:glibc.malloc.perturb=165:glibc.malloc.tcache_count=0")
    #expect(VerifyCondition.first.environment(from: inherited) == inherited)
    let threads = VerifyCondition.programThreads.environment(from: inherited)
    #expect(threads["OMP_NUM_THREADS"] == "4" && drawn["OMP_NUM_THREADS"] == nil)
  }

  @Test func `each condition has a name of its own`() {
    let conditions =
      [.first, .oneByOne, .programThreads] + VerifyCondition.inProcess + VerifyCondition.newProcess
    #expect(Set(conditions.map(\.name)).count == conditions.count)
    #expect(VerifyCondition.newProcess.allSatisfy { $0.process != nil })
    for condition in VerifyCondition.newProcess + [.programThreads] {
      #expect(VerifyCondition.newProcess(named: condition.name) == condition)
    }
    #expect(VerifyCondition.newProcess(named: "no workers") == nil)
  }
}
