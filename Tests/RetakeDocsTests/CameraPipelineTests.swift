import Foundation
import Retake
import RetakeInference
import RetakeTestSupport
import Testing

/// The view on which the app of the samples draws its results.
private final class OverlayView: Sendable {
  private let shown = Locked<[Result<Detections, StageFailure>]>([])

  var results: [Result<Detections, StageFailure>] { shown.withLock { $0 } }

  func update(with result: Result<Detections, StageFailure>) {
    shown.withLock { $0.append(result) }
  }
}

/// Two published samples of pseudocode for declarative camera pipelines, as Swift.
///
/// The first one:
/// ```
/// let pipeline = CameraPipeline()
///   .source(.backCamera, fps: 30)
///   .transform(.downsample(to: CGSize(width: 640, height: 480)))
///   .detect(.faces, model: "yolo-nano.onnx")
///   .forEach { detection in
///     detection
///       .crop(padding: 0.2)
///       .transform(.resize(to: CGSize(width: 224, height: 224)))
///       .classify(model: "emotion-mobilenet.onnx")
///   }
///   .sink { result in
///     overlayView.update(with: result)
///   }
/// ```
///
/// Differences below, and their reasons:
/// - `try`, twice: a model is loaded when it is named, and may be missing.
/// - `Pipeline.named("emotion")`: results, goldens and reports name their pipeline.
/// - `camera` for `.backCamera`: a camera is recorded or pushed into a `LiveSession`, and the
///   pipeline reads the session, or drawn frames.
/// - the paths of other models: the models of the sample are not published.
private func emotions(
  of camera: AnyStage, _ faces: String, _ moods: String, on overlayView: OverlayView
) throws -> Pipeline {
  let pipeline = try Pipeline.named("emotion")
    .source(camera, fps: 30)
    .transform(.downsample(to: CGSize(width: 640, height: 480)))
    .detect(.faces, model: faces)
    .forEach { detection in
      try detection
        .crop(padding: 0.2)
        .transform(.resize(to: CGSize(width: 224, height: 224)))
        .classify(model: moods)
    }
    .sink { result in
      overlayView.update(with: result)
    }
  return pipeline
}

/// The fourth sample:
/// ```
/// let testPipeline = CameraPipeline()
///   .source(.static(frames: [
///     loadTestImage("face_happy.png"),
///     loadTestImage("face_sad.png")
///   ]))
///   .detect(.faces, model: "yolo-nano.onnx")
///   .classify(model: "emotion-mobilenet.onnx")
///   .sink { result in
///     XCTAssertEqual(result.label, "happy")
///   }
/// ```
///
/// Differences below, and their reasons, in addition to the differences in the first sample:
/// - `.frames([…])` for `.static(frames: […])`, and `try` for files that may not be there.
/// - `loadTestImage(…)` is `Frame(image: …)`, which Examples/MobilePipelines uses.
/// - `expect` for the assertion, which Examples/MobilePipelines has in the sink. `label` is a
///   property below: a frame may show several faces.
/// - It expects the emotion of each picture; the sample expects `happy` of a sad face, too.
private func labels(
  of loadTestImage: (String) throws -> Frame, _ faces: String, _ moods: String,
  expect: @escaping @Sendable (String?) -> Void
) throws -> Pipeline {
  let testPipeline = try Pipeline.named("test")
    .source(
      .frames([
        loadTestImage("face_happy.png"),
        loadTestImage("face_sad.png"),
      ])
    )
    .detect(.faces, model: faces)
    .classify(model: moods)
    .sink { result in
      expect(result.label)
    }
  return testPipeline
}

extension Result<Detections, StageFailure> {
  /// The best label of the best detection.
  fileprivate var label: String? { try? get().items.first?.classes.first?.label }
}

@Suite struct CameraPipelineTests {
  private static let hasLibrary = (try? OnnxLibrary.load()) != nil
  private static let reason: Comment = SkipReason.noOnnxRuntime
  private static let centerface = fetchedModel("centerface")
  private static let clip = sharedMedia("face-eat.mkv")

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-samples") }

  private func models() throws -> (faces: String, moods: String) {
    (
      try OnnxModelFile.squares.write(
        "squares", sidecar: OnnxModelFile.squaresSidecar, into: folder),
      try OnnxModelFile.mouths.write("mouths", sidecar: OnnxModelFile.mouthsSidecar, into: folder)
    )
  }

