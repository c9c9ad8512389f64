import RetakeCore
import RetakeStages
import Testing

@testable import RetakePreview

@Suite struct PlayerStateTests {
  /// Ten frames per second for three seconds.
  private static let times = (0..<30).map { Int64($0) * 100_000_000 }

  private static func millisecond(_ number: Int64) -> Int64 { number * 1_000_000 }

  /// The frames that are shown at the given milliseconds of the clock.
  private func played(_ state: PlayerState, at milliseconds: [Int64]) -> [Int] {
    var state = state
    return milliseconds.map {
      state.tick(Self.millisecond($0))
      return state.index
    }
  }

  @Test func `frames come at their own pace`() {
    let state = PlayerState(times: Self.times)
    #expect(played(state, at: [5_000, 5_099, 5_100, 5_250, 5_999]) == [0, 0, 1, 2, 9])
  }

  @Test func `slow motion and haste go by the speed`() {
    let slow = PlayerState(times: Self.times, speed: 0.1)
    #expect(played(slow, at: [0, 999, 1_000, 2_000]) == [0, 0, 1, 2])
    let fast = PlayerState(times: Self.times, speed: 16)
    #expect(played(fast, at: [0, 100]) == [0, 16])
  }

  @Test func `play stops at the end and space begins again`() {
    var state = PlayerState(times: Self.times, first: 28)
    state.tick(0)
    state.tick(Self.millisecond(500))
    #expect(state.index == 29)
    #expect(state.isPaused)
    state.apply(.togglePause)
    #expect(state.index == 0)
    #expect(!state.isPaused)
  }

  @Test func `a pause holds the frame, and no time passes in it`() {
    var state = PlayerState(times: Self.times)
    state.tick(0)
    state.tick(Self.millisecond(250))
    state.apply(.togglePause)
    state.tick(Self.millisecond(9_000))
    #expect(state.index == 2)
    #expect(state.nextDue == nil)
    state.apply(.togglePause)
    state.tick(Self.millisecond(9_100))
    #expect(state.index == 3)
  }

  @Test func `steps pause and stay inside`() {
    var state = PlayerState(times: Self.times)
    state.apply(.stepBack)
    #expect(state.index == 0)
    #expect(state.isPaused)
    state.apply(.stepForward)
    state.apply(.stepForward)
    #expect(state.index == 2)
    state.apply(.end)
    state.apply(.stepForward)
    #expect(state.index == 29)
    state.apply(.home)
    #expect(state.index == 0)
  }

  @Test func `seeks go a second and play goes on from there`() {
    var state = PlayerState(times: Self.times)
    state.tick(0)
    state.apply(.seekForward)
    #expect(state.index == 10)
    state.tick(Self.millisecond(100))
    #expect(state.index == 11)
    state.apply(.seekBack)
    state.apply(.seekBack)
    #expect(state.index == 0)
  }

  @Test(arguments: [(0.0, 0), (0.5, 14), (1.0, 29), (-3.0, 0), (7.0, 29)])
  func `the bar goes to the frame at its place`(fraction: Double, index: Int) {
    var state = PlayerState(times: Self.times)
    state.apply(.scrub(fraction))
    #expect(state.index == index)
    #expect(abs(state.fraction - max(0, min(1, fraction))) < 0.04)
  }

  @Test func `speeds have a least and a most`() {
    var state = PlayerState(times: Self.times)
    for _ in 0..<9 { state.apply(.faster) }
    #expect(state.speed == 16)
    for _ in 0..<19 { state.apply(.slower) }
    #expect(state.speed == 0.1)
  }

  @Test func `the next frame is due when its time has come at this speed`() throws {
    var state = PlayerState(times: Self.times, speed: 2)
    state.tick(Self.millisecond(1_000))
    #expect(state.nextDue == Self.millisecond(1_050))
  }

  @Test func `two keys go to the uncertain frames and pause`() {
    var state = PlayerState(times: Self.times, uncertain: [3, 4, 20])
    func pressed(_ letter: Character) -> Int {
      PlayerKeys.command(.letter(letter)).map { state.apply($0) }
      return state.index
    }
    #expect("nnnnpppp".map(pressed) == [3, 4, 20, 20, 4, 3, 3, 3])
    #expect(state.isPaused)
    var plain = PlayerState(times: Self.times)
    plain.apply(.nextUncertain)
    #expect(plain.index == 0 && !plain.isPaused)
  }

