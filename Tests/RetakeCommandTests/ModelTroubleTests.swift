import Foundation
import RetakeInference
import RetakeTestSupport
import Testing

/// Everything that can be wrong with a model, as the user of a pipeline document sees it: an error
/// that names the problem before the first frame, status 2, and no file.
@Suite struct ModelTroubleTests {
  private typealias Port = OnnxModelFile.Port
  private typealias Node = OnnxModelFile.Node

  private static let hasLibrary = (try? OnnxLibrary.load()) != nil
  private static let reason: Comment = SkipReason.noOnnxRuntime

  private static let softmax = #"{"v": 1, "output": {"decoder": "softmax"}}"#

  /// Scores the three channels of a picture by their mean levels.
  private static func channels(_ shape: [OnnxModelFile.Length] = [1, 3, 8, 8]) -> OnnxModelFile {
    OnnxModelFile(
      inputs: [Port("images", .float, shape)], outputs: [Port("scores", .float, [1, 3])],
      nodes: [
        Node("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        Node("Flatten", inputs: ["mean"], outputs: ["scores"]),
      ])
  }

  private static func identity(
    _ type: OnnxModelFile.Element, _ shape: [OnnxModelFile.Length]
  ) -> OnnxModelFile {
    OnnxModelFile(
      inputs: [Port("x", type, shape)], outputs: [Port("y", type, shape)],
      nodes: [Node("Identity", inputs: ["x"], outputs: ["y"])])
  }

  /// Divides by zero.
  private static let endless: OnnxModelFile = {
    var file = channels()
    file.constants = [OnnxModelFile.Constant("nothing", [0] as [Float], shape: [1])]
    file.nodes = [
      Node("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
      Node("Flatten", inputs: ["mean"], outputs: ["flat"]),
      Node("Mul", inputs: ["flat", "nothing"], outputs: ["zeros"]),
      Node("Div", inputs: ["zeros", "nothing"], outputs: ["scores"]),
    ]
    return file
  }()

  struct Bad: Sendable, CustomTestStringConvertible {
    var testDescription: String
    /// `nil` for no file.
    var bytes: [UInt8]?
    var sidecar: String?
    var kind: String
    /// Words of the error.
    var says: [String]

    init(
      _ name: String, _ bytes: [UInt8]?, _ sidecar: String? = softmax, kind: String = "classify",
      says: String...
    ) {
      (testDescription, self.bytes, self.sidecar) = (name, bytes, sidecar)
      (self.kind, self.says) = (kind, says)
    }
  }

  static let files = [
    Bad("no file", nil, says: "the model cannot be read", "no such file"),
    Bad("an empty file", [], says: "it is empty"),
    Bad("a web page", Array("<!DOCTYPE html><p>".utf8), says: "it is not a model"),
    Bad(
      "a pointer of Git LFS",
      Array("version https://git-lfs.github.com/spec/v1\noid sha256:0123\n".utf8),
      says: "cannot load this file as a model"),
    Bad(
      "a file that was cut off", Array(channels().bytes.prefix(100)),
      says: "cannot load this file as a model"),
    Bad(
      "sides of a million pixels", identity(.float, [1, 3, 1_048_576, 1_048_576]).bytes,
      says: "[1, 3, 1048576, 1048576]", "at most"),
    Bad("words instead of a picture", identity(.string, [1, 3, 8, 8]).bytes, says: "type string"),
    Bad("numbers instead of a picture", identity(.float, [1, 3]).bytes, says: "2 dimensions"),
    Bad("ten frames at once", channels([10, 3, 8, 8]).bytes, says: "10 frames at once"),
    Bad(
      "sides of any length, and none is given", channels([1, 3, "height", "width"]).bytes,
      says: "the setting 'size'", "\"size\": [640, 480]"),
  ]

  static let documents = [
    Bad(
      "grey frames for three channels", channels().bytes,
      #"{"v": 1, "input": {"color_space": "GRAY"}, "output": {"decoder": "softmax"}}"#,
      says: "GRAY has 1 channel, and the model reads 3"),
    Bad(
      "outputs that the decoder does not read", channels().bytes,
      #"{"v": 1, "output": {"decoder": "boxes-xyxy-score-class"}}"#, kind: "detect",
      says: "reads one output of 1xmx6 or mx6; the model returns 1x3"),
    Bad(
      "a classifier that is to detect", channels().bytes, kind: "detect",
      says: "returns no boxes for 'detect'"),
    Bad("no decoder", channels().bytes, nil, says: "the setting 'decoder'"),
    Bad("a sidecar that is no JSON", channels().bytes, "{", says: "m.model.json"),
    Bad(
      "a key that no sidecar has", channels().bytes, #"{"v": 1, "lables": ["a"]}"#,
      says: "Did you mean 'labels'?"),
    Bad(
      "another file's digest", channels().bytes,
      #"{"v": 1, "sha256": "\#(String(repeating: "0", count: 64))"}"#,
      says: "'sha256' does not fit the model"),
    Bad(
      "a class that the model has not", OnnxModelFile.squares.bytes,
      OnnxModelFile.squaresSidecar.replacing("0.25", with: #"0.25, "classes": ["faces"]"#),
      kind: "detect", says: "there is no class 'faces'. Did you mean 'face'?"),
  ]

  private func write(_ bad: Bad) throws -> Workplace {
    let workplace = try Workplace()
    try workplace.folder.write(
      """
      {"v": 1, "name": "mood",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "model", "kind": "\(bad.kind)", "options": {"model": "m.onnx"}},
        {"id": "values", "kind": "results"}],
       "edges": [{"from": "camera", "to": "model"}, {"from": "model", "to": "values"}]}
      """, to: "mood.json")
    if let bytes = bad.bytes { try Data(bytes).write(to: workplace.folder.file("m.onnx")) }
    if let sidecar = bad.sidecar { try workplace.folder.write(sidecar, to: "m.model.json") }
    try workplace.record("yard", frames: 3, size: "64x48")
    return workplace
  }

  private func expectRefusal(
    _ bad: Bad, environment: [String: String?] = [:],
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let workplace = try write(bad)
    let before = try workplace.listing()
    for words in [
      ["pipeline", "check", "mood.json"],
      ["replay", "yard", "--pipeline", "mood.json", "--output", "run"],
    ] {
      let result = try workplace.retake(words: words, environment: environment)
      #expect(result.status == 2, "\(result.stderr)", sourceLocation: sourceLocation)
      #expect(result.stdout.isEmpty, sourceLocation: sourceLocation)
      #expect(result.stderr.hasPrefix("error: "), sourceLocation: sourceLocation)
      #expect(
        result.stderr.contains("mood.json"), "\(result.stderr)", sourceLocation: sourceLocation)
      for part in bad.says {
        #expect(
          result.stderr.contains(part), "\(part): \(result.stderr)", sourceLocation: sourceLocation)
      }
      #expect(try workplace.listing() == before, sourceLocation: sourceLocation)
    }
  }

  @Test(.enabled(if: hasLibrary, reason), arguments: files + documents)
  func `a model that cannot be used is an error before the first frame`(bad: Bad) throws {
    try expectRefusal(bad)
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a good model is none of these`() throws {
    let workplace = try write(Bad("good", Self.channels().bytes))
    let result = try workplace.retake("replay", "yard", "--pipeline", "mood.json")
    #expect(result.status == 0 && !result.stderr.contains("error"), "\(result.stderr)")
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `frames without numbers from a model fail, and a run without results is an error`() throws {
    let workplace = try write(Bad("endless", Self.endless.bytes))
    let result = try workplace.retake(
      "replay", "yard", "--pipeline", "mood.json", "--output", "run")
    #expect(result.status == 2, "\(result.stderr)")
    #expect(result.stderr.contains("warning: frame 0:0, stage model: "), "\(result.stderr)")
    #expect(result.stderr.contains("[inference.decode.notFinite]"), "\(result.stderr)")
    #expect(result.stderr.contains("3 of 3 frames failed [replay.run.nothingDelivered]"))
    let run = try JSON(Data(contentsOf: workplace.folder.file("run/run.json")))
    #expect(run.failureCount.int == 3)
  }

  @Test func `a library that is not there is an error of the node that needs it`() throws {
    let bad = Bad(
      "no library", Self.channels().bytes, says: "/none/libonnxruntime.so",
      "cannot be used as ONNX Runtime")
    try expectRefusal(bad, environment: ["RETAKE_ONNXRUNTIME": "/none/libonnxruntime.so"])
  }

  @Test(.enabled(if: FakeOnnxLibrary.compiler != nil, "gcc is not here"))
  func `a library that is too old is an error with both versions`() throws {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let library = try FakeOnnxLibrary.write(version: "1.12.1", table: "NULL", into: folder)
    let bad = Bad(
      "old library", Self.channels().bytes,
      says: "ONNX Runtime 1.12.1 is too old; 1.16 or later is needed")
    try expectRefusal(bad, environment: ["RETAKE_ONNXRUNTIME": library])
  }
}
