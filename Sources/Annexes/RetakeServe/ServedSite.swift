import Foundation
import RetakeCore
import RetakeGolden
import RetakeReport
import RetakeSession
import RetakeSuite

/// The response to a request, before it is converted to HTTP.
struct ServedAnswer: Sendable {
  var status = 200
  var type: String
  var body: Data
  /// The resources that the response may load; only pages replace the default.
  var policy = "default-src 'none'"

  init(_ type: String, _ body: Data, policy: String = "default-src 'none'") {
    self.type = type
    self.body = body
    self.policy = policy
  }

  init(json value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    self.init("application/json", try encoder.encode(value))
  }

  /// An error, in the words of the command line.
  ///
  /// - Parameter program: The program that the advice names.
  init(_ error: any Error, by program: ProgramName = .retake) {
    struct Problem: Encodable {
      var code: String
      var message: String
      var cause: String?
      var advice: String?
    }
    let coded = error as? any CodedError
    let problem = Problem(
      code: coded?.code ?? "serve.failed", message: coded?.message ?? "this did not work",
      cause: coded?.cause, advice: coded?.advice.map(program.applied(to:)))
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    self.init("application/json", (try? encoder.encode(problem)) ?? Data("{}".utf8))
    status = (error as? ServeError)?.status ?? (coded == nil ? 500 : 409)
  }
}

/// The pages and the data of one project, by address.
struct ServedSite: Sendable {
  /// The most bytes of a request's body.
  static let bodyBytesMax = 1 << 16
  /// A script of the first page builds the page, and requests data only from this server.
  private static let homePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    + "require-trusted-types-for 'script'; trusted-types 'none'"

  let project: Project
  let options: ReportServer.Options
  let folder: ServedFolder
  private let frames: ServedFrames
  /// Runs changes of goldens and labels one after another.
  private let changes = DispatchQueue(label: "retake.serve.change")

  init(project: Project, options: ReportServer.Options) {
    self.project = project
    self.options = options
    folder = ServedFolder(project)
    frames = ServedFrames(project: project, folder: folder)
  }

  var pendingLibrary: GoldenLibrary {
    GoldenLibrary(
      root: URL(
        fileURLWithPath: options.pendingFolder.map { project.path($0) } ?? options.goldens
          ?? project.goldens))
  }

  /// - Parameters:
  ///   - parts: The parts of the address after the token.
  ///   - root: The address of the first page, without the server: `/TOKEN/`.
  /// - Throws: `ServeError`, and the errors of the modules below.
  func read(
    _ parts: [String], query: [String: String], root: String
  ) async throws -> ServedAnswer {
    switch (parts.first, parts.count) {
    case (nil, _): return Self.resource("text/html", EmbeddedResources.homeHTML)
    case ("home.css", 1):
      return Self.resource("text/css", EmbeddedResources.homeCSS)
    case ("page.css", 1): return Self.resource("text/css", HTMLReport.style)
    case ("home.js", 1): return Self.resource("text/javascript", EmbeddedResources.homeJS)
    case ("state.json", 1): return try ServedAnswer(json: ServedState(self))
    case ("reports", 2): return try report(parts[1], root: root)
    case ("frames", 4): return try await frame(parts, query: query)
    case ("labels", 1): return Self.resource("text/html", EmbeddedResources.labelsHTML)
    case ("labels.css", 1): return Self.resource("text/css", EmbeddedResources.labelsCSS)
    case ("labels.js", 1): return Self.resource("text/javascript", EmbeddedResources.labelsJS)
    case ("labels", 2): return try await labels(of: parts[1])
    // The address exists, for POST.
    case ("accept", 1): throw ServeError.wrongMethod
    default: throw ServeError.notFound("page of this name")
    }
  }

  private static func resource(_ type: String, _ text: String) -> ServedAnswer {
    ServedAnswer("\(type); charset=utf-8", Data(text.utf8), policy: homePolicy)
  }

  /// The page is rendered again from report.json, because report.html could contain any script.
  private func report(_ id: String, root: String) throws -> ServedAnswer {
    guard let item = ReportLibrary(project: project).reports.first(where: { $0.id == id }) else {
      throw ServeError.notFound("report of this name")
    }
    let served = HTMLReport.Served(
      root: root, canAccept: !options.isCI, program: options.name)
    let page = try HTMLReport.render(try ServedReports.document(of: item), served: served)
    return ServedAnswer("text/html; charset=utf-8", Data(page), policy: HTMLReport.servedPolicy)
  }

  private func labels(of session: String) async throws -> ServedAnswer {
    // Opens the session first, which finds it by its name only.
    let tracks = try await frames.tracks(of: session)
    try folder.check(labels: project.labelFolder.file(session))
    let document =
      try project.labels(of: try reader(of: session), tracks: tracks.map(\.track))
      ?? LabelDocument()
    return try ServedAnswer(json: ServedLabels(document, tracks: tracks, options: options))
  }