  @Test func `one frame is both ends`() {
    var state = PlayerState(times: [7])
    state.tick(0)
    state.tick(1_000_000)
    for command in [PlayerState.Command.scrub(0.5), .seekForward, .stepBack, .togglePause] {
      state.apply(command)
    }
    #expect(state.index == 0)
    #expect(state.fraction == 0)
  }

  @Test func `equal and missing times are passed over`() {
    let state = PlayerState(times: [0, 0, 100_000_000, 5_000_000_000])
    #expect(played(state, at: [0, 1, 100, 4_999, 5_000]) == [0, 1, 2, 2, 3])
  }
}

@Suite struct DecisionMarksTests {
  private func marks() -> DecisionMarks {
    var marks = DecisionMarks(nodes: ["camera", "motion", "results"])
    let decisions: [(Int, String, DecisionKind)] = [
      (0, "motion", .start), (10, "motion", .drop), (20, "motion", .thin),
      (30, "motion", .deliver), (40, "results", .fail), (50, "motion", .start),
    ]
    for (time, node, kind) in decisions {
      marks.add(
        DecisionLine(
          time: Int64(time), node: node, frame: FrameID(track: 0, sequence: time), kind: kind))
    }
    return marks
  }

  @Test func `lanes are the nodes with marks, in the pipeline's order`() {
    let lanes = marks().lanes(from: 0, to: 100)
    #expect(lanes.map(\.node) == ["motion", "results"])
    #expect(lanes[0].marks.map(\.kind) == [.start, .drop, .thin, .start])
    #expect(lanes[1].marks == [.init(time: 40, kind: .fail)])
  }

  @Test func `only what lies between two times is told`() {
    let lanes = marks().lanes(from: 10, to: 40)
    #expect(lanes[0].marks.map(\.time) == [10, 20])
    #expect(marks().lanes(from: 60, to: 90).allSatisfy { $0.marks.isEmpty })
  }
}

/// The drawing over a frame if several sinks have results, each at its own pace.
@Suite struct PlayerContentTests {
  private func result(_ sequence: Int, _ outcomes: [(String, [ResultFact])]) -> PreviewResult {
    PreviewResult(
      id: FrameID(track: 0, sequence: sequence),
      timestamp: Timestamp(nanoseconds: Int64(sequence) * 1_000),
      outcomes: outcomes.map { SinkOutcome(sink: $0.0, content: .facts($0.1)) })
  }

  @Test func `uncertain frames are marked by their numbers`() throws {
    var content = try PlayerContent(
      try SyntheticScene(SyntheticOptions(scene: .figures, width: 16, height: 16, frames: 8)),
      name: "scene")
    #expect(content.uncertain.isEmpty)
    content.mark(uncertain: [6, 2, 99])
    #expect(content.uncertain == [2, 6])
  }

  @Test func `a sink's newest stays until it says something else, whatever others say`() throws {
    var content = try PlayerContent(
      try SyntheticScene(SyntheticOptions(scene: .figures, width: 16, height: 16, frames: 8)),
      name: "scene")
    let box = ResultFact.detection(
      Detection(box: Box(x: 1, y: 1, width: 2, height: 2), score: 1))
    let light = ResultFact.scalar(name: "mean", value: 7)
    content.add(
      results: [
        result(3, [("screen", []), ("light", [light])]), result(1, [("screen", [])]),
        result(2, [("screen", []), ("boxes", [box])]), result(5, [("screen", []), ("boxes", [])]),
      ], marks: DecisionMarks(nodes: []), originNanoseconds: 0)
    func facts(_ sequence: Int64) -> [ResultFact]? {
      content.result(at: sequence * 1_000)?.outcomes.flatMap { (outcome) -> [ResultFact] in
        if case .facts(let facts) = outcome.content { facts } else { [] }
      }
    }
    #expect(facts(1) == nil, "a screen says nothing")
    #expect(facts(2) == [box])
    #expect(facts(4) == [box, light])
    #expect(content.result(at: 4_000)?.id.sequence == 2, "named by the oldest")
    #expect(facts(6) == [light], "nothing was found any more")
    #expect(content.result(at: 6_000)?.id.sequence == 3)
  }
}
