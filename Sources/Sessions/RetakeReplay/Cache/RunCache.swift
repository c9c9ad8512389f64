import Foundation
package import RetakeBuffers
package import RetakeCore
package import RetakeRuntime
package import RetakeSession

/// The cache of one run over a session.
package final class RunCache: ValueCache {
  package let codeDigest: Digest128
  private let reader: SessionReader
  private let folder: CacheFolder
  private let scopes: [Int: CacheTrack]
  private let decoder: Digest128
  private let counts = Locked((known: 0, computed: 0))
  private let isFrozen: @Sendable (FrameID) -> Bool

  /// - Parameters:
  ///   - tracks: The tracks that the run reads.
  ///   - isFrozen: Whether the run reads another image for the frame, which is not kept.
  /// - Throws: `SessionError`, `CacheError.noProgram`. A folder that cannot be written is only read, and the summary
  ///   reports it.
  package init(
    _ folder: CacheFolder, reader: SessionReader, tracks: Set<Int>,
    isFrozen: @escaping @Sendable (FrameID) -> Bool = { _ in false }
  ) throws {
    self.folder = folder
    self.isFrozen = isFrozen
    self.reader = reader
    // FFmpeg selects its code by the processor's abilities, so pixels may depend on both.
    var hasher = DigestHasher()
    hasher.append(SessionReader.decoderDigest)
    hasher.append(MachineCode.processor)
    decoder = hasher.finish()
    codeDigest = try MachineCode.digest(with: decoder)
    var scopes: [Int: CacheTrack] = [:]
    for track in tracks.sorted() {
      scopes[track] = try CacheTrack(folder, reader: reader, track: track)
    }
    self.scopes = scopes
  }

  package func key(of frame: FrameID) throws -> Digest128? {
    // The packets are checked also if the frame is known, so that damaged media is found as without
    // a cache.
    guard scopes[frame.track] != nil, !isFrozen(frame), try reader.checkPackets(of: frame) else {
      return nil
    }
    var hasher = DigestHasher()
    hasher.append("frame")
    hasher.append(decoder)
    hasher.append(frame.sequence)
    // Values stored for other pixels do not belong to this frame, even if the session's digest is
    // equal.
    if let pixels = try reader.storedPixelDigest(of: frame) { hasher.append(pixels) }
    return hasher.finish()
  }

  package func record(_ key: Digest128, track: Int) -> CachedRecord? {
    scopes[track]?.record(key)
  }

  package func keep(_ record: CachedRecord, under key: Digest128, track: Int) {
    scopes[track]?.keep(record, under: key)
  }

  package func hasPixels(_ digest: Digest128, track: Int) -> Bool {
    scopes[track]?.hasPixels(digest) ?? false
  }

  package func frame(_ outline: FrameOutline, track: Int) -> Frame? {
    scopes[track]?.frame(outline)
  }

  package func keepPixels(of frame: Frame, track: Int) { scopes[track]?.keepPixels(of: frame) }

  package func count(isKnown: Bool) {
    counts.withLock { if isKnown { $0.known += 1 } else { $0.computed += 1 } }
  }

  package func countComputedAfterAll() {
    counts.withLock { ($0.known, $0.computed) = ($0.known - 1, $0.computed + 1) }
  }

  /// Finishes the written files and removes old files beyond the limit.
  package func finish() -> RunSummary.CacheUse {
    var use = RunSummary.CacheUse()
    (use.known, use.computed) = counts.withLock { $0 }
    var isFull = false
    var files: [CachePackWriter.File] = []
    for track in scopes.keys.sorted() {
      guard let scope = scopes[track] else { continue }
      files += scope.finish(&use)
      isFull = isFull || scope.isSpent
      if scope.foreignFiles > 0 { use.foreign = (use.foreign ?? 0) + scope.foreignFiles }
    }
    // Files that cannot be removed now are removed after another run.
    if !files.isEmpty { _ = try? folder.prune(to: folder.limitBytes) }
    // Pruning also removes files of this run if they alone exceed the limit.
    let left = files.filter { FileManager.default.fileExists(atPath: $0.url.path) }
    use.bytesWritten = left.reduce(0) { $0 + $1.bytes }
    if let cause = use.failure {
      use.failure = "\(cause): \(folder.url.path)"
    } else if isFull || left.count < files.count {
      use.failure = "no more than \(ByteText.limit(folder.limitBytes)) are kept: \(folder.url.path)"
    }
    return use
  }
}

/// The cached values of one track, and the values that a run adds.
private final class CacheTrack: Sendable {
  private let values: [CachePack]
  private let pixels: [CachePack]
  /// Files with a damaged table. Their contents are unknown.
  private let damagedFiles: [URL]
  /// The number of files that were written elsewhere.
  let foreignFiles: Int
  private let newValues: CachePackWriter
  private let newPixels: CachePackWriter

