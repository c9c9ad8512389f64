import Foundation
import RetakeCompare
import RetakeCore

/// Writes a golden that is new where the chosen root causes explain a difference, and old
/// everywhere else.
struct GoldenMerge {
  private let split: GoldenSplit
  private let chosen: MergePlaces
  private let left: MergePlaces

  private var golden: GoldenFolder { split.golden }
  private var pending: GoldenFolder { split.pending }

  init(_ split: GoldenSplit) {
    self.split = split
    chosen = MergePlaces(split.findings(true))
    left = MergePlaces(split.findings(false))
  }

  /// The files of the golden, golden.yml last.
  func write(to scratch: ScratchFolder) throws {
    var manifest = try golden.manifest()
    let new = try pending.manifest()
    // Frames and decisions come from the side whose decisions are used.
    let base = split.takesTiming ? pending : golden
    let summary = (split.takesTiming ? new : manifest).summary
    let writer = try writeResults(
      base: ResultStream(base), other: ResultStream(split.takesTiming ? golden : pending), scratch)
    manifest.expected = ExpectedFrames(
      manifest.expected, track: manifest.input.tracks.values.min() ?? 0
    ).marks(holding: split.findings(false))
    manifest.summary.captured = summary.captured
    // Delivered and damaged frames and decisions follow from the timing, which is entirely from one
    // side. Facts and results are mixed, so the writer has counted them again.
    manifest.summary.delivered = summary.delivered
    manifest.summary.damaged = summary.damaged
    manifest.summary.decisions = summary.decisions
    manifest.summary.decisionDigest = summary.decisionDigest
    manifest.summary.facts = writer.facts
    manifest.summary.resultDigest = writer.digest
    try copy(base.file(GoldenFolder.decisionsName), scratch.file(GoldenFolder.decisionsName))
    // The manifest describes the golden's pipeline until all root causes are accepted.
    if golden.fileNames().contains(GoldenFolder.pipelineName) {
      let name = GoldenFolder.pipelineName
      try copy(golden.file(name), scratch.file(name))
    }
    for name in pending.fileNames() {
      // The versions under which the newly accepted values were made.
      if name.hasPrefix("environment-") { try copy(pending.file(name), scratch.file(name)) }
      if name.hasPrefix("digests-") { try writeDigests(name, of: manifest, scratch) }
    }
    try OutputFile.write(manifest.text.utf8, to: scratch.file(GoldenFolder.manifestName))
  }

  private func copy(_ source: URL, _ target: URL) throws {
    try io(target, "write the file") {
      try FileManager.default.copyItem(at: source, to: target)
    }
  }

  // MARK: results

  private func writeResults(
    base: ResultStream, other: ResultStream, _ scratch: ScratchFolder
  ) throws -> ResultWriter {
    let header = try base.header()
    var writer = ResultWriter(header: header, sinks: header.sinks.map { .init($0) })
    func write(_ chunk: ResultChunkText) throws {
      try OutputFile.write(chunk.bytes, to: scratch.file(chunk.name))
    }
    var partners = Lookahead<ResultFrame>()
    while let frame = try base.next() {
      let partner = try partners.take(frame.id) {
        try other.next().map { ($0.id, $0) }
      }
      let merged = partner.map { self.frame(base: frame, other: $0, header.sinks) } ?? frame
      // A class that is found later is only in the headers from there on, so names are set frame by
      // frame.
      for (sink, names) in zip(header.sinks, base.classes) { writer.setClasses(names, of: sink) }
      // The writer writes it to the files in which a line needs it.
      if let platform = base.platform ?? other.platform { writer.setPlatform(platform) }
      try copyImages(of: merged, partner, header.sinks, scratch)
      if let chunk = writer.append(merged) { try write(chunk) }
    }
    if let chunk = writer.finish() { try write(chunk) }
    return writer
  }

  /// Copies the kept images of a merged frame, from the side that its lines come from.
  private func copyImages(
    of frame: ResultFrame, _ partner: ResultFrame?, _ sinks: [String], _ scratch: ScratchFolder
  ) throws {
    for outcome in frame.outcomes where outcome.ended == nil {
      let sink = sinks[outcome.sink]
      let other = partner?.outcomes.first { $0.sink == outcome.sink && $0.ended == nil }
      let isNew = other == nil ? split.takesTiming : takes(frame.id, sink: sink)
      for name in GoldenFolder.imageNames(frame.id, sink: sink, outcome.lines) {
        let file = (isNew ? pending : golden).file(name)
        // Absent without a rule for pixels, and between the frames of `pictureEvery`.
        guard FileManager.default.fileExists(atPath: file.path) else { continue }
        try copy(file, scratch.file(name))
      }
    }
  }

  private func frame(
    base: ResultFrame, other: ResultFrame, _ sinks: [String]
  ) -> ResultFrame {
    // The base determines the fates. Lines are exchanged only where both runs delivered the frame,
    // because a dropped frame has no lines.
    let (old, new) = split.takesTiming ? (other, base) : (base, other)
    var merged = base
    merged.pts = takes(base.id, sink: nil) ? new.pts : old.pts
    for index in merged.outcomes.indices {
      let sink = merged.outcomes[index].sink
      guard let mine = old.outcomes.first(where: { $0.sink == sink }),
        let theirs = new.outcomes.first(where: { $0.sink == sink }),
        (mine.ended == nil) == (theirs.ended == nil), mine.ended == nil
      else { continue }
      merged.outcomes[index].lines =
        takes(base.id, sink: sinks[sink]) ? theirs.lines : mine.lines
    }
    return merged
  }

