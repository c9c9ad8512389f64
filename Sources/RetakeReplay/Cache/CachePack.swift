import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia

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

  static let magic = Array("retake cache 2\n\0".utf8)
  /// How packs of all versions begin and end.
  private static let family = Array("retake cache ".utf8)
  /// Key, offset, count and digest.
  static let entryBytes = 48
  /// The entries' code, where they are, how many, the digest of entries and code, and the magic again.
  static let endBytes = HmacSha256.count + 48

  let url: URL
  let kind: Kind
  let count: Int
  private let file: MappedFile
  private let entries: Int
  private let seal: CacheSeal
  private let wasUsed = Locked(false)
  /// Where records lie that were not what they had been.
  private let damage = Locked<Set<Int>>([])

  /// What a file with the name of a pack is.
  enum Opened {
    case whole(CachePack)
    /// Whole, and made with another key, for another folder, or by another version.
    case foreign
    /// It was a pack: packs get their names when they are whole.
    case damaged
    /// It is not there any more, or cannot be read.
    case nothing
  }

  static func open(_ url: URL, kind: Kind, seal: CacheSeal) -> Opened {
    guard let file = MappedFile(url.path) else { return isThere(url) ? .damaged : .nothing }
    guard file.count >= magic.count + endBytes,
      let first = file.bytes(at: 0, count: magic.count),
      let last = file.bytes(at: file.count - magic.count, count: magic.count), first == last
    else { return .damaged }
    guard first == magic else { return first.starts(with: family) ? .foreign : .damaged }
    let end = file.count - endBytes
    let numbers = end + HmacSha256.count
    let digest = Digest128(high: file.word(at: numbers + 16), low: file.word(at: numbers + 24))
    guard let start = Int(exactly: file.word(at: numbers)),
      let count = Int(exactly: file.word(at: numbers + 8)), count <= file.count / entryBytes,
      start >= 0, start <= end, start + count * entryBytes == end,
      file.digest(at: start, count: numbers - start) == digest
    else { return .damaged }
    // Compared in one go: nobody measures here how much of it is right.
    guard
      file.withBytes(at: start, count: end - start, { seal.code(ofTable: $0, at: start) })
        == file.bytes(at: end, count: HmacSha256.count)
    else { return .foreign }
    return .whole(CachePack(url, kind, file, entries: start, count: count, seal))
  }

  private init(
    _ url: URL, _ kind: Kind, _ file: MappedFile, entries: Int, count: Int, _ seal: CacheSeal
  ) {
    (self.url, self.kind, self.file, self.seal) = (url, kind, file, seal)
    (self.entries, self.count) = (entries, count)
  }

  /// Whether a file that cannot be mapped is there and could be read: then it is empty.
  private static func isThere(_ url: URL) -> Bool {
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
    guard isWhole(place) else {
      note(damaged: place)
      return nil
    }
    return file.bytes(at: place.offset, count: place.count)
  }

  private func isWhole(_ place: Place) -> Bool {
    file.withBytes(at: place.offset, count: place.count) { seal.digest(of: $0) } == place.digest
  }

  /// What `body` makes of a record of pixels that is what it was; `nil` counts as damage.
  func pixels<Made>(_ place: Place, _ body: (MappedFile, Place) -> Made?) -> Made? {
    wasUsed.withLock { $0 = true }
    file.fetch(at: place.offset, count: place.count)
    let made = isWhole(place) ? body(file, place) : nil
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
      return !isWhole(place)
    }
  }

  /// Gives every record that is what it was.
  func eachWhole(_ body: (Digest128, [UInt8]) -> Void) {
    for index in 0..<count {
      let place = place(index)
      if isWhole(place), let bytes = file.bytes(at: place.offset, count: place.count) {
        body(key(index), bytes)
      }
      file.release(at: place.offset, count: place.count)
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
