import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages
import RetakeTestSupport
import Testing

/// Keeps the detections that reached the sink.
private final class Found: RunObserver {
  private(set) var frames: [[Detection]] = []

  func finished(_ frame: FinishedFrame) {
    guard case .facts(let facts)? = frame.result.outcomes.first?.content else {
      frames.append([])
      return
    }
    frames.append(
      facts.compactMap { fact in
        guard case .detection(let detection) = fact else { return nil }
        return detection
      })
  }
}

/// The example pipelines compared with loops that call the stages one after another, without an
/// engine.
@Suite struct ExampleRunTests {
  private func frames(of session: SessionReader) -> [FrameID] {
    guard let track = session.tracks.first else { return [] }
    return (0..<track.frameCount).map { FrameID(track: track.track, sequence: $0) }
  }

  private func context(_ id: FrameID) -> StageContext {
    StageContext(frame: id, timestamp: .zero)
  }

  /// The moving objects in each frame, with their colors.
  private func motionClasses(_ session: SessionReader) throws -> [[Detection]] {
    let downsample = try Downsample(options: DownsampleOptions(width: 640, height: 480))
    var motion = try Motion(options: MotionOptions())
    let crop = try RegionCrop(options: RegionCropOptions(padding: 0.2))
    let resize = try Resize(options: ResizeOptions(width: 224, height: 224))
    let color = try MeanColor(options: MeanColorOptions(top: 1))
    return try frames(of: session).map { id in
      let frame = downsample.process(try session.frame(id), context(id))
      return try motion.process(frame, context(id)).items.map { detection in
        var detection = detection
        let region = Region(frame: frame, detection: detection)
        let cut = resize.process(try crop.process(region, context(id)), context(id))
        detection.classes = color.process(cut, context(id)).items
        return detection
      }
    }
  }

  /// The objects that two detectors find, each once.
  private func ensemble(_ session: SessionReader) throws -> [[Detection]] {
    let options = [(threshold: 16, cell: 4), (32, 16)].map { threshold, cell in
      var options = MotionOptions(threshold: threshold)
      options.cell = cell
      return options
    }
    var detectors = try options.map { try Motion(options: $0) }
    let merge = try MergeDetections(options: MergeDetectionsOptions(iou: 0.3))
    return try frames(of: session).map { id in
      let frame = try session.frame(id)
      let parts = detectors.indices.map {
        Joined.Part(port: "\($0)", value: detectors[$0].process(frame, context(id)))
      }
      return try merge.process(Joined(parts), context(id)).items
    }
  }

  private func replayed(
    _ name: String, _ session: SessionReader, workers: Int, mode: RunOptions.Mode = .everyFrame
  ) throws -> (frames: [[Detection]], summary: RunSummary) {
    let example = try #require(ExamplePipelines.named(name))
    let pipeline = try PipelineDocument.parse(
      Data(example.document.utf8), catalog: StageRegistry.builtIn)
    let found = Found()
    let summary = try Replay(
      pipeline, reader: session, catalog: StageRegistry.builtIn,
      request: Replay.Request(
        caseName: name, options: RunOptions(mode: mode, workers: workers))
    ).run(observers: [found])
    return (found.frames, summary)
  }

  private func recording(_ name: String) throws -> SessionReader {
    try SessionReader(opening: packageRoot.appending(path: "Recordings/\(name)").path)
  }

  @Test(arguments: ["figures", "cut"])
  func `motion-classes finds and names what a plain loop does`(name: String) throws {
    let session = try recording(name)
    let expected = try motionClasses(session)
    let (frames, summary) = try replayed("motion-classes", session, workers: 3)
    #expect(frames == expected)
    #expect(summary.frames.delivered == expected.count)
    #expect(expected.contains { $0.isEmpty } && expected.contains { $0.count > 1 })
    #expect(expected.joined().allSatisfy { $0.classes.count == 1 })
  }

  @Test func `ensemble finds what a plain loop does`() throws {
    let session = try recording("figures")
    let expected = try ensemble(session)
    let (frames, _) = try replayed("ensemble", session, workers: 3)
    #expect(frames == expected)
    #expect(expected.contains { $0.isEmpty } && expected.contains { $0.count > 1 })
  }

  @Test(arguments: ["motion-classes", "ensemble"], RunOptions.Mode.virtual)
  func `an example is the same for any number of workers`(
    name: String, mode: RunOptions.Mode
  ) throws {
    let session = try recording("figures")
    let summaries = try [0, 1, 2, 4, 8].map {
      try replayed(name, session, workers: $0, mode: mode).summary
    }
    #expect(Set(summaries.map(\.decisionDigest)).count == 1)
    #expect(Set(summaries.map(\.resultDigest)).count == 1)
    #expect(summaries.allSatisfy { $0.frames.captured == summaries[0].frames.captured })
  }

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `motion-classes finds and names what a plain loop does, in footage`() throws {
    let folder = try TemporaryFolder()
    let result = try SessionImporter(
      ImportOptions(
        file: try #require(sharedMedia("karma.mp4")).path, name: "karma",
        into: folder.url.path, tracks: [], link: true)
    ) { _ in true }.run()
    let session = try SessionReader(opening: result.folder.path)
    let expected = try motionClasses(session)
    let (frames, _) = try replayed("motion-classes", session, workers: 2)
    #expect(frames.count == 362)
    #expect(frames.map(\.count) == expected.map(\.count))
    #expect(frames == expected)
    #expect(expected.contains { $0.isEmpty } && expected.contains { $0.count > 1 })
  }
}
