import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakePreview

/// An alarm of drops, by the times of the frames.
@Suite struct AlarmTests {
  /// The changes of the alarm on a timeline: one character is a frame, 50 ms after the frame
  /// before. `.` was shown, `x` was dropped. The answer has `B` where an alarm begins, `E` where it
  /// ends.
  private func answers(_ timeline: String) -> String {
    var machine = DropAlarmStateMachine(DropAlarmRule())
    return timeline.enumerated().map { number, letter -> String in
      let change = machine.offered(isDropped: letter == "x", at: 7 + Int64(number) * 50_000_000)
      return change.map { $0.hasEnded ? "E" : "B" } ?? "-"
    }.joined()
  }

  private func fold(_ parts: (String, Int)...) -> String {
    parts.map { String(repeating: $0.0, count: $0.1) }.joined()
  }

  @Test func `one drop and one hiccup are no alarm, however many frames it costs`() {
    #expect(!answers(fold((".", 40), ("x", 1), (".", 60))).contains("B"))
    // Half a second without an image.
    #expect(!answers(fold((".", 60), ("x", 10), (".", 60))).contains("B"))
    // A window that opens slowly.
    #expect(!answers(fold(("x", 10), (".", 60))).contains("B"))
  }

  @Test func `drops that last begin one alarm and end it, each once`() {
    let timeline = fold((".", 40), ("..x.", 30), (".", 60))
    let answer = answers(timeline)
    #expect(answer.count { $0 == "B" } == 1)
    #expect(answer.count { $0 == "E" } == 1)
    // In the third quarter of a span of 40 frames; it ends a span after the last drop.
    #expect(answer.distance(from: answer.startIndex, to: answer.firstIndex(of: "B")!) == 62)
    #expect(answer.distance(from: answer.startIndex, to: answer.firstIndex(of: "E")!) == 198)
  }

  @Test func `an alarm does not end and begin again while drops become fewer and more`() {
    // Between the share at which an alarm begins, 5 percent, and that at which it ends, 1 percent.
    let timeline = fold(("..x.", 40), ("...................x", 3), ("..x.", 40))
    #expect(answers(timeline).filter { $0 != "-" } == "B")
    // Without the difference it would have ended in between.
    #expect(answers(fold(("..x.", 40), (".", 60), ("..x.", 40))).filter { $0 != "-" } == "BEB")
  }

  @Test func `a pause of the camera leaves no drops behind`() {
    var machine = DropAlarmStateMachine(DropAlarmRule())
    var ends: [Bool] = []
    for number in 0..<40 {
      let change = machine.offered(isDropped: number % 2 == 0, at: Int64(number) * 50_000_000)
      if let change { ends.append(change.hasEnded) }
    }
    #expect(ends == [false])
    let change = machine.offered(isDropped: false, at: 100_000_000_000)
    #expect(change?.hasEnded == true)
    #expect(change?.counts.offered == 41)
  }

  @Test func `an alarm says what the device and the vision do then`() throws {
    let clock = ManualClock()
    let alarms = Locked<[DropAlarm]>([])
    let feed = PreviewFeed(clock: clock) { alarm in alarms.withLock { $0.append(alarm) } }
    feed.note(.thermal(.serious))
    feed.note(.memory(.warning))
    for number in 0..<200 {
      let now = Int64(number) * 50_000_000
      clock.go(to: now)
      // The window hangs with two frames from the 20th on, and is there again from the 100th on.
      if !(20..<100).contains(number), let picture = feed.take() { feed.presented(picture) }
      if !(20..<100).contains(number), let picture = feed.take() { feed.presented(picture) }
      var frame = Frame(format: .gray, width: 2, height: 2, planes: [[1, 2, 3, 4]])
      frame.id = FrameID(track: 0, sequence: number)
      frame.timestamp = Timestamp(nanoseconds: now)
      feed.offer(frame)
      guard number % 10 == 0 else { continue }
      feed.show(
        PreviewResult(
          id: frame.id, timestamp: frame.timestamp,
          outcomes: [SinkOutcome(sink: "found", content: .facts([.scalar(name: "n", value: 1)]))]))
    }
    let told = alarms.withLock { $0 }
    #expect(told.map(\.hasEnded) == [false, true])
    let began = try #require(told.first)
    #expect((began.thermal, began.memory) == (.serious, .warning))
    #expect(began.results > 0)
    #expect(began.resultAgeNanoseconds != nil)
    #expect(
      began.description.hasPrefix(
        "the preview drops frames: \(began.dropped) of \(began.offered) in"))
    #expect(began.description.contains("device: serious heat, warning memory; vision: "))
    #expect(feed.figures.alarms == 1)
    #expect(try #require(told.last).description.hasPrefix("the preview shows its frames again"))
  }

  @Test func `what is throttled because of the heat is no drop`() {
    let clock = ManualClock()
    let alarms = Locked<[DropAlarm]>([])
    let feed = PreviewFeed(clock: clock) { alarm in alarms.withLock { $0.append(alarm) } }
    feed.note(.thermal(.serious))
    for number in 0..<600 {
      clock.go(to: Int64(number) * 1_000_000_000 / 60)
      feed.offer(Frame(format: .gray, width: 2, height: 2, planes: [[1, 2, 3, 4]]))
      if let picture = feed.take() { feed.presented(picture) }
    }
    #expect(feed.figures.throttled == 300)
    #expect(alarms.withLock { $0.isEmpty })
  }
}
