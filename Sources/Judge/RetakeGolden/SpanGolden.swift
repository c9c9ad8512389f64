import Foundation
import RetakeCompare
package import RetakeCore

/// A golden for a span of a session, made of the golden of the full session without the pipeline
/// that made it.
///
/// Chosen frames have the golden's results, stage digests and decisions. All other frames come from
/// the run over the span, because a stage that begins at the span has another state than it had
/// there when the golden was made.
package struct SpanGolden {
  private let golden: GoldenFolder
  private let whole: GoldenFolder
  private let actual: GoldenFolder
  private let decisions: [DecisionLine]
  private let frames: [FrameID: FrameID]

  /// - Parameters:
  ///   - golden: The golden of the full session.
  ///   - whole: The run over the full session.
  ///   - actual: The run over the span.
  ///   - decisions: All decisions of `actual`.
  ///   - frames: The chosen frames of the span, and the frames of the full session that they are.
  package init(
    golden: GoldenFolder, whole: GoldenFolder, actual: GoldenFolder, decisions: [DecisionLine],
    frames: [FrameID: FrameID]
  ) {
    (self.golden, self.whole, self.actual) = (golden, whole, actual)
    (self.decisions, self.frames) = (decisions, frames)
  }

  /// Everything that a golden says about one frame.
  private struct Facts: Equatable {
    /// By sink.
    var lines: [String: [ResultLine]] = [:]
    /// By node.
    var cells: [String: StageCell] = [:]
    /// Without the decisions that are only digested.
    var decisions: [DecisionLine] = []
  }

  /// Whether the run over the span says the same about the chosen frames as the run over the full
  /// session. If not, the frames depend on earlier frames than the span has.
  ///
  /// - Throws: `GoldenError`.
  package func isRepeated() throws -> Bool {
    let (mine, theirs) = (try facts(of: actual, isSpan: true), try facts(of: whole))
    return mine.allSatisfy { frame, facts in
      guard var other = theirs[frame] else { return false }
      // The pipeline of the span may have fewer branches.
      other.lines = other.lines.filter { facts.lines[$0.key] != nil }
      other.cells = other.cells.filter { facts.cells[$0.key] != nil }
      other.decisions.removeAll { !nodes.contains($0.node) }
      return facts == other
    }
  }

  /// Writes the golden.
  ///
  /// - Throws: `GoldenError`.
  package func write(to target: GoldenFolder) throws {
    let theirs = try facts(of: golden)
    let scratch = try ScratchFolder(in: target.url)
    defer { scratch.remove() }
    var manifest = try actual.manifest()
    let old = try golden.manifest()
    let results = try writeResults(theirs, scratch)
    let log = try writeDecisions(theirs, of: manifest, scratch)
    try writeDigests(theirs, of: manifest, scratch)
    manifest.summary.facts = results.facts
    manifest.summary.resultDigest = results.digest
    (manifest.summary.decisions, manifest.summary.decisionDigest) = (log.count, log.digest)
    (manifest.models, manifest.programs, manifest.files) = (old.models, old.programs, old.files)
    (manifest.devices, manifest.fitted) = (old.devices, old.fitted.filter { !$0.devices.isEmpty })
    let isWhole = old.precision.keys == manifest.precision.keys
    if isWhole { manifest.pipeline = old.pipeline }
    let document = (isWhole ? golden : actual).file(GoldenFolder.pipelineName)
    var copied = golden.fileNames().filter { $0.hasPrefix("environment-") }.map { golden.file($0) }
    if FileManager.default.fileExists(atPath: document.path) { copied.append(document) }
    for file in copied {
      let place = scratch.file(file.lastPathComponent)
      try io(place, "write the file") { try FileManager.default.copyItem(at: file, to: place) }
    }
    try OutputFile.write(manifest.text.utf8, to: scratch.file(GoldenFolder.manifestName))
    try scratch.move(into: target)
  }

  // MARK: the facts of frames

  private var nodes: Set<String> { Set((try? actual.manifest().pipeline.nodes) ?? []) }

  /// By frame of the span.
  private func facts(of folder: GoldenFolder, isSpan: Bool = false) throws -> [FrameID: Facts] {
    // Under the numbers of the folder's own session.
    let ids = Dictionary(
      uniqueKeysWithValues: frames.map { (isSpan ? $0.key : $0.value, $0.key) })
    var facts: [FrameID: Facts] = [:]
    let (header, found) = try folder.frames(Set(ids.keys))
    let sinks = header?.sinks ?? []
    for (id, frame) in found {
      guard let place = ids[id] else { continue }
      for outcome in frame.outcomes where sinks.indices.contains(outcome.sink) {
        facts[place, default: Facts()].lines[sinks[outcome.sink]] = outcome.lines
      }
    }
    try readCells(of: folder, ids, into: &facts)
    try readDecisions(of: folder, ids, into: &facts)
    return facts
  }

  private func digests(of folder: GoldenFolder) throws -> StageDigestReader? {
    let manifest = try folder.manifest()
    let file = folder.file(GoldenFolder.digestsName(manifest.platform))
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return try StageDigestReader(file, track: manifest.input.tracks.values.min() ?? 0)
  }

  private func readCells(
    of folder: GoldenFolder, _ ids: [FrameID: FrameID], into facts: inout [FrameID: Facts]
  ) throws {
    guard let reader = try digests(of: folder) else { return }
    var left = ids.count
    while left > 0, let row = try reader.next() {
      guard let place = ids[row.frame] else { continue }
      left -= 1
      for (column, cell) in zip(reader.columns, row.cells) {
        facts[place, default: Facts()].cells[column.node] = cell
      }
    }
  }

  private func readDecisions(
    of folder: GoldenFolder, _ ids: [FrameID: FrameID], into facts: inout [FrameID: Facts]
  ) throws {
    let reader = try DecisionFileReader(folder.file(GoldenFolder.decisionsName))
    // Virtual time begins at the first frame, which is another one in the span.
    let shift =
      reader.origin - (try DecisionFileReader(actual.file(GoldenFolder.decisionsName)).origin)
    while let data = try reader.nextLine() {
      guard case .line(var line) = try reader.entry(data),
        let place = line.frame.flatMap({ ids[$0] })
      else { continue }
      (line.frame, line.time) = (place, line.time + shift)
      facts[place, default: Facts()].decisions.append(line)
    }
  }

  // MARK: files

  private func writeResults(
    _ theirs: [FrameID: Facts], _ scratch: ScratchFolder
  ) throws -> ResultWriter {
    let stream = try ResultStream(actual)
    let header = try stream.header()
    let old = try golden.frames(Set(frames.values)).header
    var writer = ResultWriter(header: header, sinks: header.sinks.map { .init($0) })
    func write(_ chunk: ResultChunkText) throws {
      try OutputFile.write(chunk.bytes, to: scratch.file(chunk.name))
    }
    while var frame = try stream.next() {
      for (sink, names) in zip(header.sinks, stream.classes) {
        let known = old.flatMap { old in
          old.sinks.firstIndex(of: sink).flatMap { $0 < old.classes.count ? old.classes[$0] : nil }
        }
        // A class that is found later in the session is missing in the shorter list.
        writer.setClasses([names, known ?? []].max { $0.count < $1.count } ?? names, of: sink)
      }
      if let platform = stream.platform { writer.setPlatform(platform) }
      if let facts = theirs[frame.id] {
        for index in frame.outcomes.indices {
          let sink = header.sinks[frame.outcomes[index].sink]
          if let lines = facts.lines[sink] { frame.outcomes[index].lines = lines }
        }
      }
      if let chunk = writer.append(frame) { try write(chunk) }
    }
    if let chunk = writer.finish() { try write(chunk) }
    return writer
  }

  private func writeDecisions(
    _ theirs: [FrameID: Facts], of manifest: GoldenManifest, _ scratch: ScratchFolder
  ) throws -> DecisionFileWriter {
    let name = GoldenFolder.decisionsName
    let reader = try DecisionFileReader(actual.file(name))
    let writer = try DecisionFileWriter(
      scratch.file(name), key: manifest.key, origin: reader.origin)
    let mine = try facts(of: actual, isSpan: true)
    let differing = frames.keys.filter { frame in
      (theirs[frame]?.decisions ?? []).filter { nodes.contains($0.node) } != mine[frame]?.decisions
        ?? []
    }
    let changed = Set(differing)
    // Sorted, because the order of a Dictionary would reach the file.
    var inserted = differing.sorted().flatMap { theirs[$0]?.decisions ?? [] }
      .filter { nodes.contains($0.node) }[...]
    for line in decisions {
      while let first = inserted.first, first.time < line.time {
        try writer.append(inserted.removeFirst())
      }
      let isReplaced = line.frame.map { changed.contains($0) } ?? false
      if isReplaced, !DecisionFileWriter.folded.contains(line.kind) { continue }
      try writer.append(line)
    }
    for line in inserted { try writer.append(line) }
    try writer.finish()
    return writer
  }

  private func writeDigests(
    _ theirs: [FrameID: Facts], of manifest: GoldenManifest, _ scratch: ScratchFolder
  ) throws {
    // Without digests in the golden, causes are seen at the sinks, in the span as in the session.
    guard try digests(of: golden) != nil, let rows = try digests(of: actual) else { return }
    let platform = try golden.manifest().platform
    let writer = try StageDigestWriter(
      scratch.file(GoldenFolder.digestsName(platform)), key: manifest.key, columns: rows.columns,
      writesTrack: manifest.input.timeBase.count > 1)
    while var row = try rows.next() {
      for (index, column) in rows.columns.enumerated() {
        if let cell = theirs[row.frame]?.cells[column.node] { row.cells[index] = cell }
      }
      try writer.append(row)
    }
    try writer.finish()
  }
}
