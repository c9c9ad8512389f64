import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestFrames
import RetakeTestSupport
import Testing

@testable import RetakeInference

/// Numbers from numbers, with a tree of 10 below a rate of 60, else 20 or 30 by the second number.
@Suite struct RegressTests {
  private static let hasLibrary = (try? OnnxLibrary.load()) != nil
  private static let reason: Comment = SkipReason.noOnnxRuntime
  private static let named = #"{"v": 1, "input": {"features": ["bpm", "sdnn"]}, "labels": ["mg"]}"#

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-regress") }

  private func stage(sidecar: String? = named, features: [String]? = nil) throws -> Regress {
    if let sidecar { try folder.write(sidecar, to: "tree.model.json") }
    var options = ModelOptions(model: try OnnxModelFile.tree.write(to: folder.file("tree.onnx")))
    if let features {
      options.input = .object(["features": .array(features.map(JSONValue.string))])
    }
    return try Regress(options: options)
  }

  private func numbers(_ entries: (String, Double)...) -> Scalars {
    Scalars(entries.map { Scalars.Entry($0.0, $0.1) })
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `the numbers are given by their names, and the result has the label`() throws {
    let stage = try stage()
    for (bpm, sdnn, expected) in [(59.0, 1.0, 10.0), (60, 0.4, 20), (90, 0.6, 30)] {
      let given = numbers(("sdnn", sdnn), ("quality", 0.9), ("bpm", bpm))
      #expect(try stage.process(given, anyContext) == numbers(("mg", expected)))
    }
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `the node's names come before the sidecar's`() throws {
    let stage = try stage(features: ["sdnn", "bpm"])
    #expect(
      try stage.process(numbers(("sdnn", 59), ("bpm", 1)), anyContext) == numbers(("mg", 10)))
    #expect(stage.fingerprint != (try self.stage().fingerprint))
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a number that is missing or none fails the frame, and nothing is made up`() throws {
    let stage = try stage()
    for (given, code, text) in [
      (numbers(("quality", 0.1)), "inference.feature.missing", "It has 'quality'"),
      (numbers(), "inference.feature.missing", "The frame has no numbers"),
      (numbers(("bpm", .nan), ("sdnn", 1)), "inference.feature.notFinite", "'bpm' is nan"),
      (numbers(("bpm", 1), ("sdnn", .infinity)), "inference.feature.notFinite", "'sdnn' is inf"),
    ] {
      let error = try #require(throws: StageError.self) { try stage.process(given, anyContext) }
      #expect(error.code == code && error.message.contains(text), "\(error)")
    }
  }

  @Test(
    .enabled(if: hasLibrary, reason),
    arguments: [
      (#"{"v": 1}"#, "the setting 'features'"),
      (#"{"v": 1, "input": {"features": ["a"]}}"#, "1 name, and the model reads 2 numbers"),
      (
        #"{"v": 1, "input": {"features": ["a", "b"], "scale_values": [255]}}"#,
        "the model reads numbers, not an image"
      ),
      (
        #"{"v": 1, "input": {"features": ["a", "b"]}, "output": {"decoder": "softmax"}}"#,
        "'softmax' makes no numbers"
      ),
    ])
  func `what does not fit is refused before the first frame`(
    sidecar: String, text: String
  ) throws {
    let error = try #require(throws: ModelDocumentError.self) { try stage(sidecar: sidecar) }
    #expect("\(error)".contains(text), "\(error)")
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `pictures and numbers are not taken for each other`() throws {
    _ = try stage()
    let tree = folder.file("tree.onnx").path
    #expect(throws: ModelDocumentError.self) { try Infer(options: ModelOptions(model: tree)) }
    let picture = try OnnxModelFile.mouths.write(to: folder.file("mouths.onnx"))
    let error = try #require(throws: ModelDocumentError.self) {
      try Regress(options: ModelOptions(model: picture))
    }
    #expect("\(error)".contains("[1, 3, 224, 224]"), "\(error)")
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `what is in force is shown for models of numbers too`() throws {
    let path = try stage().options.model
    let inspection = try ModelInspection(of: ModelOptions(model: path))
    #expect(inspection.problems.isEmpty, "\(inspection.problems)")
    let rows = inspection.settings.map { "\($0.key) \($0.value) \($0.origin)" }
    #expect(
      rows == [
        "name x shape", "features bpm, sdnn sidecar", "decoder regression default",
        "labels mg sidecar",
      ])
    try folder.write(#"{"v": 1}"#, to: "tree.model.json")
    let missing = try ModelInspection(of: ModelOptions(model: path))
    #expect(missing.problems.map(\.code) == ["inference.settings.missing"])
  }

  /// A drawn pulse of 72 beats a minute, whose rate and variability a tree reads.
  @Test(.enabled(if: hasLibrary, reason))
  func `a tree behind the pulse gives a number as soon as there is a rate, whatever the workers`()
    throws
  {
    _ = try stage(features: ["rate.bpm", "beats.quality"])
    let path = folder.file("tree.onnx").path
    let options = SyntheticOptions(scene: .pulse, width: 64, height: 48, frames: 330)
    var prints: Set<String> = []
    for workers in [0, 1, 2, 8] {
      let seen = Locked([Double?]())
      let band = Pipeline.named("sugar").source(.synthetic(options)).fingertip()
        .resample().sample(every: 30).pulseSignal(.red).detrend().bandpass()
      let pipeline = try Pipeline.joining(
        band.pulseRate(), band.heartVariability(), ports: ["rate", "beats"]
      ).mergeScalars().regress(model: path, features: ["rate.bpm", "beats.quality"])
        .sink { result in
          let value = try? result.get()["mg"]
          seen.withLock { $0.append(value) }
        }
      let outcome = try PreparedRun(pipeline, catalog: StageRegistry.builtIn)
        .run(RunOptions(workers: workers), observer: Silent())
      let values = seen.withLock { $0 }
      #expect(values.first == .some(nil) && values.last == 30, "\(values)")
      prints.insert("\(outcome.decisionDigest) \(values)")
    }
    #expect(prints.count == 1)
  }

  @Test func `numbers of several stages have their port's name, and another type fails`() throws {
    let parts = [
      Joined.Part(port: "a", value: numbers(("quality", 1), ("bpm", 72))),
      Joined.Part(port: "b", value: nil), Joined.Part(port: "c", value: numbers(("quality", 2))),
    ]
    #expect(
      try MergeScalars().process(Joined(parts), anyContext)
        == numbers(("a.quality", 1), ("a.bpm", 72), ("c.quality", 2)))
    let error = try #require(throws: StageError.self) {
      try MergeScalars().process(
        Joined([Joined.Part(port: "a", value: Classes([]))]), anyContext)
    }
    #expect(error.code == "ensemble.otherType")
  }
}

private final class Silent: RunObserver {
  func finished(_ frame: FinishedFrame) {}
}
