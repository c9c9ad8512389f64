import RetakeStages
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// The time limit of the processes of `retake golden calibrate`.
@Suite struct GoldenFitTimeTests {
  @Test func `every process has the time limit that follows from one run of the case`() throws {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    _ = try fixture.test()
    _ = try fixture.accept()
    var fit = GoldenFit(
      project: try fixture.project(), selection: Selection(), arguments: { _, _, _ in [] })
    fit.runs = 2
    var seconds: [Double] = []
    fit.runProcess = { _, condition, _, first in
      seconds.append(first)
      guard seconds.count == 2 else { return }
      throw SuiteError.verifyProcessFailed(condition: condition.name, cause: "planted")
    }
    #expect {
      _ = try fit.run()
    } throws: { ($0 as? SuiteError)?.cause == "planted" }
    try #require(seconds.count == 2)
    // Measured once, before the first process is started.
    #expect(seconds[0] == seconds[1] && seconds[0] > 0, "\(seconds)")
    #expect(fixture.files("Goldens/yard/motion").contains("golden.yml"))
  }
}
