import Foundation
import RetakeTestSupport
import Testing

/// Goldens of cases whose pipeline has a model.
@Suite(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
struct ModelGoldenTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
  }

  private func write(last: String = "Identity", topK: Int = 3) throws {
    let model = OnnxModelFile(
      inputs: [.init("images", .float, [1, 3, 8, 8])], outputs: [.init("scores", .float, [1, 3])],
      nodes: [
        .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["flat"]),
        .init(last, inputs: ["flat"], outputs: ["scores"]),
      ])
    try model.write(to: workplace.folder.file("m.onnx"))
    try workplace.folder.write(
      """
      {"v": 1, "input": {"scale_values": [255]},
       "output": {"decoder": "softmax", "topk": \(topK)}}
      """, to: "m.model.json")
    try workplace.folder.write(
      """
      {"v": 1, "name": "mood",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "mood", "kind": "classify", "options": {"model": "m.onnx"}},
        {"id": "labels", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "mood"}, {"from": "mood", "to": "labels"}]}
      """, to: "mood.json")
  }

  private func test() throws -> CommandResult {
    try workplace.retake("test", "yard", "--pipeline", "mood.json")
  }

  private func accept(_ options: String...) throws {
    let result = try workplace.retake(words: ["accept", "--reason", "x"] + options)
    try #require(result.status == 0, "\(result.stderr)")
  }

  /// The golden's files for a platform, without the word before the first `-` and the ending.
  private func platforms(of golden: String) throws -> Set<String> {
    let folder = workplace.folder.file("Goldens/yard/\(golden)").path
    let names = try FileManager.default.contentsOfDirectory(atPath: folder)
    return Set(
      names.filter { $0.hasPrefix("digests-") || $0.hasPrefix("environment-") }.map { name in
        String(name.drop { $0 != "-" }.dropFirst().prefix { $0 != "." })
      })
  }

  private func read(_ path: String) throws -> String {
    try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
  }

  private func digest(_ file: String) throws -> Substring {
    try runCommand("sha256sum", arguments: [file], folder: workplace.folder.url).stdout.prefix(64)
  }

  @Test func `a golden has the digests of its models, and the class of kernels in its platform`()
    throws
  {
    try write()
    #expect(try test().status == 3)
    try accept()
    let golden = try read("Goldens/yard/mood/golden.yml")
    let models = "models: {m.model.json: \(try digest("m.model.json")), m.onnx: "
    #expect(golden.contains(models + "\(try digest("m.onnx"))}\n"), "\(golden)")
    #expect(try test().status == 0)
    let kernels = try workplace.retake("model", "info", "m.onnx", "--json").json().kernels.text
    let platforms = try platforms(of: "mood")
    let platform = try #require(platforms.first)
    #expect(platforms.count == 1 && platform.hasSuffix("-\(kernels ?? "none")"))
    let environment = try read(
      "Goldens/yard/mood/environment-\(platform).yml")
    #expect(environment.contains("onnxruntime: "), "\(environment)")
    // A case without models is as on a machine without the library.
    #expect(try workplace.retake("test", "yard", "-p", "example:motion-boxes").status == 3)
    try accept()
    let plain = try read("Goldens/yard/motion-boxes/golden.yml")
    #expect(plain.contains("\nmodels: {}\n"))
    #expect(try self.platforms(of: "motion-boxes").map { "\($0)-\(kernels ?? "")" } == [platform])
    let own = try #require(try self.platforms(of: "motion-boxes").first)
    let libraries = try read(
      "Goldens/yard/motion-boxes/environment-\(own).yml")
    #expect(!libraries.contains("onnxruntime"))
  }

  @Test func `a model that changed is named as the cause, and so is its sidecar`() throws {
    try write()
    _ = try test()
    try accept()
    try write(last: "Neg")
    let changed = try test()
    #expect(changed.status == 1)
    #expect(
      changed.stdout.contains(
        "the model m.onnx changed: sha256 \(try digest("m.onnx").prefix(12))…"),
      "\(changed.stdout)")
    #expect(!changed.stdout.contains("the sidecar"))
    try write(topK: 2)
    let shorter = try test()
    #expect(shorter.status == 1 && shorter.stdout.contains("the sidecar m.model.json changed"))
    #expect(!shorter.stdout.contains("the model m.onnx"), "\(shorter.stdout)")
  }

  @Test func `an alternate of a case with models is for its class of kernels`() throws {
    try write()
    _ = try test()
    try accept()
    let platform = try #require(try platforms(of: "mood").first)
    try write(last: "Neg")
    #expect(try test().status == 1)
    try accept("--alternate")
    #expect(workplace.exists("Goldens/yard/mood/alternate-\(platform)/golden.yml"))
    let result = try test()
    #expect(result.status == 0, "\(result.stdout)")
    #expect(result.stdout.contains("compared with the alternate for \(platform)"))
  }
}
