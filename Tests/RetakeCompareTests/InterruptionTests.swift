import RetakeCore
import Testing

@testable import RetakeCompare

/// Ctrl-C while one frame is compared: the long work asks for it, and ends at the first yes.
@Suite struct InterruptionTests {
  /// Says yes from the n-th question on.
  private final class Questions {
    private(set) var count = 0
    private let yesFrom: Int

    init(yesFrom: Int) { self.yesFrom = yesFrom }

    func ask() -> Bool {
      count += 1
      return count >= yesFrom
    }
  }

  @Test func `the distance of lines asks each time a number of steps is done`() {
    let line = Polyline([[0, 0], [9, 0], [9, 9]])
    let other = Polyline([[0, 1], [9, 1], [9, 8]])
    let (yes, no) = (Questions(yesFrom: 1), Questions(yesFrom: 2))
    #expect(line.distance(to: other, stepsMax: 1_000_001, isInterrupted: yes.ask) == nil)
    #expect(line.distance(to: other, stepsMax: 1_000_001, isInterrupted: no.ask) != nil)
    #expect(yes.count == 1 && no.count == 1)
  }

  @Test func `a large map asks between its numbers`() throws {
    let map = try #require(
      PixelArray(
        width: 2_048, height: 1_024, channels: 1, element: .uint8,
        bytes: [UInt8](repeating: 1, count: 1 << 21)))
    let questions = Questions(yesFrom: 2)
    let rule = SinkRule(mode: .pictures)
    #expect(
      MapDifference(golden: map, actual: map, rule, isInterrupted: questions.ask) == nil)
    #expect(questions.count == 2)
    #expect(MapDifference(golden: map, actual: map, rule)?.rms == 0)
  }

  @Test func `an image asks for each plane and each row of windows`() {
    let image = ImagePixels(width: 32, height: 32, planes: [[UInt8](repeating: 1, count: 1_024)])
    let questions = Questions(yesFrom: 5)
    #expect(
      ImageDifference(golden: image, actual: image, isInterrupted: questions.ask) == nil)
    #expect(questions.count == 5)
    #expect(ImageDifference(golden: image, actual: image)?.ssim == 1)
  }

  private func findings(_ isInterrupted: @escaping () -> Bool) throws -> [Finding] {
    func frames(_ y: Double) -> [FrameResult] {
      let line = Observation(.polyline(Polyline([[0, y], [9, y]])), label: "lane")
      return CompareSamples.frames([[.observation(line)], [.observation(line)]])
    }
    let header = CompareSamples.header()
    var comparator = ResultComparator(
      golden: header, actual: header, rules: CompareRules(), isInterrupted: isInterrupted)
    try comparator.compare(
      golden: CompareSamples.chunks(frames(0))[0], actual: CompareSamples.chunks(frames(5))[0])
    _ = comparator.finish()
    return comparator.log.findings
  }

  @Test func `no frame and no line is compared after the interruption`() throws {
    #expect(try findings { false }.count == 2)
    #expect(try findings { true }.isEmpty)
    // The block, the first frame and its line are asked for.
    #expect(try findings(Questions(yesFrom: 4).ask).count == 1)
  }
}
