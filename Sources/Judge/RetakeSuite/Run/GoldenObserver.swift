import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeMedia
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages

/// Writes a run as golden files during the run.
final class GoldenObserver: RunObserver {
  private let writer: GoldenWriter

  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  init(_ writer: GoldenWriter) {
    self.writer = writer
  }

  func decided(_ line: DecisionLine) { writer.append(line) }

  func finished(_ frame: FinishedFrame) throws {
    // Before the frame is written: its lines have the numbers of classes, whose names are in the
    // header of its file.
    for (outcome, names) in zip(frame.result.outcomes, frame.classNames) where !names.isEmpty {
      writer.setClasses(names, of: outcome.sink)
    }
    writer.noteArrival(of: frame.result.id, at: frame.arrivalNanoseconds)
    if frame.entry.damage != nil { writer.noteDamage(of: frame.result.id) }
    for (outcome, picture) in zip(frame.result.outcomes, frame.pictures) {
      guard let picture, writer.keepsImage(of: frame.result.id, at: outcome.sink) else {
        continue
      }
      try writer.keep(png: try MediaImage.png(picture), of: frame.result.id, at: outcome.sink)
    }
    for outcome in frame.result.outcomes { try keepImages(outcome, of: frame.result.id) }
    try writer.append(frame.result)
    try writer.append(
      StageRow(
        frame: frame.result.id,
        packet: frame.entry.packetDigest.map { StageCell($0) } ?? .notRun,
        cells: frame.digests.map { StageCell($0) }))
  }
}

extension GoldenObserver {
  /// Writes the images among a sink's observations, if the rules need them.
  private func keepImages(_ outcome: SinkOutcome, of frame: FrameID) throws {
    guard case .facts(let facts) = outcome.content, writer.keepsImage(of: frame, at: outcome.sink)
    else { return }
    var index = 0
    for case .observation(let item) in facts {
      guard case .image(let array) = item.content else { continue }
      if let bytes = try array.picture.map({ try MediaImage.png($0) }) ?? array.npy {
        try writer.keep(
          image: bytes, of: frame, at: outcome.sink, index: index, isPicture: array.isPicture)
      }
      index += 1
    }
  }
}

extension StageCell {
  init(_ digest: NodeDigest) {
    switch digest {
    case .notRun: self = .notRun
    case .value(let value): self.init(value)
    case .failed(let code): self.init(failed: code)
    }
  }
}

extension GoldenWriter.Plan {
  /// The facts about a case that a golden records before the first frame.
  ///
  /// - Parameter golden: The golden that the run will be compared with.
  init(
    _ replay: Replay, definition: CaseDefinition, project: Project, reader: SessionReader?,
    comparedWith golden: GoldenManifest?
  ) throws {
    let input = GoldenManifest.Input(
      session: reader?.folder.name ?? definition.source?.name ?? "own",
      digest: try reader?.inputDigest(tracks: replay.tracks.values.sorted()) ?? .zero,
      tracks: replay.tracks, frames: replay.frameCount, timeBase: [:])
    var manifest = GoldenManifest(
      input: input,
      testCase: GoldenManifest.Case(
        name: definition.name, pipeline: definition.pipeline, mode: definition.mode.rawValue,
        costs: replay.costsText, seed: definition.seed,
        overrides: CaseOverride.byKey(definition.overrides)),
      pipeline: GoldenManifest.PipelineNote(
        name: replay.pipeline.name, digest: replay.pipeline.digest,
        nodes: replay.nodes.map(\.id), sinks: replay.sinkInputs), precision: [:])
    manifest.models = replay.modelFiles
    manifest.devices = replay.modelDevices
    manifest.programs = replay.programFiles
    manifest.files = replay.storedFiles
    manifest.labels = try reader.flatMap {
      try project.labelFolder.document(of: $0.folder.name)?.digest
    }
    manifest.compare = project.compare
    manifest.budgets = project.budgets
    var rules = project.compare
    // A golden's order is the order in which it was written; retake.yml may have other rules by
    // now.
    rules.bySink.merge(golden?.compare.bySink ?? [:]) { $1 }
    var sinks = replay.sinks
    for index in sinks.indices {
      let rule = rules.rule(for: sinks[index].path)
      sinks[index].orderIsSignificant = rule.order == .significant
    }
    self.init(
      manifest: manifest, header: replay.header, sinks: sinks,
      columns: replay.columns, origin: try replay.originNanoseconds(),
      platform: manifest.platform,
      primarySink: replay.pipeline.primarySink,
      environment: Self.libraries(
        models: manifest.models.isEmpty ? nil : project.registry.annexes.models))
    writtenRules = rules
    pipeline = PipelineRecord(replay.pipeline)
  }

  static let modelLibrary = "onnxruntime"

  /// Versions of the libraries and of Retake, by name.
  static func libraries(models: ModelSupport?) -> [String: String] {
    var result = ["retake": Tool.version]
    // The library is loaded by now. Its results differ between versions.
    if let models { result[modelLibrary] = (try? models.library())?.version }
    for line in MediaLibraries.versions {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { result[String(words[0])] = String(words[1]) }
    }
    return result
  }
}

extension Replay {
  /// Sources and stages, each with the nearest sources and stages before it.
  var columns: [StageColumn] {
    nodes.filter(\.role.isDigested).map { node in
      StageColumn(
        node.id, isStateful: [.stateful, .latest].contains(node.role),
        inputs: digestedInputs(of: node))
    }
  }

  /// The sources and stages that each results sink depends on.
  var sinkInputs: [String: [String]] {
    Dictionary(
      nodes.filter { node in sinks.contains { $0.path == node.id } }.map {
        ($0.id, digestedInputs(of: $0))
      }, uniquingKeysWith: { first, _ in first })
  }

  private func digestedInputs(of node: RunNode) -> [String] {
    inputs(of: node).flatMap { id -> [String] in
      guard let input = nodes.first(where: { $0.id == id }) else { return [] }
      // Ends: every source is digested, and a pipeline has no cycle.
      return input.role.isDigested ? [id] : digestedInputs(of: input)
    }
  }

  /// The end of a forEach passes on the detections that its beginning received, next to the values
  /// that its body computed from each. The detections come first, because they are upstream of the
  /// body.
  private func inputs(of node: RunNode) -> [String] {
    guard node.role == .gather,
      let fork = nodes.first(where: {
        $0.role == .fork && Pipeline.joinID(of: $0.id) == node.id
      })
    else { return node.inputs }
    return [fork.id] + node.inputs
  }
}
