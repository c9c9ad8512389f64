import RetakeBuffers
import RetakeCore
import Testing

@testable import RetakeRuntime
@testable import RetakeSuite

@Suite struct VanishedNumbersTests {
  private func notes(_ frames: [[ResultFact]], decimals: [String: Int] = ["stdout": 3]) -> [String]
  {
    let observer = VanishedNumbers(decimals: decimals)
    for (sequence, facts) in frames.enumerated() {
      let id = FrameID(track: 0, sequence: sequence)
      observer.finished(
        FinishedFrame(
          entry: FrameEntry(id: id, pts: nil, timestamp: .zero), arrivalNanoseconds: 0,
          result: FrameResult(
            id: id, pts: nil, outcomes: [SinkOutcome(sink: "stdout", content: .facts(facts))]),
          classNames: [[]], digests: []))
    }
    return observer.notes
  }

  private func scalar(_ value: Double) -> ResultFact { .scalar(name: "loss {}", value: value) }

  @Test func `numbers that are rounded to 0 are named, with the precision that keeps them`() {
    #expect(
      notes([[scalar(0.5)], [scalar(0.0001)], [scalar(-0.00002), scalar(0)]]) == [
        "2 numbers of 'stdout' became 0, first 'loss {}' = 0.0001 of frame 0:1: changes of them are "
          + "not seen. Keep their digits in retake.yml, in the case: "
          + "precision: {stdout: {scalar: 0.0000001}}"
      ])
    #expect(notes([[scalar(0.0001)]])[0].hasPrefix("a number of 'stdout' became 0"))
  }

  @Test func `numbers that are kept, and numbers that no precision keeps, have no note`() {
    #expect(notes([[scalar(0), scalar(0.001), scalar(-3), scalar(1e-12)]]).isEmpty)
    #expect(notes([[scalar(0.0001)]], decimals: ["stdout": 4]).isEmpty)
    #expect(notes([[scalar(0.0001)]], decimals: [:]).isEmpty, "a sink without numbers")
  }
}