  private func takes(_ frame: FrameID, sink: String?) -> Bool {
    // If both kinds of causes meet in one place, the golden's value stays: accepting too little is
    // found by the next run, accepting too much is not.
    chosen.contains(frame, sink: sink) && !left.contains(frame, sink: sink)
  }

  // MARK: stage digests

  /// Writes the new digests, except where they follow from root causes that were not chosen.
  private func writeDigests(
    _ name: String, of manifest: GoldenManifest, _ scratch: ScratchFolder
  ) throws {
    // Without the golden's digests there are no old cells for the causes that were not chosen.
    guard golden.fileNames().contains(name) else { return }
    let tracks = manifest.input.tracks.values
    let track = tracks.min() ?? 0
    let mine = try StageDigestReader(golden.file(name), track: track)
    let theirs = try StageDigestReader(pending.file(name), track: track)
    // The nodes differ. The digests depend on the shape of the pipeline, and the remaining causes
    // may be about that shape.
    guard mine.columns == theirs.columns else {
      return try copy(golden.file(name), scratch.file(name))
    }
    let writer = try StageDigestWriter(
      scratch.file(name), key: manifest.key, columns: mine.columns,
      writesTrack: Set(tracks).count > 1)
    let (rows, others) = split.takesTiming ? (theirs, mine) : (mine, theirs)
    let merge = RowMerge(columns: mine.columns, left: split.left)
    var partners = Lookahead<StageRow>()
    while let row = try rows.next() {
      let partner = try partners.take(row.frame) {
        try others.next().map { ($0.frame, $0) }
      }
      let (old, new) = split.takesTiming ? (partner, row) : (row, partner)
      // Only the side with the timing has this frame.
      guard let old, let new else {
        try writer.append(row)
        continue
      }
      try writer.append(merge.row(golden: old, pending: new))
    }
    try writer.finish()
  }
}

/// The digest rows: new, but old where a root cause that was not chosen explains the difference.
private struct RowMerge {
  /// For each stage with such a cause, the columns that its output reaches, beginning with its own.
  private var reach: [[Int]] = []

  init(columns: [StageColumn], left: [RootCause]) {
    for stage in Set(left.compactMap(\.stage)).sorted() {
      guard let first = columns.firstIndex(where: { $0.node == stage }) else { continue }
      var nodes: Set<String> = [stage]
      // A single pass is enough: columns are in topological order, so inputs come before their
      // readers.
      for column in columns[first...] where column.inputs.contains(where: nodes.contains) {
        nodes.insert(column.node)
      }
      reach.append(columns.indices.filter { nodes.contains(columns[$0].node) })
    }
  }

  func row(golden: StageRow, pending: StageRow) -> StageRow {
    var row = pending
    for columns in reach {
      // If the stage's own output is equal, a difference downstream of it has another cause.
      guard let stage = columns.first, golden.cells[stage] != pending.cells[stage] else { continue }
      for column in columns { row.cells[column] = golden.cells[column] }
    }
    return row
  }
}

/// The positions of findings in the results.
private struct MergePlaces {
  /// Frames that a finding covers at all sinks.
  private var frames: Set<FrameID> = []
  private var bySink: [String: Set<FrameID>] = [:]
  /// Sinks whose results drift: all of their frames differ slightly.
  private var driftingSinks: Set<String> = []

  init(_ findings: [Finding]) {
    for finding in findings where finding.kind.isInResults {
      guard let frame = finding.frame else { continue }
      switch (finding.kind, finding.node) {
      // A frame's time is in its F line, which belongs to all sinks.
      case (.timeChanged, _), (_, nil): frames.insert(frame)
      case (.drift, let sink?): driftingSinks.insert(sink)
      case (_, let sink?): bySink[sink, default: []].insert(frame)
      }
    }
  }

  func contains(_ frame: FrameID, sink: String?) -> Bool {
    if frames.contains(frame) { return true }
    guard let sink else { return false }
    return driftingSinks.contains(sink) || bySink[sink]?.contains(frame) == true
  }
}

extension Finding.Kind {
  /// Decisions and budgets also name frames and nodes, but they are not part of the results.
  fileprivate var isInResults: Bool {
    switch self {
    case .decisionAdded, .decisionRemoved, .decisionMoved, .decisionChanged, .decisionsDiffer,
      .budget:
      false
    default: true
    }
  }
}

/// Finds the partner of an element in a second stream of the same order, and keeps the elements
/// that it skips.
private struct Lookahead<Element> {
  /// Bounded by the frames that only one side has. Both sides are from one session with the same
  /// number of frames, and `GoldenSplit` has a finding for each frame that only one side has.
  private var held: [FrameID: Element] = [:]
  private var isAtEnd = false

  mutating func take(
    _ id: FrameID, _ next: () throws -> (FrameID, Element)?
  ) throws -> Element? {
    if let known = held.removeValue(forKey: id) { return known }
    while !isAtEnd {
      guard let (frame, element) = try next() else {
        isAtEnd = true
        break
      }
      if frame == id { return element }
      held[frame] = element
    }
    return nil
  }
}
