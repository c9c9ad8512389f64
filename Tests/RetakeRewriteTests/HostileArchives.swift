import Foundation
import RetakeMedia

@testable import RetakeRewrite

/// Archives that a program of an attacker might write, from the entries of a good one.
struct HostileArchives {
  struct Hostile {
    var name: String
    /// The beginning of the expected error code.
    var code: String
    var bytes: Data
  }

  struct Entry {
    var header: TarHeader
    var content: Data
    /// Replaces the block of the header.
    var block: [UInt8]?
  }

  /// The manifest, the notes, the medium and the database.
  let entries: [Entry]
  private let good: Data

  init(_ archive: String) throws {
    good = try Data(contentsOf: URL(filePath: archive))
    let left = Source(good)
    let tar = try ZstdExpander { left.next($0) }.read(1 << 24)
    var entries: [Entry] = []
    var place = 0
    while let header = TarHeader(Array(tar[place..<place + 512])) {
      let begin = place + 512
      let end = begin + Int(header.size)
      entries.append(Entry(header: header, content: Data(tar[begin..<end])))
      place = end + TarHeader.padding(after: header.size)
    }
    self.entries = entries
  }

  private final class Source {
    private var bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    func next(_ count: Int) -> Data {
      defer { bytes = Data(bytes.dropFirst(count)) }
      return Data(bytes.prefix(count))
    }
  }

  func tar(_ entries: [Entry], end: Data = Data(count: 1024)) -> Data {
    entries.reduce(Data()) { tar, entry in
      tar + (entry.block ?? entry.header.block) + entry.content
        + Data(count: TarHeader.padding(after: Int64(entry.content.count)))
    } + end
  }

  func compressed(_ tar: Data) throws -> Data {
    var result = Data()
    let compressor = try ZstdCompressor { result += $0 }
    try compressor.append(tar)
    try compressor.finish()
    return result
  }

  func all() throws -> [Hostile] {
    try (paths() + kinds() + fields() + orders() + manifests() + sizes()).map {
      Hostile(name: $0.0, code: $0.2, bytes: try compressed($0.1))
    } + bytes()
  }

  private typealias Tar = (String, Data, String)
  private static let refused = "session.archive."

  /// The entries with a manifest of the files as they are now.
  private func listed(_ files: [Entry]) -> [Entry] {
    let title = "# retake session archive 1\n# name \(entries[0].header.folder)\n"
    let text = files.reduce(title) {
      $0 + "\(Sha256.digest(of: $1.content))  \($1.header.path)\n"
    }
    return [entry(ArchiveManifest.path, Data(text.utf8))] + files
  }

  private func entry(_ path: String, _ content: Data) -> Entry {
    Entry(
      header: TarHeader(folder: entries[0].header.folder, path: path, size: Int64(content.count)),
      content: content)
  }

  private func changed(_ place: Int, _ change: (inout Entry) -> Void) -> [Entry] {
    var entries = entries
    change(&entries[place])
    return entries
  }

  private func paths() -> [Tar] {
    let paths = [
      "../evil", "../../evil", "/retake-evil", "media/../../evil", "media/../evil", "media//x",
      "./session.sqlite", "media/.hidden", "media/a/b", "media/..", "media/.", "media/", "media",
      "",
      "recorder.lock", "session.sqlite-wal", "session.sqlite/", "SESSION.SQLITE", "media\\evil",
      "media/x\n", "media/\u{1B}[31m", "media/é", "media/-rf", "C:evil",
      "media/" + String(repeating: "a", count: 65), String(repeating: "a", count: 99),
    ]
    let medium = entries.firstIndex { $0.header.path.hasPrefix("media/") } ?? 0
    return paths.flatMap { path in
      let files = changed(medium) { $0.header.path = path }
      return [
        ("header '\(path)'", tar(files), Self.refused),
        ("listed '\(path)'", tar(listed(Array(files.dropFirst()))), Self.refused),
      ]
    }
      + ["", "..", "/", "a/b", "../..", ".hidden", "-x", "renamed"].map { folder in
        ("folder '\(folder)'", tar(renamed(folder)), Self.refused)
      }
  }

