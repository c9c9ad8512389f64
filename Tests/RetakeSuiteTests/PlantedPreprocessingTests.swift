import Foundation
import Retake
import RetakeInference
import RetakeTestProjects
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Mistakes in the preprocessing of a model, as they occur when a model is moved to another
/// program: the model and the pipeline's document are the same, and the boxes are not.
@Suite struct PlantedPreprocessingTests {
  private static let hasLibrary = (try? OnnxLibrary.load()) != nil
  private static let reason: Comment = SkipReason.noOnnxRuntime

  private static let pipeline = """
    {"v": 1, "name": "squares",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "small", "kind": "downsample", "options": {"width": 72, "height": 48}},
      {"id": "squares", "kind": "detect", "options": {"model": "MODEL"}},
      {"id": "boxes", "kind": "results", "primary": true}],
     "edges": [
      {"from": "camera", "to": "small"}, {"from": "small", "to": "squares"},
      {"from": "squares", "to": "boxes"}]}
    """

  /// A frame of 72x48 becomes 64x43 in an input of 64x48.
  private static let input = """
    {"resize_type": "fit_to_window_letterbox", "color_space": "RGB", "mean_values": [0],
     "scale_values": [255]}
    """

  private static func sidecar(input: String) -> String {
    """
    {"v": 1, "input": \(input),
     "output": {"decoder": "boxes-xyxy-score-class", "confidence_threshold": 0.001},
     "labels": ["warm", "cold"]}
    """
  }

  struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var old: String
    var new: String
  }

  static let faults = [
    Fault(
      testDescription: "stretched instead of letterboxed",
      old: "fit_to_window_letterbox", new: "standard"),
    Fault(testDescription: "blue, green and red", old: "RGB", new: "BGR"),
    Fault(
      testDescription: "0 to 255 instead of 0 to 1", old: #""scale_values": [255]"#,
      new: #""scale_values": [1]"#),
    Fault(
      testDescription: "padding on the right and below instead of around",
      old: "fit_to_window_letterbox", new: "fit_to_window"),
    // As if the levels were 16 to 235, though the frame's range is taken into account already.
    Fault(
      testDescription: "the range expanded twice",
      old: #""mean_values": [0],"# + "\n " + #""scale_values": [255]"#,
      new: #""mean_values": [16], "scale_values": [219]"#),
  ]

  private func project() throws -> ProjectFixture {
    let fixture = try ProjectFixture()
    try fixture.record("yard")
    let model = try OnnxModelFile.squares.write(
      "squares", sidecar: Self.sidecar(input: Self.input), into: fixture.folder)
    try fixture.folder.write(Self.pipeline.replacing("MODEL", with: model), to: "motion.json")
    _ = try test(fixture)
    _ = try fixture.accept()
    return fixture
  }

  private func test(_ fixture: ProjectFixture) throws -> SuiteRun.Outcome {
    try fixture.test { $0.project.registry = .builtIn }
  }

  @Test(.enabled(if: hasLibrary, reason), arguments: faults)
  func `a mistake before a model is found at the node of the model`(fault: Fault) throws {
    let fixture = try project()
    #expect(try test(fixture).status == Status.passed)

    try #require(Self.input.contains(fault.old))
    let planted = Self.sidecar(input: Self.input.replacing(fault.old, with: fault.new))
    try fixture.folder.write(planted, to: "squares.model.json")
    let changed = try test(fixture)
    #expect(changed.status == Status.regression)
    let causes = try #require(changed.document.cases.first?.rootCauses)
    #expect(causes.map(\.stage) == ["squares"])

    try fixture.folder.write(Self.sidecar(input: Self.input), to: "squares.model.json")
    #expect(try test(fixture).status == Status.passed)
  }
}
