import Foundation
import Retake
import Synchronization
import Testing

/// What the app of the samples draws its results on.
private final class OverlayView: Sendable {
  private let shown = Mutex<[Result<Detections, StageFailure>]>([])

  var results: [Result<Detections, StageFailure>] { shown.withLock { $0 } }

  func update(with result: Result<Detections, StageFailure>) {
    shown.withLock { $0.append(result) }
  }
}

extension Result<Detections, StageFailure> {
  /// The best label of the best detection.
  fileprivate var label: String? { try? get().items.first?.classes.first?.label }
}

private func loadTestImage(_ name: String) throws -> Frame { try Frame(image: "Faces/\(name)") }

private func run(_ pipeline: Pipeline) throws -> RunSummary {
  try Replay(
    pipeline, reader: nil, catalog: StageRegistry.builtIn,
    request: Replay.Request(caseName: pipeline.name)
  ).run()
}

/// The published samples of declarative camera pipelines.
@Suite struct DeclarativePipelines {
  private static let hasModels = (try? faces()) != nil
  private static let reason: Comment = "ONNX Runtime is not here: pip install onnxruntime"

  private static func faces() throws -> PipelineChain<Detections> {
    try Pipeline.named("faces").source(.images(path: "Faces"))
      .detect(.faces, model: "yolo-nano.onnx")
  }

  /// Differs: `Pipeline.named` for `CameraPipeline()`, because results name their pipeline; a folder
  /// of images for `.backCamera`; `try`, because a model is loaded when it is named.
  @Test(.enabled(if: hasModels, reason))
  func `the pipeline`() throws {
    let overlayView = OverlayView()
    let pipeline = try Pipeline.named("emotion")
      .source(.images(path: "Faces"), fps: 30)
      .transform(.downsample(to: CGSize(width: 640, height: 480)))
      .detect(.faces, model: "yolo-nano.onnx")
      .forEach { detection in
        try detection
          .crop(padding: 0.2)
          .transform(.resize(to: CGSize(width: 224, height: 224)))
          .classify(model: "emotion-mobilenet.onnx")
      }
      .sink { result in
        overlayView.update(with: result)
      }
    #expect(try run(pipeline).frames.delivered == 2)
    #expect(overlayView.results.map(\.label) == ["happy", "sad"])
  }

  /// Differs: the pool counts references, so a buffer is released when its last frame is gone.
  @Test func `the pool of frame buffers`() throws {
    let pool = FramePool("frames", capacity: 2)
    func lease() throws -> Frame? {
      try pool.makeFrame(for: "camera", format: .bgra, width: 64, height: 48)?.finish()
    }
    var frames = try [lease(), lease(), lease()]
    #expect(frames.map { $0 != nil } == [true, true, false])
    frames.removeAll()
    #expect(try lease() != nil)
  }

  @Test func `the sink that gets successes and failures`() throws {
    let rendered = Mutex(0)
    let warned = Mutex<[String]>([])
    let shown = Mutex(0)
    let frames = try ["face_happy.png", "face_sad.png"].map { try loadTestImage($0) }
    let small = Frame(
      format: .rgb, width: 8, height: 8, planes: [[UInt8](repeating: 9, count: 192)])
    let pipeline = Pipeline.named("errors").source(.frames(frames + [small]))
      .crop(x: 160, y: 160, width: 160, height: 160)
      .sink { result in
        switch result {
        case .success:
          rendered.withLock { $0 += 1 }
        case .failure(let error):
          if error.isRecoverable {
            warned.withLock { $0.append(error.code) }
          } else {
            shown.withLock { $0 += 1 }
          }
        }
      }
    _ = try run(pipeline)
    #expect(rendered.withLock { $0 } == 2 && shown.withLock { $0 } == 0)
    #expect(warned.withLock { $0 } == ["crop.outside"])
  }

  /// Differs: `.frames([…])` for `.static(frames: […])`; and `happy` is expected of the face
  /// that smiles alone.
  @Test(.enabled(if: hasModels, reason))
  func `the test`() throws {
    let expected = Mutex(["happy", "sad"])
    let testPipeline = try Pipeline.named("test")
      .source(
        .frames([
          loadTestImage("face_happy.png"),
          loadTestImage("face_sad.png"),
        ])
      )
      .detect(.faces, model: "yolo-nano.onnx")
      .classify(model: "emotion-mobilenet.onnx")
      .sink { result in
        #expect(result.label == expected.withLock { $0.removeFirst() })
      }
    #expect(try run(testPipeline).frames.delivered == 2)
  }
}
