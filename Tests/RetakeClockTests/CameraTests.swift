import RetakeClock
import Testing

/// Streams whose elements arrive at given instants.
@Suite struct CameraTests {
  @Test func `elements arrive at their instants`() async throws {
    let lines = try await withVirtualTime { time in
      let clock = time.clock
      let trace = Trace { clock.now.description }
      let instants = [0, 33_333_333, 66_666_667, 66_666_667].map(VirtualClock.Instant.init)
      for await frame in time.frames(["a", "b", "c", "d"], at: instants) { trace.add(frame) }
      trace.add("end")
      return trace.lines
    }
    #expect(
      lines == [
        "a @ 0s", "b @ 33.333333ms", "c @ 66.666667ms", "d @ 66.666667ms", "end @ 66.666667ms",
      ])
  }

  @Test func `the newest element waits for a slow reader`() async throws {
    let read = try await withVirtualTime { time in
      let frames = time.frames(
        [0, 1, 2, 3, 4], at: (0..<5).map { .milliseconds($0 * 10) }, buffering: .bufferingNewest(1))
      var read: [Int] = []
      for await frame in frames {
        read.append(frame)
        try await time.clock.sleep(for: .milliseconds(25))
      }
      return read
    }
    #expect(read == [0, 2, 4])
  }

  @Test func `a stream ends with its scope, and so do those who read it`() async throws {
    let trace = Trace()
    try await withVirtualTime(limits: VirtualTimeLimits(patience: .zero)) { time in
      let frames = time.frames([0, 1, 2], at: (0..<3).map { .milliseconds($0 * 10) })
      Task {
        for await frame in frames { trace.add("\(frame)") }
        trace.add("end")
      }
      await time.run(until: .milliseconds(15))
    }
    #expect(trace.lines == ["0", "1", "end"])
  }

  @Test func `a stream that no one reads any more delivers nothing`() async throws {
    try await withVirtualTime { time in
      for await _ in time.frames([0, 1, 2], at: (0..<3).map { .milliseconds($0 * 10) }) { break }
      #expect(await time.runToNextEvent() == .milliseconds(10))
      #expect(await time.runToNextEvent() == nil)
    }
  }

  @Test func `elements of the past and of no one arrive at once`() async throws {
    try await withVirtualTime { time in
      await time.run(until: .seconds(1))
      var read: [String] = []
      for await frame in time.frames(["late"], at: [.zero]) { read.append("\(frame) \(time.now)") }
      for await _ in time.frames([Int](), at: []) { read.append("none") }
      #expect(read == ["late 1s"])
    }
  }
}
