import Foundation
import RetakeTestSupport

/// A fenced block of a page whose commands a test runs in their order.
struct PageBlock {
  var language: String
  /// The file that the line before it names.
  var file: String?
  var text: String

  var lines: [String] { text.split(separator: "\n").map(String.init) }

  /// - Parameter page: Relative to the repository.
  static func blocks(of page: String) throws -> [PageBlock] {
    let page = try String(contentsOf: packageRoot.appending(path: page), encoding: .utf8)
    // Text and code alternate.
    let parts = page.components(separatedBy: "```")
    return stride(from: 1, to: parts.count, by: 2).map { index in
      let end = parts[index].firstIndex(of: "\n") ?? parts[index].endIndex
      let before = parts[index - 1].split(separator: "\n").last ?? ""
      let name = before.firstMatch(of: #/^`([^`]+)`:$/#).map { String($0.1) }
      return PageBlock(
        language: String(parts[index][..<end]), file: name, text: String(parts[index][end...]))
    }
  }

  /// The shown lines that a command did not print, or not in this order. `…` is anything.
  static func missing(_ shown: [String], in output: String) -> [String] {
    var rest = output[...]
    return shown.filter { line in
      let pieces = line.components(separatedBy: "…").filter { !$0.isEmpty }
      var place = rest
      for piece in pieces {
        guard let range = place.range(of: piece) else { return true }
        place = place[range.upperBound...]
      }
      rest = place
      return false
    }
  }
}
