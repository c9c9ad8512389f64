import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeMedia
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// Writes a run as golden files while it goes on.
final class GoldenObserver: RunObserver {
  private let writer: GoldenWriter

  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  init(_ writer: GoldenWriter) {
    self.writer = writer
  }

  func decided(_ line: DecisionLine) { writer.append(line) }

  func finished(_ frame: FinishedFrame) throws {
    for (outcome, names) in zip(frame.result.outcomes, frame.classNames) where !names.isEmpty {
      writer.setClasses(names, of: outcome.sink)
    }
    try writer.append(frame.result)
    try writer.append(
      StageRow(
        frame: frame.result.id,
        packet: frame.entry.packetDigest.map { StageCell($0) } ?? .notRun,
        cells: frame.digests.map { StageCell($0) }))
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
  /// What a golden says of a case before its first frame.
  init(_ replay: Replay, definition: CaseDefinition, project: Project, reader: SessionReader?)
    throws
  {
    let input = GoldenManifest.Input(
      session: reader?.folder.name ?? "own",
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
        nodes: replay.nodes.map(\.id)), quantisation: [:])
    manifest.compare = project.compare
    manifest.budgets = GoldenManifest.Budgets(droppedMax: project.budgets["droppedMax"])
    self.init(
      manifest: manifest, header: replay.header, sinks: replay.sinks,
      columns: replay.columns, origin: try replay.originNanoseconds(),
      platform: PlatformKey.current.description,
      primarySink: replay.pipeline.primarySink, environment: Self.libraries)
  }

  /// Versions by library, and Retake's own.
  private static var libraries: [String: String] {
    var result = ["retake": Tool.version]
    for line in MediaLibraries.versions {
      let words = line.split(separator: " ", maxSplits: 1)
      if words.count == 2 { result[String(words[0])] = String(words[1]) }
    }
    return result
  }
}

extension Replay {
  /// Sources and stages with the nearest sources and stages before them.
  var columns: [StageColumn] {
    let byID = Dictionary(nodes.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    func digested(_ id: String) -> [String] {
      guard let node = byID[id] else { return [] }
      return node.role.isDigested ? [id] : node.inputs.flatMap(digested)
    }
    return nodes.filter(\.role.isDigested).map { node in
      StageColumn(
        node.id, isStateful: [.stateful, .latest].contains(node.role),
        inputs: node.inputs.flatMap(digested))
    }
  }
}
