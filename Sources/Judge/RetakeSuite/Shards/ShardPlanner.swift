import Foundation
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeMedia
import RetakeReplay
import RetakeReport
import RetakeSession
import RetakeStages

/// Collects the facts about cases that a plan of shards has.
struct ShardPlanner {
  private let project: Project
  private let library: GoldenLibrary
  /// The seconds per frame of cases in an earlier report.
  private let rates: [String: Double]
  /// By name. Made once for all cases, because a pipeline may load models.
  private var pipelines: [String: Result<Pipeline, any Error>] = [:]
  /// The digests of pipelines that no session has changed, by name.
  private var pipelineDigests: [String: String] = [:]
  /// The bytes that a frame of a stored session is assumed to have; a pointer has no number of
  /// frames.
  private static let frameBytes: Int64 = 20_000
  /// The digests of sessions, by folder and tracks.
  private var sessions: [[String]: String] = [:]
  /// The session of the last case. Others are closed, because each keeps files open.
  private var opened: (folder: String, reader: SessionReader)?
  /// The pointer of the last case.
  private var pointed: (name: String, pointer: SessionPointer)?
  /// The digests of files by path; `nil` for a file that cannot be read.
  private var digests: [String: String?] = [:]
  /// The cases that could not be opened, with the reasons.
  private(set) var unopened: [(key: String, reason: any Error)] = []
  /// The first session that its store did not provide.
  private(set) var storeFailure: (any Error)?

  /// - Parameter timings: An earlier report of these cases.
  init(project: Project, library: GoldenLibrary, timings: ReportDocument? = nil) {
    (self.project, self.library) = (project, library)
    let known = (timings?.cases ?? []).compactMap { item -> (String, Double)? in
      // A lower speed is no measurement, and its inverse may be infinite.
      guard let speed = item.run?.framesPerSecond, speed.isFinite, speed > 1e-6 else { return nil }
      return (item.title, 1 / speed)
    }
    rates = Dictionary(known) { first, _ in first }
  }

  /// - Parameters:
  ///   - shards: From 1 to `ShardPlan.shardsMax`.
  ///   - suite: The suite that selected the cases; `nil` for the default.
  /// - Throws: If the user has interrupted it.
  mutating func plan(
    _ selected: [SelectedCase], stale: [GoldenLibrary.Key], shards: Int, suite: String? = nil
  ) throws -> ShardPlan {
    let items =
      try selected.map { try item($0) }
      + stale.map { key in
        var item = ShardPlan.Item(key: key.description)
        (item.golden, item.stale) = (golden(key), true)
        return item
      }
    return ShardPlan(
      timed(items), shards: shards, build: MachineCode.program.map { "\($0)" },
      project: Self.digest(ofFile: project.path(Project.fileName)), suite: suite)
  }

  /// A case that cannot be opened has fewer facts; its run reports why.
  ///
  /// - Throws: If the user has interrupted it.
  mutating func item(_ selected: SelectedCase) throws -> ShardPlan.Item {
    var item = ShardPlan.Item(key: selected.key.description)
    item.golden = golden(selected.key)
    do {
      try selected.check()
      let pipeline = try pipeline(of: selected.definition)
      guard let name = selected.sessionRead.flatMap({ pointedName($0) }) else {
        return try replayed(item, selected, pipeline)
      }
      item = try stored(item, name, selected, pipeline)
      item.files.merge(otherFiles(selected, pipeline)) { first, _ in first }
      return item
    } catch let error as any RetakeError where error.facts.kind == .interrupted {
      throw error
    } catch {
      unopened.append((item.key, error))
      return item
    }
  }

  private mutating func replayed(
    _ item: ShardPlan.Item, _ selected: SelectedCase, _ pipeline: Pipeline
  ) throws -> ShardPlan.Item {
    let job = ReplayJob(
      project: project, definition: selected.definition, session: selected.sessionRead)
    let reader = try selected.sessionRead.map { try session(at: $0) }
    let replay = try job.replay(pipeline, of: reader)
    var item = item
    item.frames = replay.frameCount
    item.pipeline = "\(replay.pipeline.digest)"
    item.files = replay.files.merging(otherFiles(selected, replay.pipeline)) { first, _ in first }
    // The stage times of live runs, which the digest of a session does not have.
    if selected.definition.costs.readsSession { item.files["costs"] = replay.costsText }
    if let reader { item.session = digest(of: reader, tracks: replay.tracks.values.sorted()) }
    return item
  }

  private mutating func session(at folder: String) throws -> SessionReader {
    if let opened, opened.folder == folder { return opened.reader }
    let reader = try SessionReader(opening: folder)
    opened = (folder, reader)
    return reader
  }

  /// The digests of the files that decide about a case, and are neither in its session nor in its
  /// stages: timings, device profiles, images and labels.
  private mutating func otherFiles(
    _ selected: SelectedCase, _ pipeline: Pipeline
  ) -> [String: String] {
    var files: [String: String] = [:]
    let definition = selected.definition
    for name in definition.costs.files {
      files[name] = (try? project.costPath(name)).flatMap { digest(ofInput: $0) }
    }
    if selected.sessionRead != nil {
      let labels = project.labelFolder.file(selected.sessionName).path
      files["Labels/\(selected.sessionName).json"] = digest(ofInput: labels)
    }
    for node in pipeline.flattened().nodes {
      guard case .source(let body) = node.stage.body, let source = body as? ImagesSource,
        let images = try? source.files()
      else { continue }
      let lines = images.map { image in
        "\(digest(ofInput: image) ?? "-") \(URL(fileURLWithPath: image).lastPathComponent)"
      }
      files["images of \(node.id)"] = "\(Digest128(of: lines.joined(separator: "\n")))"
    }
    return files
  }

