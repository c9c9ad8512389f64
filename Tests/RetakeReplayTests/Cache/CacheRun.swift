import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeSession
import RetakeStages
import RetakeTestSupport

@testable import RetakeReplay

/// Runs over a recording of the repository, with a separate cache.
struct CacheRun {
  /// The parts of a run's report that do not depend on the machine.
  struct Print: Hashable {
    var results: Digest128
    var decisions: Digest128
    var stages: [[NodeDigest]]
    var frames: FrameLedger
  }

  let folder: TemporaryFolder
  var recording = "figures"
  /// The folder of another session.
  var session: String?

  init() throws {
    folder = try TemporaryFolder("retake-cache")
  }

  var path: String { folder.file("cache").path }

  /// The key of the user who runs the tests, as the tests assume it.
  static let key = CacheKey(secret: Array("the key of this machine".utf8))

  func cache(
    limit: Int = CacheFolder.defaultLimit, key: CacheKey = CacheRun.key
  ) throws -> CacheFolder {
    try CacheFolder(path: path, key: key, limitBytes: limit)
  }

  func run(
    _ document: String, workers: Int = 2, mode: RunOptions.Mode = .everyFrame,
    cache: CacheFolder? = nil
  ) throws -> (print: Print, use: RunSummary.CacheUse?) {
    let reader = try SessionReader(
      opening: session ?? packageRoot.appending(path: "Recordings/\(recording)").path)
    let pipeline = try PipelineDocument.parse(
      Data(document.utf8), catalog: StageRegistry.builtIn)
    var replay = try Replay(
      pipeline, reader: reader, catalog: StageRegistry.builtIn,
      request: Replay.Request(
        caseName: "cached", options: RunOptions(mode: mode, workers: workers)))
    if let cache {
      replay.cache = try RunCache(
        cache, reader: reader, tracks: Set(replay.tracks.values))
    }
    let stages = StageDigests()
    let summary = try replay.run(observers: [stages])
    return (
      Print(
        results: summary.resultDigest, decisions: summary.decisionDigest,
        stages: stages.frames, frames: summary.frames), summary.cache
    )
  }

  /// The files of one kind, with their folder.
  func packs(_ kind: CachePack.Kind) -> [URL] {
    let found = FileManager.default.enumerator(
      at: folder.file("cache"), includingPropertiesForKeys: nil)
    return (found?.compactMap { $0 as? URL } ?? [])
      .filter { $0.lastPathComponent.hasPrefix(kind.rawValue) }
      .sorted { $0.path < $1.path }
  }

  /// The bytes of all packs.
  var packedBytes: Int {
    (packs(.values) + packs(.pixels)).reduce(0) { sum, file in
      sum + ((try? file.resourceValues(forKeys: [.fileSizeKey]))?.fileSize ?? 0)
    }
  }

  /// Flips one bit.
  func flip(_ file: URL, at offset: Int) throws {
    var bytes = try Data(contentsOf: file)
    bytes[offset] ^= 1
    try bytes.write(to: file)
  }

  /// A source, a scaling, a stateful detector, and pixels that a sink digests.
  static func branches(threshold: Int = 24, width: Int = 64) -> String {
    """
    {"v": 1, "name": "cached",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "small", "kind": "downsample", "options": {"width": \(width), "height": 48}},
      {"id": "light", "kind": "luminance"},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "motion", "options": {"threshold": \(threshold)}, "cost": {"fixed": "45ms"}},
      {"id": "boxes", "kind": "results", "primary": true},
      {"id": "levels", "kind": "results"},
      {"id": "pictures", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "small"},
      {"from": "small", "to": "light"},
      {"from": "light", "to": "levels"},
      {"from": "small", "to": "pictures"},
      {"from": "small", "to": "grey"},
      {"from": "grey", "to": "motion"},
      {"from": "motion", "to": "boxes"}]}
    """
  }

  /// Only small values reach a sink, through pure stages only.
  static func light(width: Int = 64) -> String {
    """
    {"v": 1, "name": "light",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "small", "kind": "downsample", "options": {"width": \(width), "height": 48}},
      {"id": "light", "kind": "luminance"},
      {"id": "levels", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "small"}, {"from": "small", "to": "light"},
      {"from": "light", "to": "levels"}]}
    """
  }
}

/// The digest of every stage's output.
private final class StageDigests: RunObserver {
  private(set) var frames: [[NodeDigest]] = []

  var wantsDigests: Bool { true }

  func finished(_ frame: FinishedFrame) { frames.append(frame.digests) }
}
