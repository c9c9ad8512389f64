import Foundation

/// The number of a chapter that a file's name shows: `GX020042.MP4` is chapter 2 of recording 0042.
package struct ChapterName: Hashable, Sendable {
  /// Equal for all chapters of one recording.
  package let recording: String
  package let number: Int
  /// Whether cameras write such names for chapters only.
  package let isCamera: Bool
  /// The number of a recording's first chapter.
  let first: Int
  private let digits: Int
  private let prefix: String
  private let suffix: String

  /// - Returns: nil if the name has no number of a chapter.
  package init?(_ path: String) {
    let url = URL(fileURLWithPath: path)
    let stem = url.deletingPathExtension().lastPathComponent
    let dotted = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
    // GoPro: GX020042 (HEVC), GH020042 (H.264), GL020042, GS020042; before HERO6 GOPR0042,
    // GP010042, GP020042.
    if let match = stem.wholeMatch(of: /G([HXLS])(\d\d)(\d{4})/) {
      self.init("G\(match.1)", match.2, match.3 + dotted, first: 1, isCamera: true)
    } else if let match = stem.wholeMatch(of: /GP(\d\d)(\d{4})/) {
      self.init("GP", match.1, match.2 + dotted, first: 0, isCamera: true)
    } else if let match = stem.wholeMatch(of: /GOPR(\d{4})/) {
      self.init("GP", "00", match.1 + dotted, first: 0, isCamera: true)
    } else if let match = stem.wholeMatch(of: /(.*[^0-9])(\d{1,4})/) {
      self.init(String(match.1), match.2, dotted, first: 0, isCamera: false)
    } else {
      return nil
    }
  }

  private init(
    _ prefix: String, _ number: Substring, _ suffix: String, first: Int, isCamera: Bool
  ) {
    (self.prefix, self.suffix, self.first) = (prefix, suffix, first)
    (self.number, digits) = (Int(number) ?? 0, number.utf8.count)
    self.isCamera = isCamera
    recording = prefix + "*" + suffix
  }

  /// Whether the number has leading zeros, or as many digits as counters of recorders have.
  private var isCounter: Bool { digits >= 3 }

  /// The name of another chapter of the same recording.
  func name(of number: Int) -> String {
    if prefix == "GP", number == 0 { return "GOPR" + suffix }
    let text = String(number)
    return prefix + String(repeating: "0", count: max(0, digits - text.utf8.count)) + text + suffix
  }

  /// The groups of two and more names that look like chapters of one recording, each in the order
  /// of its chapters.
  package static func groups(of paths: [String]) -> [[String]] {
    var recordings: [String] = []
    var members: [String: [(name: ChapterName, path: String)]] = [:]
    for path in paths {
      guard let name = ChapterName(path), name.isCamera || name.isCounter else { continue }
      // Files of two folders may have equal names.
      let key = URL(fileURLWithPath: path).deletingLastPathComponent().path + "/" + name.recording
      if members[key] == nil { recordings.append(key) }
      members[key, default: []].append((name, path))
    }
    return recordings.compactMap { key in
      let sorted = (members[key] ?? []).sorted { $0.name.number < $1.name.number }
      let isGapless = zip(sorted, sorted.dropFirst()).allSatisfy {
        $1.name.number == $0.name.number + 1 || $0.name.isCamera
      }
      return sorted.count > 1 && isGapless ? sorted.map(\.path) : nil
    }
  }
}
