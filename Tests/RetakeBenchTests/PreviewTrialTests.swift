import Testing

@testable import RetakeBench

@Suite struct PreviewTrialTests {
  @Test func `two buffers stall at 58 of 60 images a second, and a fourth brings nothing`() throws {
    let rows = try PreviewTable(PreviewTrial.standard).rows
    func row(_ trial: String) throws -> PreviewFigures {
      try #require(rows.first { $0.trial == trial })
    }
    let three = try row("58 fps, 3 buffers")
    #expect(try row("58 fps, 2 on screen").shown * 10 < three.shown * 6)
    // With two the camera has no buffer to fill, so that frames are lost where they come from.
    #expect(try row("58 fps, 2 buffers").lost > 0 && three.lost == 0)
    for four in [try row("58 fps, 4 buffers"), try row("58 fps, 4 on screen")] {
      #expect(four.shown == three.shown)
      #expect(four.latencyMedian == three.latencyMedian && four.latencyMax == three.latencyMax)
    }
  }

  @Test func `three buffers of the camera are 9 MB`() throws {
    var trial = PreviewTrial("reference")
    trial.vision = .reference
    let figures = try trial.run()
    #expect(figures.cameraBuffers == 3)
    #expect(figures.cameraBytes == 9_331_200)
    #expect(PreviewTable.megabytes(figures.cameraBytes) == "9.3")
  }
}
