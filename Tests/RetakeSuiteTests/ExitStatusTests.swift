import RetakeCompare
import RetakeSuite
import Testing

/// Swift Testing also has an `ExitStatus`.
typealias Status = RetakeSuite.ExitStatus

@Suite struct ExitStatusTests {
  @Test func `the strongest status of several counts`() {
    let order: [Status] = [
      .interrupted, .infrastructure, .poisoned, .error, .regression, .staleOrNotComparable,
      .missingGolden, .nothingCompared, .passed,
    ]
    for (index, strong) in order.enumerated() {
      for weak in order[index...] {
        #expect(Status.strongest([weak, strong]) == strong)
        #expect(Status.strongest([strong, weak, .passed]) == strong)
      }
    }
    #expect(Status.strongest([]) == nil)
  }

  @Test(arguments: [
    (Status.passed, Int32(0)), (.regression, 1), (.error, 2), (.missingGolden, 3),
    (.nothingCompared, 4), (.staleOrNotComparable, 5), (.usage, 64), (.poisoned, 65),
    (.infrastructure, 75), (.interrupted, 130),
  ])
  func `a status has the number that scripts know`(status: Status, number: Int32) {
    #expect(status.rawValue == number)
    #expect(!status.meaning.isEmpty)
  }

  @Test(arguments: [
    (Verdict.passed, Status.passed, Status.passed),
    (.changed, .regression, .regression),
    (.missing, .missingGolden, .missingGolden),
    (.stale, .passed, .staleOrNotComparable),
    (.notComparable, .staleOrNotComparable, .staleOrNotComparable),
    (.errored, .error, .error),
  ])
  func `a verdict has a status on a desk and one in CI`(
    verdict: Verdict, desk: Status, machine: Status
  ) {
    #expect(verdict.exitStatus(isCI: false) == desk)
    #expect(verdict.exitStatus(isCI: true) == machine)
  }
}
