import Retake
import RetakePreview
import Testing

/// The published samples of double-buffered previews.
///
/// Differs: `PreviewFeed` has the semaphore and the two buffers in it. `LivePreview` is a window that
/// draws from such a feed; here the tests are the renderer, and need no display.
@Suite struct DoubleBufferedPreview {
  private func pixelBuffer(_ sequence: Int) -> Frame {
    Frame(
      id: FrameID(track: 0, sequence: sequence),
      timestamp: Timestamp(nanoseconds: Int64(sequence) * 16_666_667), format: .gray, width: 64,
      height: 48, planes: [[UInt8](repeating: UInt8(sequence), count: 64 * 48)])
  }

  @Test func `the callback drops the third frame, and the render loop draws the others`() {
    let feed = PreviewFeed()
    // captureOutput(_:didOutput:from:)
    #expect((0..<3).map { feed.offer(pixelBuffer($0)) } == [true, true, false])
    // renderFrame(_:)
    var rendered: [Int] = []
    while let picture = feed.take() {
      rendered.append(picture.frame.id.sequence)
      feed.presented(picture)
    }
    #expect(rendered == [0, 1] && feed.figures.dropped == 1)
  }

  @Test func `vision runs beside it, and its latest result is drawn`() async throws {
    let pipeline = Pipeline.named("vision").source(.session())
      .luminance().queue(capacity: 1, policy: .replace).results("light")
    let tracks = [LiveTrack(format: .gray, width: 64, height: 48)]
    let (feed, places) = (PreviewFeed(), ResultPlaces(pipeline, tracks: tracks))
    let vision = try LiveSession(pipeline, tracks: tracks, catalog: StageRegistry.builtIn)
    // visionQueue.async { … updateOverlay(with: result) }
    let updating = Task.detached {
      for await result in vision.results { feed.show(places.result(result)) }
    }
    vision.push(pixelBuffer(1))
    _ = try await vision.stop()
    await updating.value
    feed.offer(pixelBuffer(2))
    let picture = try #require(feed.take())
    #expect(picture.result != nil)
    feed.presented(picture)
  }
}