  init(_ folder: CacheFolder, reader: SessionReader, track: Int) throws {
    let url = folder.scope(try reader.storedDigest(tracks: [track]))
    Self.makeFolder(url, reader: reader, track: track)
    let packs = folder.openPacks(in: url)
    values = packs.whole.filter { $0.kind == .values }
    pixels = packs.whole.filter { $0.kind == .pixels }
    damagedFiles = packs.damaged
    foreignFiles = packs.foreign
    newValues = CachePackWriter(
      folder: url, kind: .values, key: folder.key, budget: folder.limitBytes)
    newPixels = CachePackWriter(
      folder: url, kind: .pixels, key: folder.key, budget: folder.limitBytes)
  }

  /// If this fails, writing the first pack fails too, and that is reported.
  private static func makeFolder(_ url: URL, reader: SessionReader, track: Int) {
    let about = url.appending(path: CacheAbout.name)
    guard !FileManager.default.fileExists(atPath: about.path) else { return }
    let description = reader.tracks.first { $0.track == track }
    let last = (description?.frameCount ?? 0) - 1
    let ends = [0, max(0, last)].map {
      (try? reader.entries(of: track, sequences: $0..<$0 + 1).first?.timestamp.nanoseconds) ?? 0
    }
    let scope = CacheAbout(
      session: reader.folder.name, track: track, seconds: Double(ends[1] - ends[0]) / 1e9)
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    try? JSONEncoder().encode(scope).write(to: about, options: .atomic)
  }

  func record(_ key: Digest128) -> CachedRecord? {
    // Several packs may have the key: a record that was damaged is kept again in a later pack.
    for pack in values {
      if let place = pack.place(of: key), let bytes = pack.record(place) {
        return CachedRecord(bytes)
      }
    }
    return nil
  }

  func keep(_ record: CachedRecord, under key: Digest128) {
    newValues.append(key) { record.bytes }
  }

  func hasPixels(_ digest: Digest128) -> Bool {
    pixels.contains { $0.place(of: digest) != nil }
  }

  func frame(_ outline: FrameOutline) -> Frame? {
    for pack in pixels {
      guard let place = pack.place(of: outline.digest) else { continue }
      let frame = pack.pixels(place) {
        Frame(outline, in: $0, at: $1.offset, count: $1.count)
      }
      if let frame { return frame }
    }
    return nil
  }

  func keepPixels(of frame: Frame) {
    let digest = frame.digest
    guard !hasPixels(digest) else { return }
    newPixels.append(digest) { frame.packed() }
  }

  /// Whether a record was not stored because the limit was reached.
  var isSpent: Bool { newValues.isSpent || newPixels.isSpent }

  /// - Returns: The files that were written.
  func finish(_ use: inout RunSummary.CacheUse) -> [CachePackWriter.File] {
    var files: [CachePackWriter.File] = []
    // A file with a damaged record is removed when its other records are copied.
    for pack in values where pack.damagedRecords > 0 {
      pack.eachWhole { key, bytes in newValues.append(key) { bytes } }
    }
    for pack in pixels where pack.damagedRecords > 0 {
      pack.eachWhole { key, bytes in newPixels.append(key) { bytes } }
    }
    for writer in [newValues, newPixels] {
      writer.finish()
      files += writer.published
      use.failure = use.failure ?? writer.failure
    }
    // If not all of the copies were written, the file stays: its other records are still of use.
    let isCopied = { (pack: CachePack) in
      let writer = pack.kind == .values ? self.newValues : self.newPixels
      return writer.failure == nil && !writer.isSpent
    }
    // Only the name is removed: a process that reads the file now continues to read it.
    for url in damagedFiles { unlink(url.path) }
    use.damaged += damagedFiles.count
    for pack in values + pixels {
      use.damaged += pack.damagedRecords
      if pack.damagedRecords > 0, isCopied(pack) { unlink(pack.url.path) }
      // A pack never changes, so its modification time can say when it was used last. `prune` goes
      // by it.
      if pack.isUsed { utimes(pack.url.path, nil) }
    }
    return files
  }
}

extension CachedRecord {
  private static let frameMark: UInt8 = 1
  private static let valueMark: UInt8 = 2

  fileprivate var bytes: [UInt8] {
    switch self {
    case .frame(let outline):
      var writer = ByteWriter()
      outline.write(to: &writer)
      return [Self.frameMark] + writer.bytes
    case .value(let bytes): return [Self.valueMark] + bytes
    }
  }

  fileprivate init?(_ bytes: [UInt8]) {
    switch bytes.first {
    case Self.frameMark:
      var reader = ByteReader(bytes.dropFirst())
      guard let outline = try? FrameOutline(reading: &reader) else { return nil }
      self = .frame(outline)
    case Self.valueMark: self = .value(Array(bytes.dropFirst()))
    default: return nil
    }
  }
}
