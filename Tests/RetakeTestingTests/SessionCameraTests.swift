import Foundation
import Retake
import RetakeClock
import Testing

@testable import RetakeTesting

@Suite(.retake()) struct SessionCameraTests {
  private struct Arrival: Hashable, Sendable {
    var frame: FrameID
    var nanoseconds: Int64
  }

  /// When the engine sees each frame arrive.
  private final class Arrivals: RunObserver {
    private(set) var list: [Arrival] = []

    func finished(_ frame: FinishedFrame) {
      list.append(Arrival(frame: frame.entry.id, nanoseconds: frame.arrivalNanoseconds))
    }
  }

  private func engine(_ session: String) throws -> [Arrival] {
    let scope = try #require(ReplayScope.current)
    let arrivals = Arrivals()
    let pipeline = Pipeline.named("arrivals").source(.session()).gray().luminance().results()
    _ = try scope.hosted.replay(
      session, pipeline, options: RunOptions(mode: .simulate), observers: [arrivals])
    return arrivals.list
  }

  @Test(arguments: ["figures", "pulse"])
  func `frames arrive at the nanosecond at which the engine sees them`(session: String) async throws
  {
    let engine = try engine(session)
    let seen = try await withVirtualTime { time in
      var seen: [Arrival] = []
      for try await frame in try time.camera(session: session) {
        seen.append(Arrival(frame: frame.id, nanoseconds: time.now.nanoseconds))
      }
      return seen
    }
    #expect(engine.count > 50)
    #expect(seen == engine)
  }

  @Test func `a slow reader that keeps the newest frame loses the same ones each time`()
    async throws
  {
    func shown() async throws -> [Int] {
      try await withVirtualTime { time in
        var shown: [Int] = []
        for try await frame in try time.camera(
          session: "figures", buffering: .bufferingNewest(1))
        {
          shown.append(frame.id.sequence)
          try await time.clock.sleep(for: .milliseconds(45))
        }
        return shown
      }
    }
    let (first, all) = (try await shown(), try engine("figures"))
    #expect(first.count > 25 && first.count < all.count)
    for _ in 0..<5 {
      let again = try await shown()
      #expect(again == first)
    }
  }

  @Test func `the pixels are those of the session`() async throws {
    let scope = try #require(ReplayScope.current)
    let (reader, arrivals) = try scope.hosted.arrivals(of: "figures", track: 0)
    let digest = try await withVirtualTime { time -> Digest128? in
      for try await frame in try time.camera(session: "figures") where frame.id.sequence == 7 {
        return frame.frame.digest
      }
      return nil
    }
    let expected = try reader.frame(arrivals[7].entry.id).digest
    #expect(digest == expected)
  }

  @Test func `a session and a track that do not exist are named`() async throws {
    await #expect(throws: SuiteError.self) {
      try await withVirtualTime { time in _ = try time.camera(session: "ghost") }
    }
    let error = await #expect(throws: SuiteError.self) {
      try await withVirtualTime { time in _ = try time.camera(session: "figures", track: 4) }
    }
    #expect(error?.message == "the session 'figures' has no track 4")
    #expect(error?.advice == "It has track 0")
  }

  @Test func `without a project the error says what to write`() async {
    let error = await ReplayScope.$current.withValue(nil) {
      await #expect(throws: NoReplayTrait.self) {
        try await withVirtualTime { time in _ = try time.camera(session: "figures") }
      }
    }
    #expect(error?.description.contains("@Suite(.retake())") == true)
  }
}
