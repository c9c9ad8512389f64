import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// Writes the rows of a replay copy that are not media, the sidecar files, and the notes.
struct OptimizedRows {
  let reader: SessionReader
  let encoding: ReplayEncoding
  let report: @Sendable (SessionCheck.Progress) -> Bool

  /// Writes everything and closes the database.
  func write(
    _ account: OptimizeAccount, _ writer: StoreWriter, _ site: SessionBuilder
  ) throws {
    try bringSidecars(to: site, writer)
    try writer.copyAccounts(from: reader.index.store) { run in
      if !account.isExact { Self.markInexact(&run) }
      return true
    }
    try writer.close()
    // After the close, because the lineage maps the digest of the finished rows. Facts are not in
    // the input digest (docs/formats/session.md), so adding the fact does not change the digest.
    try writeLineage(account, to: site.folder)
    let own = try reader.folder.notesText()
    let exactly = account.isExact ? "with the same pixels" : "with other pixels"
    try site.write(
      "A replay copy of the session \(reader.folder.name): its frames, encoded again (\(encoding.name)), "
        + "\(exactly).\n\n" + (own ?? ""), to: site.folder.notes)
  }

  /// Copies the files alongside the media, byte for byte.
  private func bringSidecars(to site: SessionBuilder, _ writer: StoreWriter) throws {
    let media = Set(reader.mediaFiles())
    let files = try reader.index.store.files()
      // The copy has its own media.
      .filter { !media.contains($0.path) }
    for file in files {
      let path = try reader.folder.file(file.path)
      let total = Int((SessionBuilder.byteCount(path) ?? 0) >> 20)
      try site.bring(path, as: file.path, bytesMax: .max) {
        report(SessionCheck.Progress(done: Int($0 >> 20), total: total, unit: .megabytes))
      }
    }
    writer.append(files)
  }

  /// Marks a live run as inexact, because the stored pixels are not those that the pipeline saw.
  private static func markInexact(_ run: inout RunRecord) {
    guard case .object(var facts) = try? JSONValue(parsing: Data(run.json.utf8)),
      facts["exactPixels"] != nil
    else { return }
    facts["exactPixels"] = .bool(false)
    run.json = JSONValue.object(facts).canonicalText
  }

  private func writeLineage(_ account: OptimizeAccount, to folder: SessionFolder) throws {
    let copy = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    var inputs: [InputLineage.Input] = []
    for tracks in account.isExact ? InputLineage.choices(of: reader.index.tracks) : [] {
      inputs.append(
        InputLineage.Input(
          // Not the stored digest: a copy of an exact copy stands in for the first original.
          tracks: tracks, original: try reader.inputDigest(tracks: tracks),
          copy: try copy.storedDigest(tracks: tracks)))
    }
    let lineage = InputLineage(
      session: reader.folder.name, digest: try reader.index.store.digest(),
      codec: encoding.name, isExact: account.isExact, inputs: inputs)
    let writer = try StoreWriter(continuing: folder.database)
    writer.setMeta(InputLineage.fact, lineage.text)
    try writer.close()
  }
}
