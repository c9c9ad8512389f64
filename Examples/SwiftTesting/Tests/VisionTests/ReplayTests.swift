import Retake
import RetakeClock
import RetakeTesting
import Testing
import Vision

// docs/swift-testing.md
@Suite(.retake(stages: { $0.register(BrightPixels.self) }, pipelines: [bright]))
struct ReplayTests {
  @Test(arguments: RetakeCase.all())
  func golden(_ replay: RetakeCase) async throws {
    try await expectReplay(replay)
  }
}
// end

@Suite(.retake()) struct MeasureTests {
  // docs/swift-testing.md
  @Test func `the heart beats 72 times a minute`() async throws {
    let run = try await Replay.run("../../Recordings/pulse") { frames in
      frames.fingertip().resample(rate: 30, windowSeconds: 10).pulseSignal(.red)
        .detrend().bandpass().pulseRate().results()
    }
    let rate = try #require(run.scalars("bpm").last)
    #expect(abs(rate - 72) < 0.5)
  }
  // end

  // docs/swift-testing.md
  @Test func `no frame is dark`() async throws {
    let run = try await Replay.run("../../Recordings/figures") { frames in
      frames.gray().luminance().sink { result in
        guard case .success(let values) = result else { return }
        #expect(values["mean"] ?? 0 > 40)
      }
    }
    #expect(run.summary.failureCount == nil)
  }
  // end

  // docs/swift-testing.md
  @Test func `a preview that takes 45 ms misses every fourth frame`() async throws {
    let shown = try await withVirtualTime { time in
      var shown: [Int] = []
      let camera = try time.camera(
        session: "../../Recordings/figures", buffering: .bufferingNewest(1))
      for try await captured in camera {
        #expect(captured.frame.bytes(of: 0).contains { $0 > 40 })
        shown.append(captured.id.sequence)
        try await time.clock.sleep(for: .milliseconds(45))
      }
      return shown
    }
    #expect(shown.prefix(6) == [0, 1, 2, 4, 5, 6])
  }
  // end
}
