import Foundation
import RetakeTestSupport
import Testing

private let hasPip =
  (try? runCommand("python3", arguments: ["-m", "pip", "--version"]).status) == 0

/// Scripts/fetch-models with a small wheel that the test writes, and pip without a network.
@Suite(
  .enabled(
    if: hasPip, "python3 has no pip here: Scripts/setup --with-models"))
struct FetchModelsTests {
  /// Writes a wheel with one model, and the list that names it.
  private static let program = """
    import hashlib, json, sys, zipfile
    folder, model = sys.argv[1:3]
    name = 'tiny-1.0-py3-none-any.whl'
    wheel = folder + '/wheels/' + name
    about = 'tiny-1.0.dist-info/'
    with zipfile.ZipFile(wheel, 'w') as file:
        file.writestr('tiny/tiny.onnx', model)
        file.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nTag: py3-none-any\\n')
        file.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n')
        file.writestr(about + 'RECORD', '')
    digest = hashlib.sha256(model.encode()).hexdigest()
    sidecar = {'task': 'detect', 'output': {'decoder': 'db-text'}}
    entry = {'member': 'tiny/tiny.onnx', 'file': 'tiny.onnx', 'sha256': digest}
    entry.update({'about': 'finds nothing', 'sidecar': sidecar})
    row = {'package': 'tiny', 'version': '1.0', 'file': name, 'licence': 'MIT', 'files': [entry]}
    row['sha256'] = hashlib.sha256(open(wheel, 'rb').read()).hexdigest()
    json.dump({'v': 1, 'wheels': [row]}, open(folder + '/list.json', 'w'))
    print(digest)
    """

  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder("retake-fetch-models")
    try folder.write("", to: "wheels/empty")
    try makeWheel()
  }

  /// The digest of the model.
  @discardableResult
  private func makeWheel(model: String = "weights") throws -> String {
    let result = try runCommand(
      "python3", arguments: ["-c", Self.program, folder.url.path, model])
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdout.trimmingCharacters(in: .newlines)
  }

  private func list() throws -> String {
    try String(contentsOf: folder.file("list.json"), encoding: .utf8)
  }

  private func fetch(_ arguments: String...) throws -> CommandResult {
    try runCommand(
      "python3",
      arguments: [
        Repository.url("Scripts/fetch-models").path, "--into", folder.file("models").path, "--list",
        folder.file("list.json").path,
      ] + arguments,
      environment: [
        "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": folder.file("wheels").path,
        "PIP_CONFIG_FILE": "/dev/null",
      ])
  }

  private func text(_ name: String) throws -> String {
    try String(contentsOf: folder.file("models/\(name)"), encoding: .utf8)
  }

  private var models: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: folder.file("models").path).sorted()
    }
  }

  private func removeWheel() throws {
    try FileManager.default.removeItem(at: folder.file("wheels/tiny-1.0-py3-none-any.whl"))
  }

  @Test func `a model is written with its sidecar, and not fetched a second time`() throws {
    #expect(try fetch("--check").status == 1)
    let first = try fetch()
    #expect(first.status == 0, "\(first.stderr)")
    #expect(first.stdout.contains("fetching tiny 1.0, licence MIT"))
    #expect(first.stdout.contains("tiny.onnx is new: finds nothing, MIT"))
    #expect(try models == ["tiny.model.json", "tiny.onnx"])
    #expect(try text("tiny.onnx") == "weights")
    #expect(try text("tiny.model.json").contains(#""licence": "MIT""#))

    try removeWheel()
    let second = try fetch()
    #expect(second.status == 0, "\(second.stderr)")
    #expect(second.stdout.contains("tiny.onnx is here"))
    #expect(!second.stdout.contains("fetching"))
    #expect(try fetch("--check").status == 0)
  }

  @Test func `a model that was changed is fetched again, and a sidecar is kept`() throws {
    #expect(try fetch().status == 0)
    try folder.write("cut off", to: "models/tiny.onnx")
    try folder.write("{\"v\": 1}", to: "models/tiny.model.json")
    let check = try fetch("--check")
    #expect(check.status == 1)
    #expect(check.stderr.contains("tiny.onnx"))
    let again = try fetch()
    #expect(again.status == 0, "\(again.stderr)")
    #expect(again.stdout.contains("tiny.model.json was changed since it was written; it is kept"))
    #expect(try text("tiny.onnx") == "weights")
    #expect(try text("tiny.model.json") == "{\"v\": 1}")
  }

  @Test func `a wheel with other bytes is refused, and nothing is left of it`() throws {
    let list = try list()
    try makeWheel(model: "planted")
    try folder.write(list, to: "list.json")
    let result = try fetch()
    #expect(result.status == 1)
    #expect(
      result.stderr.contains("tiny-1.0-py3-none-any.whl is not the wheel that it should be"))
    #expect(try models == [])
  }

  @Test func `a file of the wheel that is not the one of the list is refused`() throws {
    let digest = try makeWheel()
    let list = try list()
    for (old, new, message) in [
      (digest, String(repeating: "0", count: 64), "is not the file that it should be"),
      ("tiny/tiny.onnx", "tiny/other.onnx", "the wheel has no tiny/other.onnx"),
    ] {
      try folder.write(list.replacing(old, with: new), to: "list.json")
      let result = try fetch()
      #expect(result.status == 1)
      #expect(result.stderr.contains(message), "\(result.stderr)")
      #expect(try models == [])
    }
  }

  @Test func `without a network the error says what to type`() throws {
    try removeWheel()
    let result = try fetch()
    #expect(result.status == 1)
    #expect(result.stderr.contains("tiny 1.0 could not be downloaded: "))
    #expect(result.stderr.contains("PIP_NO_INDEX=1 PIP_FIND_LINKS=FOLDER"))
    #expect(try models == [])
  }

  @Test func `an unknown argument is a wrong command`() throws {
    let result = try fetch("--chek")
    #expect(result.status == 64)
    #expect(result.stderr.contains("usage: Scripts/fetch-models"))
  }
}
