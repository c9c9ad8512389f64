import Foundation
import RetakeCore
package import RetakeRuntime
import RetakeStore

/// A live run that was recorded with a session: the inputs of its decision core, and its decisions.
package struct LiveRunReader: Sendable {
  package let session: String
  package let number: Int
  package let name: String
  /// The pipeline's document; `nil` for a pipeline with closures, which has no document.
  package let pipeline: String?
  package let tracks: [LiveTrack]
  package let originNanoseconds: Int64
  package let workers: Int
  /// The IDs of the nodes that ran, sorted by their bytes.
  package let nodeIDs: [String]
  /// Whether the stored frames have the pixels that the pipeline saw.
  package let hasExactPixels: Bool
  private let store: StoreReader

  /// Number of rows that are in memory at once.
  package static let pageRows = 1_024

  package struct Event: Sendable {
    package var ordinal: Int
    package var nanoseconds: Int64
    package var kind: String
    package var json: String
  }

  package struct Result: Hashable, Sendable {
    package var sink: String
    package var line: String
  }

  fileprivate init(
    _ row: RunRecord, nodes: [NodeRecord], session: String, store: StoreReader
  ) throws {
    guard let json = try? JSONValue(parsing: Data(row.json.utf8)),
      case .string(let name) = json["name"], case .array(let tracks) = json["tracks"],
      case .integer(let origin) = json["originNanoseconds"],
      case .integer(let workers) = json["workers"]
    else {
      throw SessionError.badRun(session: session, run: row.run, detail: "its facts cannot be read")
    }
    let known = tracks.compactMap { LiveTrack(json: $0) }
    // A run without one of its tracks would decide otherwise, so every track is needed.
    guard known.count == tracks.count, !known.isEmpty else {
      throw SessionError.badRun(session: session, run: row.run, detail: "its tracks cannot be read")
    }
    self.session = session
    number = row.run
    self.name = name
    pipeline = row.pipeline.isEmpty ? nil : row.pipeline
    self.tracks = known
    originNanoseconds = origin
    self.workers = Int(clamping: workers)
    // By bytes: Swift's own order of strings compares normalized characters.
    nodeIDs = nodes.map(\.node).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    hasExactPixels = json["exactPixels"] == .bool(true)
    self.store = store
  }

  /// At most a page of events from the ordinal on, in ascending order; empty at the end.
  package func events(from ordinal: Int) throws -> [Event] {
    try store.externalEvents(run: number, ordinals: ordinal..<ordinal + Self.pageRows).map {
      Event(ordinal: $0.ordinal, nanoseconds: $0.timeNanoseconds, kind: $0.kind, json: $0.json)
    }
  }

  /// At most a page of decisions from the ordinal on.
  package func decisions(from ordinal: Int) throws -> [String] {
    try store.decisions(run: number, ordinals: ordinal..<ordinal + Self.pageRows).map(\.line)
  }

  /// At most a page of results from the ordinal on.
  package func results(from ordinal: Int) throws -> [Result] {
    try store.results(run: number, ordinals: ordinal..<ordinal + Self.pageRows).map {
      Result(sink: $0.sink, line: $0.line)
    }
  }
}

extension SessionReader {
  /// The numbers of the recorded live runs, in ascending order.
  package func liveRuns() throws -> [Int] {
    try requireWholeRows()
    return try index.store.runs()
      .filter { $0.kind == Self.liveKind }.map(\.run)
  }

  /// Whether the session is a trimmed copy: its live runs have only stage times, so they cannot be
  /// reproduced.
  package func isTrimmed() throws -> Bool { try trimmed() != nil }

  /// The stored origin of a trimmed copy; nil for any other session.
  private func trimmed() throws -> String? {
    try index.store.meta(TrimOrigin.fact)
  }

  /// A live run by its number; the newest one if `nil`.
  ///
  /// - Throws: `SessionError.noLiveRun`, `SessionError.trimmedRun`, `SessionError.badRun`.
  package func liveRun(_ number: Int? = nil) throws -> LiveRunReader {
    try requireWholeRows()
    let rows = try index.store.runs()
      .filter { $0.kind == Self.liveKind }
    // Rows are in the order of runs, so the last one is the newest.
    guard let row = number.map({ wanted in rows.first { $0.run == wanted } }) ?? rows.last else {
      throw SessionError.noLiveRun(session: folder.path, known: rows.map(\.run))
    }
    // Earlier versions kept inputs of trimmed runs, under the numbers of the original's frames.
    if let trimmed = try trimmed() {
      throw SessionError.trimmedRun(
        session: folder.path, run: row.run, original: TrimOrigin.session(in: trimmed))
    }
    let nodes = try index.store.nodes(run: row.run)
    return try LiveRunReader(row, nodes: nodes, session: folder.path, store: index.store)
  }

  private static var liveKind: String { "live" }
}
