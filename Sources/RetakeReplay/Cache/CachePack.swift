import Foundation
import RetakeBuffers
import RetakeCore

/// A file of kept values that never changes: records, then where they lie by their keys, then an end
/// that says it is whole. docs/cache.md has the form.
final class CachePack: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// Small ones, and what frames are beside their pixels.
    case values
    case pixels
  }

  /// Where a record lies.
  struct Place: Hashable, Sendable {
    var offset: Int
    var count: Int
    var digest: Digest128
  }

  static let magic = Array("retake cache 1\n\0".utf8)
  /// Key, offset, count and digest.
  static let entryBytes = 48
  /// Where the entries are, how many, their digest, and the magic again.
  static let endBytes = 48

  let url: URL
  let kind: Kind
  let count: Int
  private let file: MappedFile
  private let entries: Int
  private let wasUsed = Locked(false)
  /// Where records lie that were not what they had been.
  private let damage = Locked<Set<Int>>([])

  /// - Returns: `nil` for a file that is not whole.
  init?(_ url: URL, kind: Kind) {
    guard let file = MappedFile(url.path), file.count >= Self.magic.count + Self.endBytes,
      file.bytes(at: 0, count: Self.magic.count) == Self.magic,
      file.bytes(at: file.count - Self.magic.count, count: Self.magic.count) == Self.magic
    else { return nil }
    let end = file.count - Self.endBytes
    let digest = Digest128(high: file.word(at: end + 16), low: file.word(at: end + 24))
    guard let start = Int(exactly: file.word(at: end)),
      let count = Int(exactly: file.word(at: end + 8)), count <= file.count / Self.entryBytes,
      start >= 0, start + count * Self.entryBytes == end,
      file.digest(at: start, count: end - start) == digest
    else { return nil }
    (self.url, self.kind, self.file) = (url, kind, file)
    (entries, self.count) = (start, count)
  }

  /// Whether a file that is no pack was one: it is there and can be read. Packs get their names when
  /// they are whole.
  static func isDamaged(_ url: URL) -> Bool {
    var status = stat()
    return stat(url.path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
      && access(url.path, R_OK) == 0
  }

  var isUsed: Bool { wasUsed.withLock { $0 } }
  var damagedRecords: Int { damage.withLock { $0.count } }

  /// Where a record of that key lies; `nil` also for one that was found damaged.
  func place(of key: Digest128) -> Place? {
    guard let place = find(key), !damage.withLock({ $0.contains(place.offset) }) else { return nil }
    return place
  }

  private func find(_ key: Digest128) -> Place? {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      let found = self.key(middle)
      if found == key { return place(middle) }
      if (found.high, found.low) < (key.high, key.low) { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  /// The bytes of a record; `nil` when they are not what they were.
  func record(_ place: Place) -> [UInt8]? {
    wasUsed.withLock { $0 = true }
    guard file.digest(at: place.offset, count: place.count) == place.digest else {
      note(damaged: place)
      return nil
    }
    return file.bytes(at: place.offset, count: place.count)
  }

  /// What `body` makes of a record of pixels; `nil` counts as damage.
  func pixels<Made>(_ place: Place, _ body: (MappedFile, Place) -> Made?) -> Made? {
    wasUsed.withLock { $0 = true }
    let made = body(file, place)
    if made == nil { note(damaged: place) }
    return made
  }

  private func note(damaged place: Place) {
    damage.withLock { _ = $0.insert(place.offset) }
  }

  /// How many records are not what they were.
  func damagedCount() -> Int {
    (0..<count).count {
      let place = place($0)
      defer { file.release(at: place.offset, count: place.count) }
      return file.digest(at: place.offset, count: place.count) != place.digest
    }
  }

  private func key(_ index: Int) -> Digest128 {
    let offset = entries + index * Self.entryBytes
    return Digest128(high: file.word(at: offset), low: file.word(at: offset + 8))
  }

  private func place(_ index: Int) -> Place {
    let offset = entries + index * Self.entryBytes
    return Place(
      offset: Int(truncatingIfNeeded: file.word(at: offset + 16)),
      count: Int(truncatingIfNeeded: file.word(at: offset + 24)),
      digest: Digest128(high: file.word(at: offset + 32), low: file.word(at: offset + 40)))
  }
}
