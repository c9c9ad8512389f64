import Foundation

/// One place that breaks a rule of the repository.
struct Finding: Hashable, Comparable, CustomStringConvertible {
  var path: String
  /// From 1; 0 if the finding is about the file.
  var line: Int
  var rule: String

  var description: String { line == 0 ? "\(path): \(rule)" : "\(path):\(line): \(rule)" }

  static func < (left: Finding, right: Finding) -> Bool {
    (left.path, left.line, left.rule) < (right.path, right.line, right.rule)
  }
}

/// A file of the repository, or a planted one.
struct SourceFile: Sendable {
  /// Relative to the package root, with slashes.
  var path: String
  var text: String

  var name: String { String(path.split(separator: "/").last ?? "") }
  var folders: [Substring] { path.split(separator: "/").dropLast() }
  var isUnsafe: Bool { folders.contains("Unsafe") }
  /// The folder below a layer of Sources, or below Tests or Examples: a target's or an example's
  /// name.
  var target: String {
    let depth = folders.first == "Sources" ? 2 : 1
    guard folders.count > depth else { return "" }
    return folders[1] == "Benchmarks" ? "retake-benchmarks" : String(folders[depth])
  }
}

/// A regular expression that reports the lines of its matches.
struct LinePattern {
  private let expression: NSRegularExpression

  init(_ pattern: String) throws {
    expression = try NSRegularExpression(pattern: pattern, options: [.anchorsMatchLines])
  }

  /// The lines, from 1 and without repetition, on which a match begins.
  func lines(in text: String) -> [Int] {
    let whole = NSRange(text.startIndex..., in: text)
    let starts = expression.matches(in: text, range: whole).map(\.range.location)
    var lines: [Int] = []
    var line = 1
    var position = 0
    let units = Array(text.utf16)
    for start in starts {
      while position < start {
        if units[position] == 10 { line += 1 }
        position += 1
      }
      if lines.last != line { lines.append(line) }
    }
    return lines
  }
}
