import RetakeMedia

/// Compares an AVI file's chunks with its index (`idx1`), because FFmpeg's demuxer skips a chunk
/// with a damaged header without an error.
///
/// Files whose writer could not seek back, and all but the first part of files above 1 GB, have no
/// such index.
struct AVIStructure {
  private struct Chunk {
    var name: [UInt8]
    var size: Int64
  }

  private let file: MediaFile
  /// The end of the first part, limited to the file's size.
  private let end: Int64

  /// The index of a file of 1 GB has fewer entries.
  private static let entryCountMax = 50_000_000
  private static let chunkCountMax = 1_000
  private static let entryBytes: Int64 = 16
  private static let entriesAtOnce: Int64 = 4_096
  /// Number of entries used to detect the origin of the index's offsets.
  private static let sampleCount = 16

  /// A description of the damage; nil when chunks and index agree, or the file has no index.
  static func damage(of file: MediaFile, end: Int64) -> String? {
    AVIStructure(file: file, end: min(end, file.size)).damage()
  }

  private func damage() -> String? {
    guard let (movie, index) = places() else { return nil }
    // Offsets are relative to the list's name, or to the beginning of the file.
    var sample: [(chunk: Chunk, offset: Int64)] = []
    forEachEntry(in: index) {
      sample.append($0)
      return sample.count < Self.sampleCount
    }
    let bases: [Int64] = [movie, 0]
    let hits = bases.map { base in sample.count { isThere($0.chunk, at: base + $0.offset) } }
    // If no sampled entry fits either origin, the index has an unknown layout and proves no damage.
    guard let most = hits.max(), most > 0, let place = hits.firstIndex(of: most) else { return nil }
    var damaged: (first: Int64, count: Int)?
    forEachEntry(in: index) { entry in
      let offset = bases[place] + entry.offset
      if !isThere(entry.chunk, at: offset) {
        damaged = (damaged?.first ?? offset, (damaged?.count ?? 0) + 1)
      }
      return true
    }
    guard let damaged else { return nil }
    let more = damaged.count > 1 ? "; \(damaged.count) chunks in all" : ""
    return "the file is damaged: the chunk at byte \(damaged.first) is not the one that the index "
      + "names\(more)"
  }

  /// The position of the name of the list of chunks, and the range of the index's content.
  private func places() -> (movie: Int64, index: Range<Int64>)? {
    var movie: Int64?
    // `RIFF`, the size and the form `AVI ` come before the first chunk.
    var offset: Int64 = 12
    for _ in 0..<Self.chunkCountMax {
      guard offset + 8 <= end, let chunk = chunk(at: offset) else { return nil }
      let start = offset + 8
      if chunk.name == Array("LIST".utf8), (try? file.bytes(4, at: start)) == Array("movi".utf8) {
        movie = movie ?? start
      }
      if chunk.name == Array("idx1".utf8), let movie {
        return (movie, start..<min(start + chunk.size, end))
      }
      // A chunk is padded to an even length, which its size does not count.
      offset = start + chunk.size + chunk.size % 2
    }
    return nil
  }

  private func chunk(at offset: Int64) -> Chunk? {
    guard let bytes = try? file.bytes(8, at: offset), bytes.count == 8 else { return nil }
    return Chunk(name: Array(bytes[..<4]), size: Self.number(bytes[4...]))
  }

  /// Calls `body` only for entries of streams that have bytes: writers also index frames that they
  /// omitted.
  private func forEachEntry(
    in index: Range<Int64>, _ body: ((chunk: Chunk, offset: Int64)) -> Bool
  ) {
    let step = Self.entriesAtOnce * Self.entryBytes
    var start = index.lowerBound
    for _ in 0..<Self.entryCountMax / Int(Self.entriesAtOnce) {
      let count = min(step, index.upperBound - start)
      guard count >= Self.entryBytes, let bytes = try? file.bytes(Int(count), at: start) else {
        return
      }
      for place in stride(from: 0, through: bytes.count - Int(Self.entryBytes), by: 16) {
        let name = Array(bytes[place..<place + 4])
        let size = Self.number(bytes[place + 12..<place + 16])
        // Chunks of a stream are named by two digits and a kind (`00dc`). An
        // index may also have `rec ` lists.
        let isStream = name[..<2].allSatisfy {
          (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0)
        }
        guard isStream, size > 0 else { continue }
        let entry = (
          Chunk(name: name, size: size), Self.number(bytes[place + 8..<place + 12])
        )
        guard body(entry) else { return }
      }
      start += step
    }
  }

  private func isThere(_ wanted: Chunk, at offset: Int64) -> Bool {
    guard let found = chunk(at: offset) else { return false }
    return found.name == wanted.name && found.size == wanted.size
  }

  /// Little-endian; at most seven bytes.
  static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
  }
}