  private func reader(of session: String) throws -> SessionReader {
    try SessionReader(opening: "\(project.recordings)/\(session)")
  }

  /// `frames/SESSION/TRACK/SEQUENCE.png` or `.json`.
  private func frame(_ parts: [String], query: [String: String]) async throws -> ServedAnswer {
    let file = parts[3].split(separator: ".", omittingEmptySubsequences: false)
    guard file.count == 2, let track = Int(parts[2]), let sequence = Int(file[0]),
      (0..<Int(Int32.max)).contains(track), (0..<Int(Int32.max)).contains(sequence)
    else { throw ServeError.notFound("frame of this name") }
    let frame = FrameID(track: track, sequence: sequence)
    switch file[1] {
    case "json": return try ServedAnswer(json: try await frames.facts(parts[1], frame))
    case "png":
      var name = ServedFrames.Name(session: parts[1], frame: frame)
      if let text = query["width"] {
        guard let width = Int(text), (16...ServedFrames.widthMax).contains(width) else {
          throw ServeError.badRequest("a width is 16 to \(ServedFrames.widthMax)")
        }
        name.width = width
      }
      return ServedAnswer("image/png", try await frames.png(name))
    default: throw ServeError.notFound("frame of this name")
    }
  }

  // MARK: - Changes

  /// The data that the page sends to accept.
  private struct Wish: Decodable {
    /// Exactly `session/case`.
    var key: String
    var reason: String
    /// The identity of the result that the page shows, from its report.
    var pending: String
    /// Exact ids of root causes; `nil` accepts the complete result of the case.
    var rootCauses: [String]?
  }

  /// - Throws: `ServeError`; `SuiteError`, for example on a machine that may not accept results;
  ///   `LabelError`.
  func change(_ parts: [String], body: Data) async throws -> ServedAnswer {
    switch (parts.first, parts.count) {
    case ("accept", 1): return try await accept(body)
    case ("labels", 2): return try await correct(parts[1], body)
    case (nil, _): throw ServeError.wrongMethod
    default: throw ServeError.notFound("page of this name")
    }
  }

  /// Saves corrected labels.
  private func correct(_ session: String, _ body: Data) async throws -> ServedAnswer {
    guard !options.isCI else { throw SuiteError.labelInCI }
    let correction = try ServedLabels.Correction(body)
    let corrected = try correction.labels()
    // Opens the session first, which finds it by its name only.
    _ = try await frames.tracks(of: session)
    try folder.check(labels: project.labelFolder.file(session))
    return try await inOrder {
      let document = try LabelWork(project: project).correct(
        corrected, of: try reader(of: session), seen: correction.digest)
      return try ServedAnswer(
        json: ServedLabels.Saved(digest: document.digest, classes: document.classes))
    }
  }

  private func inOrder(
    _ change: @escaping @Sendable () throws -> ServedAnswer
  ) async throws -> ServedAnswer {
    try await withCheckedThrowingContinuation { continuation in
      changes.async { continuation.resume(with: Result { try change() }) }
    }
  }

  private func accept(_ body: Data) async throws -> ServedAnswer {
    guard let wish = try? JSONDecoder().decode(Wish.self, from: body) else {
      throw ServeError.badRequest(
        "the request must be {\"key\": …, \"reason\": …, \"pending\": …}, with "
          + "\"rootCauses\": […] to accept only these")
    }
    // Globs are not supported here: the user saw exactly one case and its root causes.
    guard !Self.isGlob(wish.key), wish.key.contains("/") else {
      throw ServeError.badRequest("a key is SESSION/CASE")
    }
    guard wish.rootCauses.map({ !$0.isEmpty && !$0.contains(where: Self.isGlob) }) ?? true else {
      throw ServeError.badRequest(
        "rootCauses are ids of root causes, at least one, such as motion@0:12")
    }
    return try await inOrder { try accept(wish) }
  }

  private static func isGlob(_ text: String) -> Bool { text.contains { "*?".contains($0) } }

  private func accept(_ wish: Wish) throws -> ServedAnswer {
    var acceptance = Acceptance(project: project)
    // The page shows the session and the pipeline that the golden describes, so replacing the
    // golden needs no extra option.
    acceptance.replacesOthers = true
    acceptance.goldens = options.goldens
    acceptance.pendingFolder = options.pendingFolder
    acceptance.isCI = options.isCI
    acceptance.keys = [wish.key]
    acceptance.rootCauses = wish.rootCauses ?? []
    // The report of a run without pending results, or of an older build, shows no result that can
    // be accepted. A pending result then comes from another run.
    acceptance.seen = [wish.key: Digest128(hex: wish.pending) ?? .zero]
    do {
      return try ServedAnswer(json: try acceptance.run(reason: wish.reason))
    } catch GoldenError.pendingChanged {
      throw ServeError(
        409, "serve.accept.otherResult",
        "what is pending for \(wish.key) is not the result that this page shows",
        advice: "Reload the page; if the error remains, make a new report: "
          + "retake test --report report")
    }
  }
}
