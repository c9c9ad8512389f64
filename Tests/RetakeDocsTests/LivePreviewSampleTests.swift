import Foundation
import Retake
import RetakeTestSupport
import Testing

/// A camera that draws a frame whenever the window asks whether the camera has stopped. So frames
/// come as fast as they are shown, with no other thread and no clock.
private final class PolledCamera: AppCamera {
  /// Images after the first result. The thread that passes results to the window has to come to its
  /// turn once while they are drawn.
  private static let imagesAfterResult = 300
  /// Ends also if no result comes.
  private static let imagesMax = 100_000

  private let results: Locked<Int>
  private var onFrame: @Sendable (Frame) -> Void = { _ in }
  private var drawn = 0
  private var drawnSinceResult = 0

  init(results: Locked<Int>) { self.results = results }

  func onFrame(_ body: @escaping @Sendable (Frame) -> Void) { onFrame = body }

  var hasStopped: Bool {
    if results.withLock({ $0 }) > 0 { drawnSinceResult += 1 }
    guard drawnSinceResult < Self.imagesAfterResult, drawn < Self.imagesMax else { return true }
    let level = UInt8(drawn % 200)
    drawn += 1
    onFrame(
      Frame(
        format: .gray, width: 64, height: 48,
        planes: [[UInt8](repeating: level, count: 64 * 48)]))
    return false
  }
}

@Suite(.oneAtATime(.displays)) struct LivePreviewSampleTests {
  private static let variable = "RETAKE_PREVIEW_SAMPLE"
  private static let isChild = ProcessInfo.processInfo.environment[variable] != nil

  /// In a separate process, because the sample keeps the main thread, and the pool of Swift's tasks
  /// is full with other tests here.
  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `the sample of the page about previews shows results`() throws {
    let xvfb = try Xvfb()
    let result = try runTests(
      ["--testing-library", "swift-testing", "--filter", "PreviewSampleChild"],
      environment: [
        Self.variable: "1", "DISPLAY": xvfb.display, "WAYLAND_DISPLAY": nil,
        "SDL_VIDEODRIVER": nil,
      ])
    let said = result.stdout + result.stderr
    // A filter that finds no test passes, too.
    #expect(result.status == 0 && said.contains("with 1 test"), "\(said)")
  }

  @Suite(.enabled(if: isChild, "runs in a process of its own")) @MainActor
  struct PreviewSampleChild {
    @Test func `a result is drawn over a later image`() throws {
      let found = Locked(0)
      let values = Pipeline.named("finder").source(.session()).gray()
        .queue(capacity: 1, policy: .replace).luminance()
      let pipeline = Pipeline.combining(
        values.results("values"), values.sink("counted") { _ in found.withLock { $0 += 1 } })
      let figures = try showPreview(
        pipeline, tracks: [LiveTrack(format: .gray, width: 64, height: 48)],
        camera: PolledCamera(results: found))
      #expect(figures.shown > 0 && figures.resultAge != nil, "\(figures)")
    }
  }
}
