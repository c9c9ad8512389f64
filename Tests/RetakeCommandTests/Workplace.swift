import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// A new folder in which `retake` is called, as users call it.
struct Workplace {
  static let binary = productsFolder.appending(path: "retake").path
  /// A user's own `retake`, with the stages of Tests/ImpureRetake.
  static let impureBinary = productsFolder.appending(path: "ImpureRetake").path

  /// Without it, a key would be created in the home folder of the user who runs the tests.
  static let cacheKey = "the key of all workplaces"

  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder("retake-work")
  }

  /// Runs `retake` here, outside CI even if the tests run in CI: inside the process of the tests if
  /// the command needs no process.
  @discardableResult
  func retake(
    _ arguments: String..., environment: [String: String?] = [:]
  ) throws -> CommandResult {
    try retake(words: arguments, environment: environment)
  }

  /// The same for a list of arguments.
  ///
  /// - Parameter binary: A program to start as a process, even if the command needs none.
  func retake(
    words arguments: [String], environment: [String: String?] = [:],
    timeoutSeconds: Int = ChildProcess.secondsMax, binary: String? = nil
  ) throws -> CommandResult {
    var changes: [String: String?] = [
      "CI": nil, "RETAKE_PENDING_DIR": nil, "NO_COLOR": nil, "RETAKE_CACHE_KEY": Self.cacheKey,
    ]
    changes.merge(environment) { $1 }
    if binary == nil, CommandInside.canRun(arguments, changing: changes.keys) {
      let variables = changed(ProcessInfo.processInfo.environment, by: changes)
      return try CommandInside(
        arguments: arguments, variables: variables, folder: folder.url, secondsMax: timeoutSeconds
      ).run()
    }
    return try runCommand(
      binary ?? Self.binary, arguments: arguments, environment: changes, folder: folder.url,
      timeoutSeconds: timeoutSeconds)
  }

  /// Runs a line of a page as its reader types it, with the built `retake` in the path.
  func type(_ line: String, environment: [String: String?] = [:]) throws -> CommandResult {
    let program = URL(fileURLWithPath: Self.binary).deletingLastPathComponent().path
    let standard: [String: String?] = [
      "CI": nil, "RETAKE_CACHE_KEY": Self.cacheKey, "PATH": "\(program):/usr/bin:/bin",
    ]
    return try runCommand(
      "bash", arguments: ["-c", line], environment: standard.merging(environment) { $1 },
      folder: folder.url)
  }

  /// Makes a clip of 90 frames in which a square moves, so that there is motion from the first second
  /// on.
  func writeMovingSquare(_ name: String) throws {
    try ffmpeg(
      "-f", "lavfi", "-i", "color=black:size=160x120:rate=30,format=yuv420p", "-f", "lavfi", "-i",
      "color=white:size=24x24:rate=30,format=yuv420p", "-filter_complex",
      "[0][1]overlay=x=n:y=40", "-frames:v", "90", name)
  }

  /// Records figures quickly.
  func record(_ name: String, frames: Int = 90, size: String = "160x120") throws {
    let result = try retake(
      "record", "synthetic:figures", "--name", name, "--speed", "max", "--frames", "\(frames)",
      "--size", size)
    try #require(result.status == 0, "\(result.stderr)")
  }

  /// Whether a recording was closed properly. A busy machine may lose frames of a paced recording;
  /// the session then has the status `lossy`.
  func isClosed(_ session: String) throws -> Bool {
    let info = try retake("session", "info", session, "--json").json()
    return ["clean", "lossy"].contains(info.status.text)
  }

  /// Writes the example pipeline, with a string replaced.
  func writePipeline(
    _ name: String = "motion.json", replacing old: String = "", with new: String = ""
  ) throws {
    let example = try retake("pipeline", "example", "motion-boxes").stdout
    try #require(old.isEmpty || example.contains(old))
    try folder.write(old.isEmpty ? example : example.replacing(old, with: new), to: name)
  }

  /// Writes a pipeline whose sink `view` receives a part of the image.
  func writeView(x: Int) throws {
    try folder.write(
      """
      {"v": 1, "name": "view",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "cut", "kind": "crop",
         "options": {"x": \(x), "y": 20, "width": 80, "height": 60}},
        {"id": "view", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "cut"}, {"from": "cut", "to": "view"}]}
      """, to: "motion.json")
  }

  func ffmpeg(_ arguments: String...) throws {
    let result = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-y"] + arguments, folder: folder.url)
    try #require(result.status == 0, "\(result.stderr)")
  }

  func git(_ arguments: String...) throws { try git(words: arguments) }

  func git(words arguments: [String]) throws {
    let result = try runCommand(
      "git",
      arguments: [
        "-c", "maintenance.auto=false", "-c", "user.name=a", "-c", "user.email=a@example.org",
      ] + arguments,
      environment: ["GIT_CONFIG_GLOBAL": "/dev/null"], folder: folder.url)
    try #require(result.status == 0, "\(result.stderr)")
  }

  func exists(_ path: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(path).path)
  }

  /// The names in the top folder, with hidden ones.
  func topNames() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
  }

  /// Every path under the folder with its size, in order, to check that no file was changed.
  func listing() throws -> [String] {
    // The cache of earlier runs may exist or not.
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.url.path).sorted()
      .filter { $0 != ".retake" && !$0.hasPrefix(".retake/") }
    return try names.map { name in
      let attributes = try FileManager.default.attributesOfItem(atPath: folder.file(name).path)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      return isFolder ? "\(name)/" : "\(name) \(attributes[.size] ?? 0)"
    }
  }
}

extension CommandResult {
  /// Standard output as one JSON document.
  func json() throws -> JSON { try JSON(stdoutBytes) }
}

/// A JSON document whose values can be looked up.
@dynamicMemberLookup
struct JSON {
  let value: Any?

  init(_ data: Data) throws {
    value = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
  }

  private init(value: Any?) { self.value = value }

  subscript(dynamicMember key: String) -> JSON { self[key] }
  subscript(key: String) -> JSON { JSON(value: (value as? [String: Any])?[key]) }
  subscript(index: Int) -> JSON { JSON(value: list.indices.contains(index) ? list[index] : nil) }

  var list: [Any] { value as? [Any] ?? [] }
  var count: Int { list.count }
  var text: String? { value as? String }
  var int: Int? { value as? Int }
  var number: Double? { (value as? NSNumber)?.doubleValue }
}
