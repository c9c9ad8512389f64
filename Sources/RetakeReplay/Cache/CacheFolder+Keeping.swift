import Foundation
import RetakeCore

/// What a cache holds of one track.
public struct CacheScope: Hashable, Sendable, Codable {
  /// The session that filled it first.
  public var session: String
  public var track: Int
  /// Of the track's media.
  public var seconds: Double
  public var valueBytes = 0
  public var pixelBytes = 0
  public var records = 0

  public init(session: String, track: Int, seconds: Double) {
    self.session = session
    self.track = track
    self.seconds = seconds
  }
}

extension CacheFolder {
  static let aboutName = "about.json"

  /// A pack by its name alone.
  private struct Pack {
    var url: URL
    var kind: CachePack.Kind
    var bytes: Int
    var used: Date
  }

  /// What there is, by session, then track.
  public func scopes() -> [CacheScope] {
    scopeFolders().compactMap { folder in
      guard let data = try? Data(contentsOf: folder.appending(path: Self.aboutName)),
        var scope = try? JSONDecoder().decode(CacheScope.self, from: data)
      else { return nil }
      for pack in packs(in: folder) {
        if pack.kind == .values {
          scope.valueBytes += pack.bytes
        } else {
          scope.pixelBytes += pack.bytes
        }
        scope.records += CachePack(pack.url, kind: pack.kind)?.count ?? 0
      }
      return scope
    }.sorted { ($0.session, $0.track) < ($1.session, $1.track) }
  }

  /// Takes away what was used longest ago until no more than so many bytes are left, and what writers
  /// left behind that are gone.
  ///
  /// - Returns: The bytes that went.
  @discardableResult public func prune(to limit: Int) -> Int {
    var (gone, packs) = (0, [Pack]())
    for folder in scopeFolders() {
      gone += removeAbandoned(in: folder)
      packs += self.packs(in: folder)
    }
    var total = packs.reduce(0) { $0 + $1.bytes }
    for pack in packs.sorted(by: { ($0.used, $0.url.path) < ($1.used, $1.url.path) })
    where total > limit {
      guard unlink(pack.url.path) == 0 else { continue }
      total -= pack.bytes
      gone += pack.bytes
    }
    for folder in scopeFolders() where isLeft(folder) {
      unlink(folder.appending(path: Self.aboutName).path)
      rmdir(folder.path)
    }
    return gone
  }

  /// Holds every record against its checksum, and takes away the files in which one differs.
  ///
  /// - Parameter isInterrupted: Asked between files.
  /// - Returns: How many records there are, and the files that went.
  public func verify(
    isInterrupted: () -> Bool = { false }, progress: (Int, Int) -> Void = { _, _ in }
  ) -> (records: Int, damaged: [String]) {
    var (records, damaged) = (0, [String]())
    let packs = scopeFolders().flatMap { self.packs(in: $0) }
    for (done, pack) in packs.enumerated() {
      if isInterrupted() { break }
      progress(done, packs.count)
      guard let read = CachePack(pack.url, kind: pack.kind), read.damagedCount() == 0 else {
        damaged.append(pack.url.path)
        unlink(pack.url.path)
        continue
      }
      records += read.count
    }
    return (records, damaged)
  }

  /// Nobody keeps anything there, or is about to.
  private func isLeft(_ folder: URL) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.allSatisfy { $0 == Self.aboutName }
  }

  private func scopeFolders() -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.sorted().filter { Digest128(hex: $0) != nil }.map {
      url.appending(path: $0, directoryHint: .isDirectory)
    }
  }

  private func packs(in folder: URL) -> [Pack] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap { name in
      guard name.hasSuffix(".pack"),
        let kind = CachePack.Kind.allCases.first(where: { name.hasPrefix($0.rawValue + "-") })
      else { return nil }
      let url = folder.appending(path: name)
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
      return Pack(
        url: url, kind: kind, bytes: (attributes?[.size] as? NSNumber)?.intValue ?? 0,
        used: attributes?[.modificationDate] as? Date ?? .distantPast)
    }
  }

  func openPacks(in folder: URL) -> [CachePack] {
    packs(in: folder).compactMap { CachePack($0.url, kind: $0.kind) }
  }

  /// A file that nobody holds a lock on has no writer any more.
  private func removeAbandoned(in folder: URL) -> Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasPrefix(".writing-") }.reduce(0) { gone, name in
      let path = folder.appending(path: name).path
      let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard descriptor >= 0 else { return gone }
      defer { close(descriptor) }
      var status = stat()
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &status) == 0,
        unlink(path) == 0
      else { return gone }
      return gone + Int(status.st_size)
    }
  }
}
