import CameraModel
import Foundation
import RetakeClock
import Testing

/// The model of the screen, in virtual time: six seconds in a few milliseconds, and always the same.
@Suite struct CameraModelTests {
  /// Each frame with its instant, in milliseconds.
  private let frames = [(0, 0), (1, 100), (2, 200), (3, 300), (4, 1_000), (5, 1_100), (6, 2_000)]

  /// Names the face of frame 3 after 150 ms, and that of frame 5 after an hour.
  private func trace() async throws -> String {
    let frames = frames
    return try await withVirtualTime { time in
      let clock = time.clock
      let model = CameraModel(clock: clock) { frame in
        try await clock.sleep(for: frame == 3 ? .milliseconds(150) : .seconds(3_000))
        return "Ada"
      }
      let stream = time.frames(frames.map(\.0), at: frames.map { .milliseconds(Int64($0.1)) })
      let reading = Task(name: "model") { await model.read(stream) }
      var lines: [String] = []
      var seen = 0
      // Ends: when nothing is due any more.
      while let now = await time.runToNextEvent() {
        let shown = await model.shown
        lines += shown[seen...].map { "\(now) \($0)" }
        seen = shown.count
      }
      await reading.value
      return lines.map { $0 + "\n" }.joined()
    }
  }

  @Test func `the screen shows what the golden trace says`() async throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "trace.txt")
    #expect(try await trace() == String(contentsOf: file, encoding: .utf8))
  }

  @Test func `every run has the same trace`() async throws {
    let first = try await trace()
    for _ in 0..<200 { #expect(try await trace() == first) }
  }

  @Test func `a model that is left waiting is named`() async throws {
    await #expect {
      try await withVirtualTime { time in
        let clock = time.clock.named("settling")
        let model = CameraModel(clock: clock) { _ in "Ada" }
        let stream = time.frames([1], at: [.zero])
        Task { await model.read(stream) }
        await time.run(until: .milliseconds(400))
      }
    } throws: {
      "\($0)".hasPrefix("1 sleep never woke before the scope ended at 400ms: settling: 500ms")
    }
  }
}
