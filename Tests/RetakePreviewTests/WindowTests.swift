import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakePreview

/// The display that SDL looks up in this process's environment.
///
/// Other tests read the environment at the same time. So the name is added once and never removed,
/// and a new value replaces the old one: the list that others read is not moved.
enum TestDisplay {
  static func set(_ display: String) { setenv("DISPLAY", display, 1) }
}

enum TestWindow {
  /// Whether there is an OpenGL for windows of X11.
  static let hasOpenGL = dlopen("libGL.so.1", RTLD_LAZY) != nil

  /// A square window.
  static func open(_ driver: String, side: Int) throws -> Canvas {
    var wanted = Canvas.Window(title: "colours", width: side, height: side)
    wanted.waitsForScreen = false
    wanted.driver = driver
    let canvas = try Canvas.window(wanted)
    try #require(canvas.renderer.name == driver, "\(canvas.renderer)")
    return canvas
  }
}

/// Real windows, on a display that Xvfb provides. Without Xvfb these tests are skipped, and say so.
extension SDLTests {
  @Suite(
    .oneAtATime(.displays),
    .enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  final class WindowTests {
    private let xvfb: Xvfb

    init() throws {
      xvfb = try Xvfb()
      TestDisplay.set(xvfb.display)
    }

    deinit { TestDisplay.set("") }

    @Test func `a window without OpenGL shows the colors that swscale gives`() throws {
      let canvas = try TestWindow.open("software", side: Fields.side)
      for kind in SDLTests.PixelTests.kinds {
        let frame = Fields.frame(kind.format, range: kind.range, matrix: kind.matrix)
        let seen = try Shown.picture(of: frame, on: canvas)
        canvas.painter.present()
        let scaled = try MediaScaler().scale(Fields.colored(frame), format: .bgra)
        let levels = Fields.difference(seen, scaled)
        #expect(levels <= SDLTests.PixelTests.levelsMax, "\(kind.testDescription)")
      }
    }

    private func content() throws -> PlayerContent {
      let scene = try SyntheticScene(
        SyntheticOptions(scene: .figures, width: 320, height: 240, fps: 30, frames: 40))
      var content = try PlayerContent(scene, name: "figures")
      var marks = DecisionMarks(nodes: ["motion", "boxes"])
      for number in 0..<40 {
        marks.add(
          DecisionLine(
            time: Int64(number) * 33_333_333, node: "motion",
            frame: FrameID(track: 0, sequence: number), kind: number % 3 == 0 ? .drop : .start))
      }
      let results = [6, 12].map { number in
        PreviewResult(
          id: FrameID(track: 0, sequence: number),
          timestamp: Timestamp(nanoseconds: Int64(number) * 33_333_333),
          outcomes: [
            SinkOutcome(
              sink: "boxes",
              content: .facts([
                .detection(
                  Detection(box: Box(x: 40, y: 60, width: 80, height: 90), score: 0.9))
              ]))
          ], classNames: [["figure"]])
      }
      content.add(results: results, marks: marks, originNanoseconds: 0)
      return content
    }

    @Test func `a player shows the frame that was asked for as it is drawn without a window`()
      throws
    {
      let folder = try TemporaryFolder("retake-view")
      let file = folder.file("window.png").path
      let content = try content()
      var options = PlayerOptions()
      (options.first, options.framesMax, options.screenshot) = (20, 1, file)
      let report = try SessionPlayer(content, options: options).run()
      #expect(report.shown == 1)

      let seen = try MediaImage.read(file: file)
      // The image has its own size; left and right of it is the window's background.
      let left = (seen.width - 320) / 2
      let frame = try MediaScaler().scale(
        content.reader.frame(content.entries[20].id), format: .bgra)
      let result = try #require(content.result(at: content.entries[20].timestamp))
      #expect(result.id.sequence == 12)
      let age = content.entries[20].timestamp - result.timestamp.nanoseconds
      let shapes = ResultShapes(
        fit: ImageFit(frame, in: CanvasRect(0, 0, frame.width, frame.height))
      ).shapes(of: result, ageNanoseconds: age)
      let wanted = frame.drawing(shapes).bytes(of: 0)
      let pixels = seen.bytes(of: 0)
      var far = 0
      for y in 0..<240 {
        for x in 0..<320 {
          for color in 0..<3 {
            let one = Int(pixels[(y * seen.width + left + x) * 3 + color])
            let other = Int(wanted[(y * 320 + x) * 4 + 2 - color])
            if abs(one - other) > 24 { far += 1 }
          }
        }
      }
      // Each renderer interpolates chroma between two colors in its own way.
      #expect(far < 320 * 240 * 3 / 50)
    }

    @Test func `a player plays so many frames and ends`() throws {
      var options = PlayerOptions()
      (options.framesMax, options.speed) = (12, 16)
      let report = try SessionPlayer(try content(), options: options).run()
      #expect(report.shown == 12 || report.shown + report.skipped == 40)
      #expect(!report.renderer.isEmpty)
    }

    @Test func `a frame without pixels is said to have none`() throws {
      let scene = try SyntheticScene(
        SyntheticOptions(scene: .figures, width: 320, height: 240, fps: 30, frames: 8))
      let folder = try TemporaryFolder("retake-view")
      var options = PlayerOptions()
      options.framesMax = 1
      let pictures = try [2, 3].map { first -> [UInt8] in
        options.first = first
        options.screenshot = folder.file("\(first).png").path
        let content = try PlayerContent(ShedFrame(frames: scene, shed: 3), name: "shed")
        let report = try SessionPlayer(content, options: options).run()
        #expect((report.shown, report.withoutImage) == (first == 2 ? (1, 0) : (0, 1)))
        return try MediaImage.read(file: folder.file("\(first).png").path).bytes(of: 0)
      }
      // Yellow text on the empty background, and no text on the image.
      func hasWarning(_ bytes: [UInt8]) -> Bool {
        stride(from: 0, to: bytes.count, by: 3).contains { bytes[$0..<$0 + 3] == [240, 228, 66] }
      }
      #expect(pictures.map(hasWarning) == [false, true])
    }

    @Test func `a live window shows what is offered and every frame is accounted for`() throws {
      let feed = PreviewFeed()
      let preview = try LivePreview(feed, title: "live", waitsForScreen: false)
      let scene = try SyntheticScene(
        SyntheticOptions(scene: .figures, width: 160, height: 120, fps: 30, frames: 8))
      let frames = try (0..<8).map { try scene.frame(FrameID(track: 0, sequence: $0)) }
      let thread = try NamedThread("offers") {
        let (clock, condition) = (WallClock(), ThreadCondition())
        let limit = clock.monotonicNanoseconds + 600_000_000_000
        var number = 0
        // Ends: enough frames were shown, or something is stuck.
        while feed.counts.shown < 20, clock.monotonicNanoseconds < limit {
          feed.offer(frames[number % frames.count])
          number += 1
          clock.wait(untilNanoseconds: clock.monotonicNanoseconds + 500_000, or: condition)
        }
        feed.close()
      }
      let isClosed = try preview.run { false }
      thread.join()
      #expect(!isClosed)
      let figures = feed.figures
      #expect(figures.shown >= 20)
      #expect(figures.offered == figures.shown + figures.dropped + figures.waiting)
    }

    @Test(arguments: [false, true])
    func `a trial measures a preview beside a slow detector`(copies: Bool) throws {
      var trial = WindowTrial()
      (trial.seconds, trial.width, trial.height) = (4, 160, 120)
      (trial.copies, trial.waitsForScreen) = (copies, false)
      let report = try trial.run()
      #expect(report.preview.offered <= 240)
      #expect(report.preview.shown > 0)
      #expect(report.visionDelivered > 0)
      #expect(report.preview.jitter != nil || report.preview.shown < 2)
    }
  }

  /// A reader without pixels for one frame.
  private struct ShedFrame: FrameReader {
    var frames: SyntheticScene
    var shed: Int

    var tracks: [TrackDescription] { frames.tracks }
    func chain(of id: FrameID) -> Int { frames.chain(of: id) }

    func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
      frames.entries(of: track, sequences: sequences).map {
        var entry = $0
        entry.isPayloadMissing = entry.id.sequence == shed
        return entry
      }
    }

    func frame(_ id: FrameID) throws -> Frame {
      guard id.sequence != shed else { throw StagesError.noSuchFrame(id, count: 0) }
      return try frames.frame(id)
    }
  }

  @Suite struct NoDisplayTests {
    @Test func `without a display the error says what to type`() throws {
      TestDisplay.set("")
      let error = #expect(throws: PreviewError.self) {
        _ = try Canvas.window(Canvas.Window(title: "none", width: 64, height: 64))
      }
      #expect(error?.code == "preview.display.none")
      #expect(error?.advice?.contains("xvfb-run") == true)
    }
  }
}
