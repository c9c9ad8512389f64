import Foundation
import RetakeTestSupport
import Testing

/// `retake model`, with small models that the tests write themselves.
@Suite struct ModelCommandTests {
  /// This path has no library, so Retake uses no library.
  private static let noLibrary: [String: String?] = ["RETAKE_ONNXRUNTIME": "/dev/null/none"]

  static let hasLibrary: Bool = {
    let doctor = try? Workplace().retake("doctor")
    return doctor?.stdout.contains("ok      ONNX Runtime") == true
  }()
  static let reason: Comment = SkipReason.noOnnxRuntime

  /// Scores the three channels of its input by their mean levels.
  ///
  /// - Parameter last: The operator that makes the scores of the means.
  private static func channels(
    size: OnnxModelFile.Length = 8, type: OnnxModelFile.Element = .float, last: String = "Identity"
  ) -> OnnxModelFile {
    var file = OnnxModelFile(
      inputs: [.init("images", type, [1, 3, size, size])],
      outputs: [.init("scores", .float, [1, 3])],
      nodes: [
        .init("Cast", inputs: ["images"], outputs: ["floats"], ["to": .integer(1)]),
        .init("GlobalAveragePool", inputs: ["floats"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["flat"]),
        .init(last, inputs: ["flat"], outputs: ["scores"]),
      ])
    file.producer = ("a test", "1")
    file.metadata = [("note", "three channels\nand\u{1B}[31m a line")]
    return file
  }

  private let workplace: Workplace

  init() throws { workplace = try Workplace() }

  private func write(_ model: OnnxModelFile, sidecar: String? = nil) throws {
    try model.write(to: workplace.folder.file("m.onnx"))
    if let sidecar { try workplace.folder.write(sidecar, to: "m.model.json") }
  }

  /// The cells of the line that begins with a word.
  private func row(_ name: String, of text: String) -> [String] {
    let line = text.split(separator: "\n").first { $0.hasPrefix("  \(name) ") } ?? ""
    return line.split(separator: " ").map(String.init)
  }

  @Test(arguments: [false, true])
  func `a model's structure and what is in force are shown, also without the library`(
    isAbsent: Bool
  ) throws {
    try write(
      Self.channels(),
      sidecar: #"{"v": 1, "input": {"scale_values": [255]}, "output": {"decoder": "softmax"}}"#)
    let result = try workplace.retake(
      words: ["model", "info", "m.onnx"], environment: isAbsent ? Self.noLibrary : [:])
    #expect(result.status == 0 && result.stderr.isEmpty, "\(result.stderr)")
    let text = result.stdout
    #expect(row("images", of: text) == ["images", "float", "[1,", "3,", "8,", "8]"], "\(text)")
    #expect(row("scores", of: text) == ["scores", "float", "[1,", "3]"])
    #expect(row("made", of: text) == ["made", "by", "a", "test", "1"])
    #expect(row("size", of: text) == ["size", "8x8", "shape"])
    #expect(row("scale_values", of: text) == ["scale_values", "[255.0]", "sidecar"])
    #expect(row("topk", of: text) == ["topk", "5", "default"])
    #expect(row("sidecar", of: text) == ["sidecar", "m.model.json"])
    #expect(!text.contains("\u{1B}") && row("note", of: text).count > 1)
    let isUnknown = text.contains("whether the model can be computed is not known")
    #expect(isUnknown == (isAbsent || !Self.hasLibrary))
    #expect(!isUnknown || text.contains("pip install"), "\(text)")
  }

  @Test func `what is missing is said with the line to write`() throws {
    try write(Self.channels(size: "any"))
    let result = try workplace.retake(
      words: ["model", "info", "m.onnx"], environment: Self.noLibrary)
    #expect(result.status == 0)
    #expect(result.stdout.contains("the setting 'size' of this model is missing"), "\(result)")
    #expect(result.stdout.contains(#"write "input": {"size": [640, 480]}"#))
    #expect(result.stdout.contains(#"Write "output": {"decoder": "…"} in m.model.json"#))
  }

  @Test func `the JSON has everything, and the digest is that of the file`() throws {
    try write(Self.channels(), sidecar: #"{"v": 1, "output": {"decoder": "softmax"}}"#)
    let json = try workplace.retake(
      words: ["model", "info", "m.onnx", "--json"], environment: Self.noLibrary
    ).json()
    let sum = try runCommand(
      "sha256sum", arguments: ["m.onnx"], folder: workplace.folder.url)
    #expect(json.sha256.text.map(sum.stdout.hasPrefix) == true)
    #expect(json.inputs[0].name.text == "images" && json.inputs[0].shape.count == 4)
    #expect(json.opsets[0].domain.text == "ai.onnx" && json.opsets[0].version.int == 13)
    #expect(json.producer.text == "a test 1" && json.metadata.note.text?.isEmpty == false)
    #expect(json.settings[0].key.text == "name" && json.settings[0].origin.text == "shape")
    #expect(json.problems[0].code.text == "inference.library.foreign")
    #expect(json.kernels.text?.isEmpty == false)
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `with the library a decoder that does not fit is a problem`() throws {
    try write(Self.channels(), sidecar: #"{"v": 1, "output": {"decoder": "centerface"}}"#)
    let json = try workplace.retake("model", "info", "m.onnx", "--json").json()
    #expect(json.problems.count == 1)
    #expect(json.problems[0].code.text == "inference.decode.shapes")
    #expect(json.library.version.text?.contains(".") == true)
    #expect(json.library.path.text?.hasPrefix("/") == true)
  }

  @Test(.enabled(if: hasLibrary, reason))
  func `a size that the sidecar gives is the one in force`() throws {
    try write(
      Self.channels(),
      sidecar: #"{"v": 1, "input": {"size": [32, 16]}, "output": {"decoder": "softmax"}}"#)
    for environment in [[:], Self.noLibrary] {
      let text = try workplace.retake(
        words: ["model", "info", "m.onnx"], environment: environment
      ).stdout
      #expect(row("size", of: text) == ["size", "32x16", "sidecar"], "\(text)")
      #expect(row("images", of: text).suffix(2) == ["8,", "8]"])
    }
  }

  @Test func `a file that is not a model is an error, and so is a wrong sidecar`() throws {
    try workplace.folder.write("version https://git-lfs.github.com/spec/v1\n", to: "m.onnx")
    let text = try workplace.retake("model", "info", "m.onnx")
    #expect(text.status == 2 && text.stdout.isEmpty)
    #expect(text.stderr.contains("[inference.model.malformed]"), "\(text.stderr)")
    let none = try workplace.retake("model", "info", "none.onnx")
    #expect(none.status == 2 && none.stderr.contains("there is no such file"))
    try write(Self.channels(), sidecar: #"{"v": 1, "layout": "NCHW"}"#)
    let wrong = try workplace.retake("model", "info", "m.onnx")
    #expect(wrong.status == 2 && wrong.stderr.contains("[inference.sidecar.unknownKey]"))
  }

  @Test func `no library is information to the doctor, with what to type`() throws {
    let doctor = try workplace.retake(words: ["doctor"], environment: Self.noLibrary)
    #expect(doctor.status == 0, "\(doctor.stdout)")
    let lines = doctor.stdout.split(separator: "\n", omittingEmptySubsequences: false)
    let line = try #require(lines.firstIndex { $0.hasPrefix("advised ONNX Runtime  ") })
    #expect(lines[line].hasSuffix("; only models (.onnx) need it"))
    #expect(lines[line + 1].contains("pip install"))
  }
}