  private func run(_ pipeline: Pipeline, _ reader: SessionReader? = nil) throws -> RunSummary {
    try Replay(
      pipeline, reader: reader, catalog: StageRegistry.builtIn,
      request: Replay.Request(caseName: pipeline.name)
    ).run()
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `the first sample names the mood of each face in drawn frames`() throws {
    let models = try models()
    // At 60 frames a second, so that every other one is throttled.
    let frames = (0..<8).map { DrawnFace(column: 1 + $0 / 4, isHappy: $0 % 4 == 0).frame(scale: 2) }
    let view = OverlayView()
    let pipeline = try emotions(
      of: .frames(frames, fps: 60), models.faces, models.moods, on: view)
    let summary = try run(pipeline)
    #expect(summary.frames.throttled == 4 && summary.frames.delivered == 4)
    #expect(view.results.map(\.label) == ["happy", "sad", "happy", "sad"])
    // In pixels of the frames that the detector was given, without the hands.
    let boxes = try view.results.map { try $0.get().items.map(\.box) }
    #expect(
      boxes == [160, 160, 320, 320].map { [Box(x: $0, y: 160, width: 160, height: 160)] })
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `the fourth sample gives one label for each picture`() throws {
    let models = try models()
    for name in ["happy", "sad"] {
      let face = DrawnFace(column: 1, isHappy: name == "happy").frame(scale: 1)
      try Data(MediaImage.png(face)).write(to: folder.file("face_\(name).png"))
    }
    func loadTestImage(_ name: String) throws -> Frame {
      try Frame(image: folder.file(name).path)
    }
    let seen = Locked<[String?]>([])
    let pipeline = try labels(of: loadTestImage, models.faces, models.moods) { label in
      seen.withLock { $0.append(label) }
    }
    _ = try run(pipeline)
    #expect(seen.withLock { $0 } == ["happy", "sad"])
  }

  @Test func `the models and faces of Examples/MobilePipelines are those of these tests`() throws {
    let folder = packageRoot.appending(path: "Examples/MobilePipelines")
    for (model, name) in [
      (OnnxModelFile.squares, "yolo-nano"), (OnnxModelFile.mouths, "emotion-mobilenet"),
    ] {
      #expect(try Data(contentsOf: folder.appending(path: "\(name).onnx")) == Data(model.bytes))
    }
    for isHappy in [true, false] {
      let file = folder.appending(path: "Faces/face_\(isHappy ? "happy" : "sad").png")
      let drawn = DrawnFace(column: 1, isHappy: isHappy).frame(scale: 1)
      #expect(try Frame(image: file.path).digest == drawn.digest)
    }
  }

  @Test(
    .enabled(if: hasLibrary, reason),
    .enabled(if: centerface != nil, "centerface.onnx is not here: Scripts/setup --with-models"),
    .enabled(if: clip != nil, "face-eat.mkv is not on this machine"))
  func `the first sample finds the face in every frame of a person who signs`() throws {
    let file = try #require(Self.clip)
    let imported = try SessionImporter(
      ImportOptions(file: file.path, name: "clip", into: folder.url.path)
    ).run()
    let view = OverlayView()
    let pipeline = try emotions(
      of: .session(), try #require(Self.centerface).path, try models().moods, on: view)
    let summary = try run(pipeline, SessionReader(opening: imported.folder.path))
    let found = try view.results.map { try $0.get() }
    #expect(summary.frames.failed == 0 && summary.frames.throttled == 0)
    #expect(found.count == summary.frames.captured && found.count > 40)
    #expect(found.allSatisfy { $0.classNames == ["face"] && !$0.items.isEmpty })
    for face in found.flatMap(\.items) {
      #expect(["happy", "sad"].contains(face.classes.first?.label))
      #expect(face.box.x >= 0 && face.box.x + face.box.width <= 640)
    }
  }
}

/// A reddish face with a green mouth, and a bluish hand next to it, on gray.
private struct DrawnFace {
  private static let background: [UInt8] = [90, 90, 90]
  private static let skin: [UInt8] = [220, 150, 100]
  private static let lips: [UInt8] = [0, 220, 0]
  private static let glove: [UInt8] = [80, 120, 240]

  /// Which of the four columns of 160 pixels the face fills.
  var column: Int
  var isHappy: Bool

  /// A frame of 640x480 pixels, enlarged by an integer factor.
  func frame(scale: Int) -> Frame {
    var bytes: [UInt8] = []
    for y in 0..<480 {
      var row: [UInt8] = []
      for x in 0..<640 {
        for _ in 0..<scale { row += color(x, y) }
      }
      for _ in 0..<scale { bytes += row }
    }
    return Frame(format: .rgb, width: 640 * scale, height: 480 * scale, planes: [bytes])
  }

  private func color(_ x: Int, _ y: Int) -> [UInt8] {
    guard (160..<320).contains(y) else { return Self.background }
    if x < 160 { return column == 0 ? face(x, y) : Self.glove }
    return x / 160 == column ? face(x, y) : Self.background
  }

  private func face(_ x: Int, _ y: Int) -> [UInt8] {
    // In cells of 28 pixels of the padded region, which begins 32 pixels before the face.
    let (cellX, cellY) = ((x - 160 * column + 32) / 28, (y - 128) / 28)
    let isCorner = cellX == 2 || cellX == 5
    guard (2...5).contains(cellX), cellY == (isCorner == isHappy ? 4 : 5) else { return Self.skin }
    return Self.lips
  }
}
