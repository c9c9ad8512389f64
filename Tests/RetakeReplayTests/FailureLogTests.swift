import RetakeBuffers
import RetakeCore
import Testing

@testable import RetakeReplay

/// The messages about a live run's failures, halt and drops, and their number.
@Suite struct FailureLogTests {
  private let messages = Locked<[FailureLog.Message]>([])

  private func makeLog() -> FailureLog {
    FailureLog { [messages] message in messages.withLock { $0.append(message) } }
  }

  /// The warnings so far, in order.
  private var warnings: [String] {
    messages.withLock { $0 }.compactMap { message in
      guard case .warning(let text) = message else { return nil }
      return text
    }
  }

  private func failure(
    _ sequence: Int, node: String = "cut", code: String = "crop.outside", halts: Bool = false
  ) -> StageFailure {
    StageFailure(
      frame: FrameID(track: 0, sequence: sequence), node: node, code: code, message: "no",
      isRecoverable: !halts)
  }

  private func line(
    _ kind: DecisionKind, node: String, _ sequence: Int, reason: String
  ) -> DecisionLine {
    DecisionLine(
      time: 0, node: node, frame: FrameID(track: 0, sequence: sequence), kind: kind,
      details: [.init("reason", reason)])
  }

  @Test func `the first failures of each stage and code are reported at once`() {
    let log = makeLog()
    for sequence in 0..<5 { log.failed(failure(sequence)) }
    log.failed(failure(5, code: "crop.empty"))
    #expect(
      warnings == (0..<3).map { "warning: frame 0:\($0), stage cut: no [crop.outside]" }
        + ["warning: frame 0:5, stage cut: no [crop.empty]"])
  }

  @Test func `the end reports how many more there were`() {
    let log = makeLog()
    let failures = (0..<5).map { failure($0) }
    for failure in failures { log.failed(failure) }
    log.finish(failures, of: 5)
    #expect(warnings.last == "warning: stage cut failed 2 more times [crop.outside]")
    #expect(warnings.count == 4)
  }

  @Test func `failures of items that no frame carries are reported at the end`() {
    let log = makeLog()
    log.finish([failure(0), failure(0)], of: 2)
    #expect(
      warnings == [
        "warning: frame 0:0, stage cut: no [crop.outside]",
        "warning: stage cut failed 1 more time [crop.outside]",
      ])
  }

  @Test func `a count is a least count when not all failures were kept`() {
    let log = makeLog()
    for sequence in 0..<9 { log.failed(failure(sequence)) }
    log.finish([failure(0)], of: 9)
    #expect(warnings.last == "warning: stage cut failed at least 6 more times [crop.outside]")
  }

  @Test func `a halt is reported once, and is not a warning`() {
    let log = makeLog()
    log.failed(failure(3, halts: true))
    log.failed(failure(4, halts: true))
    log.finish([failure(3, halts: true)], of: 1)
    #expect(messages.withLock { $0 } == [.halted(failure(3, halts: true))])
  }

  @Test func `drops are reported when they begin, once for each stage and reason`() {
    let log = makeLog()
    log.decided([
      line(.drop, node: "motion", 3, reason: "queue"),
      line(.drop, node: "motion", 4, reason: "queue"),
      line(.start, node: "motion", 5, reason: "queue"),
    ])
    log.decided([line(.drop, node: "pair", 6, reason: "timeout")])
    #expect(
      warnings == [
        "warning: frame 0:3, stage motion: dropped, because its queue is full [queue]; more drops "
          + "like this are only counted",
        "warning: frame 0:6, stage pair: dropped, because its partners did not come in time "
          + "[timeout]; more drops like this are only counted",
      ])
  }

  @Test func `losses before capture are reported once, with their cause where it is known`() {
    let known = makeLog()
    known.decided([line(.lost, node: "camera", 7, reason: "queue")])
    known.found(lost: 12)
    #expect(
      warnings == [
        "warning: frame 0:7, stage camera: lost before capture, because a downstream queue is full "
          + "[queue]; more losses are only counted"
      ])
    let counted = makeLog()
    counted.found(lost: 0)
    #expect(warnings.count == 1)
    counted.found(lost: 2)
    counted.found(lost: 3)
    #expect(warnings.count == 2)
  }

  @Test func `frames that come after a halt are not lost`() {
    let log = makeLog()
    log.decided([DecisionLine(time: 0, node: "cut", kind: .halt)])
    log.found(lost: 40)
    #expect(warnings == [])
  }
}
