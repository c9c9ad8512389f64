import RetakeCore
import Testing

@testable import RetakeRuntime

@Suite struct HangDetectorTests {
  /// Whether each check finds a hang, by the number of the activity; 0 is an activity that cannot
  /// hang.
  private func hangs(_ turns: [UInt64], _ detector: inout HangDetector) -> [Bool] {
    turns.map {
      detector.hangs(RunWatch.Sight(activity: $0 == 0 ? .free : .stopping, turn: $0))
    }
  }

  @Test func `the same thing seen four times again hangs`() {
    var detector = HangDetector()
    #expect(hangs([7, 7, 7, 7, 7], &detector) == [false, false, false, false, true])
  }

  @Test func `what goes on does not hang, however long it takes`() {
    var detector = HangDetector()
    let found = hangs([1, 1, 1, 1, 2, 2, 2, 2, 0, 2, 2, 2, 2, 0, 0, 0, 0, 0], &detector)
    #expect(!found.contains(true))
  }

  @Test func `a long wait for one body after the other is no hang`() {
    var detector = HangDetector()
    let found = (0..<40).map { look in
      let body = WatchedBody(node: 1, frame: FrameID(track: 0, sequence: 0), item: look / 4)
      return detector.hangs(RunWatch.Sight(activity: .waiting(body), turn: 1))
    }
    #expect(!found.contains(true))
  }

  @Test func `what hangs after that is given up at once`() {
    var detector = HangDetector()
    _ = hangs([1, 1, 1, 1, 1], &detector)
    #expect(hangs([2, 2], &detector) == [false, true])
  }
}