  /// All entries in another folder; the manifest names the session as before.
  func renamed(_ folder: String) -> [Entry] {
    entries.map { entry in
      var entry = entry
      entry.header.folder = folder
      return entry
    }
  }

  /// Links, devices, pipes, folders and the extended headers of several programs.
  private func kinds() -> [Tar] {
    "1234567gxLKSVA\0".utf8.flatMap { kind in
      entries.indices.map { place in
        let files = changed(place) { entry in
          var block = entry.header.block
          block[156] = kind
          block.replaceSubrange(157..<169, with: "/etc/passwd\0".utf8)
          entry.block = Self.summed(block)
        }
        return ("kind \(kind) at \(place)", tar(files), Self.refused)
      }
    }
  }

  /// Values of fields that no packed session has, with a good checksum.
  private func fields() -> [Tar] {
    let fields: [(String, Int, String)] = [
      ("setuid", 100, "0004755"), ("owner", 108, "0001750"), ("time", 136, "77777777777"),
      ("GNU", 257, "ustar  "), ("user", 265, "root"), ("device", 329, "0000001"),
      ("spaces", 124, "          1"), ("negative", 124, "-0000000001"),
    ]
    return fields.map { name, place, text in
      let files = changed(1) { entry in
        var block = entry.header.block
        block.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
        entry.block = Self.summed(block)
      }
      return ("field \(name)", tar(files), Self.refused)
    } + [
      (
        "checksum",
        tar(
          changed(1) { entry in
            var block = entry.header.block
            block[150] ^= 1
            entry.block = block
          }), Self.refused
      )
    ]
  }

  private static func summed(_ block: [UInt8]) -> [UInt8] {
    var block = block
    block.replaceSubrange(148..<156, with: [UInt8](repeating: 0x20, count: 8))
    let sum = String(block.reduce(0) { $0 + Int($1) }, radix: 8)
    let digits = String(repeating: "0", count: 6 - sum.utf8.count) + sum
    block.replaceSubrange(148..<155, with: Array(digits.utf8) + [0])
    return block
  }

  private func orders() -> [Tar] {
    let files = Array(entries.dropFirst())
    let extra = entry("media/original.exe", Data("extra".utf8))
    let twin = entry(files[0].header.path.lowercased(), Data("twin".utf8))
    return [
      ("reversed", tar([entries[0]] + files.reversed()), Self.refused),
      ("manifest last", tar(files + [entries[0]]), Self.refused),
      ("manifest twice", tar([entries[0]] + entries), Self.refused),
      ("extra", tar(entries + [extra]), Self.refused),
      ("extra, listed", tar(listed([extra] + files)), Self.refused),
      ("extra medium", tar(listed([files[0], extra] + files.dropFirst())), Self.refused),
      ("twin", tar(entries + [twin]), Self.refused),
      ("twins, listed", tar(listed(files + [twin])), Self.refused),
      ("duplicate, listed", tar(listed([files[0]] + files)), Self.refused),
      ("empty", tar([]), Self.refused),
      ("no files", tar(listed([])), Self.refused),
      (
        "signature last", tar(entries + [entry(ArchiveManifest.signaturePath, Data())]),
        Self.refused
      ),
    ]
      + files.indices.flatMap { place -> [Tar] in
        var fewer = files
        let path = fewer.remove(at: place).header.path
        var twice = files
        twice.insert(files[place], at: place)
        // Notes may be absent.
        let missing = path == ArchiveManifest.notes ? [] : [listed(fewer)]
        return [
          ("missing \(path)", tar([entries[0]] + fewer), Self.refused),
          ("twice \(path)", tar([entries[0]] + twice), Self.refused),
        ] + missing.map { ("missing \(path), listed", tar($0), Self.refused) }
      }
  }

