import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Synchronization
import Testing

@testable import RetakePreview

/// A clock that does not advance until a test moves it.
final class ManualClock: LiveClock {
  private let now = Mutex(Int64(0))

  var monotonicNanoseconds: Int64 { now.withLock { $0 } }

  func anchor() -> WallAnchor {
    WallAnchor(
      monotonicNanoseconds: monotonicNanoseconds, unixNanoseconds: 0, bootNanoseconds: 0,
      uncertaintyNanoseconds: 0)
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) { go(to: deadline) }

  func go(to nanoseconds: Int64) { now.withLock { $0 = max($0, nanoseconds) } }
}

private func frame(_ sequence: Int, milliseconds: Int64 = 0, storage: FrameStorage? = nil) -> Frame
{
  var frame = Frame(
    id: FrameID(track: 0, sequence: sequence),
    timestamp: Timestamp(nanoseconds: milliseconds * 1_000_000), format: .gray, width: 2, height: 2,
    planes: [[1, 2, 3, 4]])
  if let storage {
    frame = Frame(
      id: frame.id, timestamp: frame.timestamp, format: .gray, width: 2, height: 2,
      storage: storage)
  }
  return frame
}

private func result(_ sequence: Int, milliseconds: Int64) -> PreviewResult {
  PreviewResult(
    id: FrameID(track: 0, sequence: sequence),
    timestamp: Timestamp(nanoseconds: milliseconds * 1_000_000),
    outcomes: [SinkOutcome(sink: "found", content: .facts([.scalar(name: "n", value: 1)]))])
}

/// The result of a feed for a timeline: one character per millisecond.
///
/// `f` offers a frame, `t` removes a frame to draw it, `p` presents it; `2` offers and removes. The
/// result has `a` for an accepted frame, `x` for a dropped frame, `-` for everything else.
private func answers(_ timeline: String) -> (answers: String, figures: WindowFigures) {
  let clock = ManualClock()
  let feed = PreviewFeed(clock: clock)
  var drawing: PreviewFeed.Image?
  var sequence = 0
  var text = ""
  for (millisecond, letter) in timeline.enumerated() {
    clock.go(to: Int64(millisecond) * 1_000_000)
    switch letter {
    case "f":
      text += feed.offer(frame(sequence, milliseconds: Int64(millisecond))) ? "a" : "x"
      sequence += 1
    case "t":
      drawing = feed.take()
      text += drawing == nil ? "!" : "-"
    case "p":
      if let drawing { feed.presented(drawing) }
      text += "-"
    default: text += "-"
    }
  }
  return (text, feed.figures)
}