  private mutating func digest(ofInput path: String) -> String? {
    if let known = digests[path] { return known }
    let digest = try? Sha256.digest(ofFile: path, continues: { _ in true })
    digests[path] = .some(digest)
    return digest
  }

  private static let database = "session.sqlite"

  /// The name of a session that a pointer describes. A folder of the session has to have the
  /// database that the pointer names.
  private mutating func pointedName(_ session: String) -> String? {
    guard let name = project.pointedName(session) else { return nil }
    guard project.hasFolder(name) else { return name }
    let database = "\(project.recordings)/\(name)/\(Self.database)"
    guard let pointer = try? pointer(of: name),
      let file = pointer.files.first(where: { $0.path == Self.database }),
      digest(ofInput: database) == file.object.sha256
    else { return nil }
    return name
  }

  /// The item of a session that a pointer names. It is the same whether the session is in the local
  /// cache or in Recordings or not, because other machines have other caches.
  private mutating func stored(
    _ item: ShardPlan.Item, _ name: String, _ selected: SelectedCase, _ pipeline: Pipeline
  ) throws -> ShardPlan.Item {
    let pointer = try pointer(of: name)
    var stored = item
    stored.session = pointer.digest
    stored.frames = max(1, Int(pointer.bytes / Self.frameBytes))
    stored.pipeline = digest(of: pipeline, named: selected.definition.pipeline)
    guard !selected.definition.overrides.isEmpty else {
      stored.files = Replay.files(of: pipeline)
      return stored
    }
    // An override may swap in a model, and only a replay of the session knows its files.
    let lease: SessionLease?
    do {
      lease = project.hasFolder(name) ? nil : try project.pull(name)
    } catch {
      storeFailure = storeFailure ?? error
      throw error
    }
    let job = ReplayJob(
      project: project, definition: selected.definition,
      session: lease?.path ?? selected.sessionRead)
    stored.files = try withExtendedLifetime(lease) { try job.open(pipeline).replay.files }
    return stored
  }

  private mutating func pipeline(of definition: CaseDefinition) throws -> Pipeline {
    let name = definition.pipeline
    if let known = pipelines[name] { return try known.get() }
    let pipeline = Result { try project.pipeline(name) }
    pipelines[name] = pipeline
    return try pipeline.get()
  }

  private mutating func digest(of pipeline: Pipeline, named name: String) -> String {
    if let known = pipelineDigests[name] { return known }
    let digest = "\(pipeline.digest)"
    pipelineDigests[name] = digest
    return digest
  }

  private mutating func pointer(of name: String) throws -> SessionPointer {
    if let pointed, pointed.name == name { return pointed.pointer }
    let pointer = try SessionPointer(reading: project.pointerFile(name))
    pointed = (name, pointer)
    return pointer
  }

  private mutating func digest(of reader: SessionReader, tracks: [Int]) -> String? {
    let key = [reader.folder.path] + tracks.map { "\($0)" }
    if let known = sessions[key] { return known }
    let digest = (try? reader.inputDigest(tracks: tracks)).map { "\($0)" }
    sessions[key] = digest
    return digest
  }

  /// The digest of golden.yml; with alternates of other platforms, of all of them.
  private func golden(_ key: GoldenLibrary.Key) -> String? {
    let folder = library.folder(key)
    func digest(_ folder: GoldenFolder) -> String? {
      Self.digest(ofFile: folder.file(GoldenFolder.manifestName).path)
    }
    let alternates = folder.alternates()
    guard !alternates.isEmpty else { return digest(folder) }
    let lines = ([folder] + alternates).map { "\(digest($0) ?? "-") \($0.url.lastPathComponent)" }
    return "\(Digest128(of: lines.joined(separator: "\n")))"
  }

  private static func digest(ofFile path: String) -> String? {
    (try? RegularFile.contents(path, bytesMax: 64 << 20)).map { "\(Digest128(of: $0))" }
  }

  /// Predicts durations, if the earlier report has any: for a case that it does not have, from the
  /// mean speed of the others.
  private func timed(_ items: [ShardPlan.Item]) -> [ShardPlan.Item] {
    let known = items.filter { rates[$0.key] != nil && $0.frames > 0 }
    let frames = known.reduce(0) { $0 + $1.frames }
    guard frames > 0 else { return items }
    // In the order of the items, because sums of numbers depend on their order.
    let seconds = known.reduce(0.0) { $0 + Double($1.frames) * (rates[$1.key] ?? 0) }
    return items.map { item in
      guard item.stale != true else { return item }
      var item = item
      let predicted = Double(item.frames) * (rates[item.key] ?? seconds / Double(frames))
      item.seconds = (predicted * 1_000).rounded() / 1_000
      return item
    }
  }
}