  private func manifests() -> [Tar] {
    let text = String(decoding: entries[0].content, as: UTF8.self)
    let name = "# name \(entries[0].header.folder)\n"
    let first = text.split(separator: "\n")[2]
    let changes: [(String, String)] = [
      ("newer", text.replacing("archive 1\n", with: "archive 2\n")),
      ("version 01", text.replacing("archive 1\n", with: "archive 01\n")),
      ("no name", text.replacing(name, with: "")),
      ("other name", text.replacing(name, with: "# name x\n")),
      ("no title", text.replacing("# retake session archive 1\n", with: "")),
      ("no last line end", String(text.dropLast())), ("blank line", text + "\n"),
      ("capital digits", text.uppercased()), ("CRLF", text.replacing("\n", with: "\r\n")),
      ("one space", text.replacing("  ", with: " ")), ("empty manifest", ""),
      (
        "other digest",
        text.replacing(first, with: String(repeating: "0", count: 64) + first.dropFirst(64))
      ),
    ]
    return changes.map { name, text in
      (
        "manifest: \(name)",
        tar([entry(ArchiveManifest.path, Data(text.utf8))] + entries.dropFirst()), Self.refused
      )
    } + [
      (
        "manifest: no text",
        tar([entry(ArchiveManifest.path, Data([0xFF, 0xFE]))] + entries.dropFirst()), Self.refused
      )
    ]
  }

  private func sizes() -> [Tar] {
    let database = entries.count - 1
    let sized = [1 << 31, 1 << 40, Int64.max].map { size in
      ("size \(size)", tar(changed(1) { $0.header.size = size }), "session.archive.tooLarge")
    }
    let altered = entries.indices.flatMap { place -> [Tar] in
      [
        ("shorter \(place)", tar(changed(place) { $0.header.size -= 1 }), Self.refused),
        ("longer \(place)", tar(changed(place) { $0.header.size += 512 }), Self.refused),
        ("one byte \(place)", tar(changed(place) { $0.content[40] ^= 1 }), Self.refused),
      ]
    }
    let garbage = changed(database) { $0.content = Data(repeating: 7, count: $0.content.count) }
    return sized + altered + [
      ("garbage as a database", tar(listed(Array(garbage.dropFirst()))), "store."),
      ("no end", tar(entries, end: Data()), Self.refused),
      ("one block at the end", tar(entries, end: Data(count: 512)), Self.refused),
      ("blocks after the end", tar(entries, end: Data(count: 10_240)), Self.refused),
      ("bytes after the end", tar(entries, end: Data(count: 1024) + [1]), Self.refused),
      ("bytes in the end", tar(entries, end: Data(count: 1023) + [1]), Self.refused),
      ("zeros of 8 MiB", Data(count: 8 << 20), Self.refused),
    ]
  }

  /// Around the compressed frame.
  private func bytes() throws -> [Hostile] {
    var flipped = good
    flipped[good.count / 2] ^= 0x10
    let second = try compressed(Data("second".utf8))
    let kinds: [(String, Data)] =
      [
        ("second frame", good + second), ("byte after the frame", good + [0]),
        ("frame before", second + good), ("flipped bit", flipped), ("not compressed", tar(entries)),
        ("gzip", Data([0x1F, 0x8B, 8, 0]) + good), ("text", Data("#!/bin/sh\n".utf8)),
        ("empty file", Data()),
        // A raw last block of a byte, in a frame that asks for a window of 2 GiB.
        ("window", Data([0x28, 0xB5, 0x2F, 0xFD, 0, 0xA8, 9, 0, 0, 1])),
        ("skippable frame", Data([0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]) + good),
      ] + (1..<10).map { ("cut at \($0)", Data(good.prefix(good.count * $0 / 10))) }
      + [("cut by a byte", Data(good.dropLast()))]
    return kinds.map { Hostile(name: $0.0, code: Self.refused, bytes: $0.1) }
  }
}
