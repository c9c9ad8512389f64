import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// A project with a synthetic session, a golden, a pending regression, and its report, served.
final class ServeFixture {
  static let pipeline = """
    {"v": 1, "name": "motion-boxes",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "motion", "options": {"threshold": 24}},
      {"id": "boxes", "kind": "results", "primary": true}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
      {"from": "motion", "to": "boxes"}]}
    """

  let folder: TemporaryFolder
  let server: ReportServer

  init(
    frames: Int = 24, pipeline: String = pipeline,
    document: String = "v: 1\ncases:\n  motion: {pipeline: motion.json}\n",
    change: (inout ReportServer.Options) -> Void = { _ in },
    prepare: (TemporaryFolder) throws -> Void = { _ in }
  ) throws {
    folder = try TemporaryFolder("retake-serve")
    try folder.write(document, to: "retake.yml")
    try folder.write(pipeline, to: "motion.json")
    try Self.record("yard", frames: frames, into: folder)
    try Self.test(folder)
    var acceptance = Acceptance(project: try Project(reading: folder.url.path))
    acceptance.keys = ["yard/motion"]
    _ = try acceptance.run(reason: "first golden")
    try folder.write(
      pipeline.replacing("\"threshold\": 24", with: "\"threshold\": 60")
        .replacing("\"threshold\": 20", with: "\"threshold\": 50"), to: "motion.json")
    try Self.test(folder, report: "report")
    try prepare(folder)
    var options = ReportServer.Options()
    change(&options)
    server = try ReportServer(project: try Project(reading: folder.url.path), options: options)
  }

  deinit { server.stop() }

  static func record(_ name: String, frames: Int, into folder: TemporaryFolder) throws {
    var picture = RecordingInput.Image()
    (picture.width, picture.height) = (160, 120)
    (picture.seed, picture.frames) = (1, frames)
    var options = RecorderOptions(
      name: name, into: folder.file("Recordings").path, framesMax: frames, probe: .skip)
    options.pace = .unpaced
    _ = try Recorder(
      try RecordingInput.source("synthetic:figures", picture), options: options
    ) { _ in }.run()
  }

  @discardableResult
  static func test(
    _ folder: TemporaryFolder, report: String? = nil
  ) throws -> SuiteRun.Outcome {
    var project = try Project(reading: folder.url.path)
    project.registry = .builtIn
    var run = SuiteRun(project: project, selection: Selection())
    run.reportFolder = report
    return try run.run()
  }

  /// The secret part of the address.
  var token: String {
    server.address.split(separator: "/").last.map(String.init) ?? ""
  }

  var client: RawClient { RawClient(port: server.port) }

  func get(_ path: String, _ headers: [String: String] = [:]) throws -> RawClient.Answer {
    try client.ask("GET", "/\(token)/\(path)", headers)
  }

  /// The pending result that the newest report names.
  func reportedResult() throws -> String? {
    let library = ReportLibrary(project: try Project(reading: folder.url.path))
    let report = try #require(library.reports.first)
    let data = try Data(contentsOf: report.folder.appending(path: "report.json"))
    let json = try JSONSerialization.jsonObject(with: data) as? [String: Any]
    return (json?["cases"] as? [[String: Any]])?.first?["pending"] as? String
  }

  /// Requests an acceptance as the page does; `nil` leaves a header out.
  ///
  /// - Parameter pending: The result that the page shows; by default the result of the newest
  ///   report.
  func accept(
    _ key: String = "yard/motion", pending: String? = nil, rootCauses: [String]? = nil,
    reason: String = "the new threshold is right", _ changes: [String: String?] = [:]
  ) throws -> RawClient.Answer {
    struct Wish: Encodable {
      var key: String
      var reason: String
      var pending: String
      var rootCauses: [String]?
    }
    let wish = Wish(
      key: key, reason: reason, pending: try pending ?? reportedResult() ?? "",
      rootCauses: rootCauses)
    let body = String(decoding: try JSONEncoder().encode(wish), as: UTF8.self)
    return try post("accept", body, changes)
  }

  /// Requests a change as the pages do; `nil` leaves a header out.
  func post(
    _ path: String, _ body: String, _ changes: [String: String?] = [:]
  ) throws -> RawClient.Answer {
    var headers: [String: String?] = [
      "Origin": "http://127.0.0.1:\(server.port)", "X-Retake-Token": token,
      "Content-Type": "application/json", "Sec-Fetch-Site": "same-origin",
    ]
    headers.merge(changes) { $1 }
    return try client.ask(
      "POST", "/\(token)/\(path)", headers.compactMapValues(\.self), body: body)
  }

  /// Paths and contents of the goldens, to check whether something was accepted.
  func goldens() throws -> [String: Data] {
    let root = folder.file("Goldens")
    var files: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
      if let data = FileManager.default.contents(atPath: root.appending(path: name).path) {
        files[name] = data
      }
    }
    return files
  }

  /// Ids of the pending root causes, in order.
  func waitingRoots() throws -> [String] {
    var acceptance = Acceptance(project: try Project(reading: folder.url.path))
    acceptance.keys = ["yard/motion"]
    return try acceptance.run(reason: "look", isDryRun: true).flatMap(\.rootCauses)
  }

  /// The id of the only report.
  func reportID() throws -> String {
    let library = ReportLibrary(project: try Project(reading: folder.url.path))
    return try #require(library.reports.first).id
  }
}