@Suite struct FeedTests {
  @Test(arguments: [
    // No frame is drawn: two are kept.
    ("ffff-f", "aaxx-x"),
    // A frame is drawn, another waits, the third is dropped. When the first is finished, the next
    // frame is accepted.
    ("ftffpf", "a-ax-a"),
    // As fast as they are offered.
    ("ftp-ftp-ftp", "a---a---a--"),
  ])
  func `a third frame is dropped and never queued`(timeline: String, wanted: String) {
    let (answers, figures) = answers(timeline)
    #expect(answers == wanted)
    #expect(
      figures.offered == figures.shown + figures.dropped + figures.throttled + figures.waiting)
  }

  @Test func `dropped frames are listed by their number`() {
    let figures = answers("ffff").figures
    #expect(figures.droppedSequences == [2, 3])
    #expect((figures.offered, figures.dropped, figures.waiting) == (4, 2, 2))
  }

  @Test func `a source with three buffers always has one to fill`() throws {
    let clock = ManualClock()
    let feed = PreviewFeed(clock: clock)
    let held = Locked(0)
    let most = Locked(0)
    func offer(_ sequence: Int) {
      let count = held.withLock { held -> Int in
        held += 1
        return held
      }
      most.withLock { $0 = max($0, count) }
      let storage = FrameStorage(planes: frame(0).storage.planes) { held.withLock { $0 -= 1 } }
      feed.offer(frame(sequence, storage: storage))
    }
    // The window hangs with the first frame, then draws every fourth.
    offer(0)
    var hung = feed.take()
    for sequence in 1..<20 { offer(sequence) }
    #expect(held.withLock { $0 } == 2)
    if let first = hung.take() { feed.presented(first) }
    for sequence in 20..<60 {
      offer(sequence)
      if sequence % 4 == 0, let picture = feed.take() { feed.presented(picture) }
    }
    #expect(most.withLock { $0 } == 3)
  }

  @Test func `the newest frame's result is shown and its age is known`() throws {
    let feed = PreviewFeed(clock: ManualClock())
    feed.show(result(4, milliseconds: 400))
    feed.show(result(2, milliseconds: 200))
    feed.offer(frame(9, milliseconds: 900))
    let picture = try #require(feed.take())
    #expect(picture.result?.id.sequence == 4)
    #expect(picture.resultAgeNanoseconds == 500_000_000)
    feed.presented(picture)
    #expect(feed.figures.resultAge?.mostNanoseconds == 500_000_000)
  }

  @Test func `a result without facts leaves the one before`() throws {
    let feed = PreviewFeed(clock: ManualClock())
    feed.show(result(1, milliseconds: 100))
    feed.show(
      PreviewResult(
        id: FrameID(track: 0, sequence: 2), timestamp: Timestamp(nanoseconds: 200_000_000),
        outcomes: [SinkOutcome(sink: "found", content: .ended(.dropped(.queue), node: "slow"))]))
    feed.offer(frame(3, milliseconds: 300))
    #expect(try #require(feed.take()).result?.id.sequence == 1)
  }

  @Test func `heat halves sixty frames a second and cooling brings them back`() {
    let clock = ManualClock()
    let feed = PreviewFeed(clock: clock)
    func shown(_ range: Range<Int64>) -> Int {
      range.count { number in
        clock.go(to: number * 1_000_000_000 / 60)
        guard feed.offer(frame(Int(number))), let picture = feed.take() else { return false }
        feed.presented(picture)
        return true
      }
    }
    #expect(shown(0..<60) == 60)
    feed.note(.thermal(.serious))
    #expect(shown(60..<120) == 30)
    feed.note(.thermal(.nominal))
    #expect(shown(120..<180) == 60)
    #expect(feed.figures.throttled == 30)
    #expect(feed.figures.dropped == 0)
  }

  @Test func `figures are what the clock said`() throws {
    let clock = ManualClock()
    let feed = PreviewFeed(clock: clock)
    // Offered at 0, 10, 20 ms; shown 3, 4 and 9 ms later; drawing lasts 2 ms.
    for (number, late) in [3, 4, 9].enumerated() {
      clock.go(to: Int64(number) * 10_000_000)
      feed.offer(frame(number, milliseconds: Int64(number) * 10))
      clock.go(to: (Int64(number) * 10 + Int64(late) - 2) * 1_000_000)
      let picture = try #require(feed.take())
      clock.go(to: (Int64(number) * 10 + Int64(late)) * 1_000_000)
      feed.presented(picture)
    }
    let figures = feed.figures
    #expect(
      figures.jitter
        == .init(
          medianNanoseconds: 1_000_000, p99Nanoseconds: 5_000_000, mostNanoseconds: 5_000_000))
    #expect(figures.render?.mostNanoseconds == 2_000_000)
    #expect(
      figures.latency
        == .init(
          medianNanoseconds: 4_000_000, p99Nanoseconds: 9_000_000, mostNanoseconds: 9_000_000))
  }

  @Test func `a closed feed takes nothing and lets go of what waits`() {
    let feed = PreviewFeed(clock: ManualClock())
    feed.offer(frame(0))
    feed.close()
    #expect(feed.take().map(\.frame.id) == nil)
    #expect(!feed.offer(frame(1)))
    #expect(feed.figures.waiting == 1)
  }

  @Test func `many threads offer while one draws, and every frame is accounted for`() {
    let feed = PreviewFeed()
    let isDone = Locked(false)
    DispatchQueue.concurrentPerform(iterations: 4) { worker in
      if worker == 0 {
        // Ends: when the others are finished.
        while !isDone.withLock({ $0 }) {
          if let picture = feed.take() { feed.presented(picture) }
        }
      } else {
        for sequence in 0..<2_000 { feed.offer(frame(worker * 10_000 + sequence)) }
        if feed.figures.offered == 6_000 { isDone.withLock { $0 = true } }
      }
    }
    let figures = feed.figures
    #expect(figures.offered == 6_000)
    #expect(figures.offered == figures.shown + figures.dropped + figures.waiting)
  }

  @Test func `samples of a long run stay bounded and keep their spread`() throws {
    var samples = FigureSamples()
    let count = FigureSamples.countMax * 3
    for value in 0..<count { samples.add(Int64(value)) }
    #expect(samples.values.count <= FigureSamples.countMax)
    let spread = try #require(samples.spread)
    #expect(spread.mostNanoseconds == Int64(count - 1))
    #expect(abs(spread.medianNanoseconds - Int64(count / 2)) < 8)
  }
}

/// A window that draws for 17 ms drops the same frames as the model: `retake bench preview`.
@Suite struct LateDrawingTests {
  @Test func `drawing that takes 17 ms drops one frame in 51, exactly those that the model drops`()
  {
    let clock = ManualClock()
    let feed = PreviewFeed(clock: clock)
    var drawing: (picture: PreviewFeed.Image, end: Int64)?
    for sequence in 0..<600 {
      let arrival = Int64(sequence) * 1_000_000_000 / 60
      while let (picture, end) = drawing, end <= arrival {
        clock.go(to: end)
        feed.presented(picture)
        drawing = feed.take().map { ($0, end + 17_000_000) }
      }
      clock.go(to: arrival)
      feed.offer(frame(sequence, milliseconds: arrival / 1_000_000))
      if drawing == nil { drawing = feed.take().map { ($0, arrival + 17_000_000) } }
    }
    #expect(
      feed.figures.droppedSequences == [52, 103, 154, 205, 256, 307, 358, 409, 460, 511, 562])
  }
}
