import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia

/// An immutable file of cached values: the records, then a table of their positions by key, then a
/// trailer that proves that the file is complete. docs/formats/cache.md describes it.
final class CachePack: Sendable {
  enum Kind: String, CaseIterable, Sendable {
    /// Values, which are small, and the outlines of frames.
    case values
    case pixels
  }

  /// The position of a record.
  struct Place: Hashable, Sendable {
    var offset: Int
    var count: Int
    var digest: Digest128
  }

  static let magic = Array("retake cache 2\n\0".utf8)
  /// The first and last bytes of packs of all versions.
  private static let family = Array("retake cache ".utf8)
  /// Key, offset, count and digest.
  static let entryBytes = 48
  /// The code of the table, its offset, the number of entries, the digest of table and code, and
  /// the magic again.
  static let endBytes = HmacSha256.count + 48

  let url: URL
  let kind: Kind
  let count: Int
  private let file: MappedFile
  private let entries: Int
  private let seal: CacheSeal
  private let wasUsed = Locked(false)
  /// Offsets of records that were found damaged.
  private let damage = Locked<Set<Int>>([])

  /// The result of opening a file with the name of a pack.
  enum Opened {
    case whole(CachePack)
    /// Complete, but written with another key, for another folder, or by another version.
    case foreign
    /// Packs get their names when they are complete, so the file was changed afterwards.
    case damaged
    /// It cannot be read now, and may be intact: see `MappedFile.Refusal.system`.
    case unreadable
    /// The file no longer exists, or is not a regular file.
    case nothing
  }

  static func open(_ url: URL, kind: Kind, seal: CacheSeal) -> Opened {
    let file: MappedFile
    do throws(MappedFile.Refusal) {
      file = try MappedFile(url.path)
    } catch {
      return Opened(error)
    }
    guard file.count >= magic.count + endBytes,
      let first = file.bytes(at: 0, count: magic.count),
      let last = file.bytes(at: file.count - magic.count, count: magic.count), first == last
    else { return .damaged }
    // Of another version, whose layout is not known here.
    guard first == magic else { return first.starts(with: family) ? .foreign : .damaged }
    let end = file.count - endBytes
    let numbers = end + HmacSha256.count
    // Checked before the code of the table: it needs no secret, and tells a damaged file from one
    // that was written with another key.
    let digest = Digest128(high: file.word(at: numbers + 16), low: file.word(at: numbers + 24))
    // `count` is bounded before the product, which could overflow with a damaged number and end the
    // process.
    guard let start = Int(exactly: file.word(at: numbers)),
      let count = Int(exactly: file.word(at: numbers + 8)), count <= file.count / entryBytes,
      start >= 0, start <= end, start + count * entryBytes == end,
      file.digest(at: start, count: numbers - start) == digest
    else { return .damaged }
    // A plain comparison is enough: no attacker measures here how much of the code is right.
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

  var isUsed: Bool { wasUsed.withLock { $0 } }
  var damagedRecords: Int { damage.withLock { $0.count } }

  /// The position of the record with that key; also `nil` for a record that was found damaged.
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

  /// The bytes of a record; `nil` if they are damaged.
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

  /// The result of `body` for an undamaged record of pixels; `nil` counts as damage.
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

  /// The number of damaged records.
  func damagedCount() -> Int {
    (0..<count).count {
      let place = place($0)
      // Each record is read once. Without this, the memory of the process would grow with the
      // cache.
      defer { file.release(at: place.offset, count: place.count) }
      return !isWhole(place)
    }
  }

  /// Calls `body` with every undamaged record.
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
    // Not checked here: each use goes through `MappedFile.contains`, which refuses places outside
    // of the file.
    return Place(
      offset: Int(truncatingIfNeeded: file.word(at: offset + 16)),
      count: Int(truncatingIfNeeded: file.word(at: offset + 24)),
      digest: Digest128(high: file.word(at: offset + 32), low: file.word(at: offset + 40)))
  }
}

extension CachePack.Opened {
  init(_ refusal: MappedFile.Refusal) {
    switch refusal {
    // No run makes an empty pack or a link.
    case .empty, .link: self = .damaged
    case .missing, .special: self = .nothing
    case .system: self = .unreadable
    }
  }
}
