import Foundation

/// One `import` of a Swift file.
struct ImportLine: Equatable {
  /// From 1.
  var line: Int
  /// The top module: `Foundation`, even for `import struct Foundation.URL`.
  var module: String
  var isExported: Bool

  static func all(in file: SourceFile) throws -> [ImportLine] {
    let pattern =
      #/
      ^\s*(?<attributes>(?:@\w+(?:\([^)]*\))?\s+)*)
      (?:(?:public|package|internal|private|fileprivate)\s+)?
      import\s+
      (?:(?:struct|class|enum|protocol|func|var|let|typealias|actor)\s+)?
      (?<module>\w+)
      /#
    let code = SwiftCode(file.text).text
    // A line may hold several statements.
    return code.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
      .flatMap { number, line in
        line.split(separator: ";").compactMap { statement -> ImportLine? in
          guard let match = statement.firstMatch(of: pattern) else { return nil }
          return ImportLine(
            line: number + 1, module: String(match.module),
            isExported: match.attributes.contains("@_exported"))
        }
      }
  }
}
