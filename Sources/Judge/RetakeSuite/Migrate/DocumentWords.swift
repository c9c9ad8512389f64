import Foundation
import RetakeCore

/// The old words of a document, by their places.
enum DocumentWords {
  struct Renaming {
    var place: WordPlace
    var new: String
  }

  /// Keys of the nodes of a pipeline; `nil` if the data is not JSON.
  static func inPipeline(_ data: Data) -> [Renaming]? {
    guard let places = WordPlace.places(inJSON: data) else { return nil }
    return places.compactMap { place in
      guard place.isKey, isNode(place.path.dropLast()) else { return nil }
      return FormerWords.nodeKeys.first { $0.key == place.text }.map {
        Renaming(place: place, new: $0.value)
      }
    }
  }

  /// `nodes/3`, or `nodes/3/body/nodes/0`.
  private static func isNode(_ path: ArraySlice<String>) -> Bool {
    let path = Array(path)
    return path.count == 2 && path[0] == "nodes"
      || path.count == 5 && path[0] == "nodes" && path[2] == "body" && path[3] == "nodes"
  }

  /// Keys and values of the cases in retake.yml.
  static func inProject(_ places: [WordPlace]) -> [Renaming] {
    places.compactMap { place in
      guard place.path.count == 3, place.path[0] == "cases" else { return nil }
      return renaming(place)
    }
  }

  /// Keys and values of golden.yml.
  static func inGolden(_ places: [WordPlace]) -> [Renaming] {
    places.compactMap { place in
      switch (place.path.count, place.path.first) {
      case (1, "quantisation"), (2, "case"), (3, "accepted"): renaming(place)
      default: nil
      }
    }
  }

  private static func renaming(_ place: WordPlace) -> Renaming? {
    let table = place.isKey ? FormerWords.projectKeys : FormerWords.modes
    switch (place.isKey, place.path.last) {
    case (true, _), (false, "mode"):
      return table.first { $0.key == place.text }.map { Renaming(place: place, new: $0.value) }
    case (false, "costs"):
      return FormerWords.renamedCosts(place.text).map { Renaming(place: place, new: $0) }
    default: return nil
    }
  }

  static func apply(_ words: [Renaming], to data: Data) -> Data {
    var bytes = Array(data)
    // From the end, so that the places before stay valid.
    for word in words.sorted(by: { $0.place.offset > $1.place.offset }) {
      let end = word.place.offset + word.place.text.utf8.count
      bytes.replaceSubrange(word.place.offset..<end, with: word.new.utf8)
    }
    return Data(bytes)
  }
}

/// Old words in code and scripts, which are only reported.
enum FormerCode {
  struct Hint {
    var line: Int
    var old: String
    var new: String
  }

  private static let endings = ["swift", "py", "c", "h", "cpp", "sh", "yml", "yaml", "md"]

  static func isCode(_ name: String) -> Bool {
    ["Makefile", "Jenkinsfile"].contains(name) || endings.contains { name.hasSuffix(".\($0)") }
  }

  /// Text that is only written for the old word.
  private static let words: KeyValuePairs = [
    "RunOptions(mode: .lossless": "RunOptions(mode: .everyFrame",
    "RunOptions(mode: .redecide": "RunOptions(mode: .simulate", "Reenactment(": "Reproduction(",
    ".grey()": ".gray()", "quantum: [": "precision: [", "quantum={": "precision={",
    "lanes=": "concurrency=", "RETAKE_LOSSLESS": "RETAKE_EVERY_FRAME",
    "RETAKE_REDECIDE": "RETAKE_SIMULATE", "RETAKE_THINNED": "RETAKE_THROTTLED",
    "RETAKE_SUPERSEDED": "RETAKE_REPLACED", "mode=\"lossless\"": "mode=\"every-frame\"",
    "mode=\"redecide\"": "mode=\"simulate\"",
  ]

  /// `words`, and those of the command line as a script writes them: `--mode lossless`.
  private static let written: [(old: String, new: String)] =
    FormerWords.modes.map { ("--mode \($0.key)", "--mode \($0.value)") }
    + [("--costs \(FormerWords.costs.old)", "--costs \(FormerWords.costs.new)")]
    + FormerWords.commands.map { ("retake \($0.key)", "retake \($0.value)") }
    + words.map { ($0.key, $0.value) }

  /// Whether the text contains `old` as separate words: `lanes=`, and not `planes=`.
  private static func isWritten(_ old: String, in text: String) -> Bool {
    text.ranges(of: old).contains { range in
      let isOpen = old.first?.isLetter == true && range.lowerBound > text.startIndex
      let isCut = old.last?.isLetter == true && range.upperBound < text.endIndex
      return !(isOpen && text[text.index(before: range.lowerBound)].isLetter)
        && !(isCut && text[range.upperBound].isLetter)
    }
  }

  /// The renamed options of a command that a line calls: `retake record --ring 10s`.
  private static func options(in text: String) -> [(old: String, new: String)] {
    guard text.contains("retake") else { return [] }
    let typed = Set(text.split { !($0.isLetter || $0.isNumber || $0 == "-") })
    return FormerWords.options.filter { typed.contains(Substring($0.command)) }.flatMap {
      $0.options.filter { typed.contains(Substring($0.key)) }.map { ($0.key, $0.value) }
    }
  }

  static func hints(in data: Data) -> [Hint] {
    var hints: [Hint] = []
    let lines = data.split(separator: 0x0A, omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let text = String(decoding: line, as: UTF8.self)
      for (old, new) in written.filter({ isWritten($0.old, in: text) }) + options(in: text) {
        hints.append(Hint(line: index + 1, old: old, new: new))
      }
    }
    return hints
  }
}
