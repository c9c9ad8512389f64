/// Swift source without its comments and the contents of its literals, line for line. The code
/// inside an interpolation is kept.
struct SwiftCode {
  private(set) var text = ""
  private let source: [Character]
  private var position = 0

  init(_ source: String) {
    self.source = Array(source)
    text.reserveCapacity(source.utf8.count)
    scanCode(untilParenthesis: false)
  }

  private func sees(_ mark: String) -> Bool {
    let end = position + mark.count
    return end <= source.count && source[position..<end].elementsEqual(mark)
  }

  private mutating func skip(_ count: Int) {
    for character in source[position..<min(position + count, source.count)]
    where character.isNewline {
      text.append("\n")
    }
    position += count
  }

  private mutating func keep() {
    text.append(source[position])
    position += 1
  }

  /// Scans code to the end of the source or, inside an interpolation, past its `)`.
  private mutating func scanCode(untilParenthesis: Bool) {
    var depth = 0
    while position < source.count {
      if sees("//") {
        while position < source.count, !source[position].isNewline { position += 1 }
      } else if sees("/*") {
        scanBlockComment()
      } else if let pounds = literalPounds(before: "\"") {
        scanString(pounds: pounds)
      } else if let pounds = literalPounds(before: "/"), pounds > 0 || beginsRegex() {
        scanRegex(pounds: pounds)
      } else {
        if source[position] == "(" { depth += 1 }
        if source[position] == ")" {
          if untilParenthesis, depth == 0 { return keep() }
          depth -= 1
        }
        keep()
      }
    }
  }

  private mutating func scanBlockComment() {
    var depth = 0
    repeat {
      if sees("/*") {
        depth += 1
        skip(2)
      } else if sees("*/") {
        depth -= 1
        skip(2)
      } else {
        skip(1)
      }
    } while depth > 0 && position < source.count
  }

  /// The number of `#` here before `mark`; `nil` if `mark` does not follow.
  private func literalPounds(before mark: Character) -> Int? {
    var index = position
    while index < source.count, source[index] == "#" { index += 1 }
    guard index < source.count, source[index] == mark else { return nil }
    return index - position
  }

  private mutating func scanString(pounds: Int) {
    let fence = String(repeating: "#", count: pounds)
    skip(pounds)
    let quote = sees("\"\"\"") ? "\"\"\"" : "\""
    skip(quote.count)
    text.append("\"")
    while position < source.count, !sees(quote + fence) {
      if sees("\\" + fence + "(") {
        skip(2 + pounds)
        text.append("(")
        scanCode(untilParenthesis: true)
      } else if sees("\\" + fence) {
        skip(2 + pounds)
      } else {
        skip(1)
      }
    }
    skip(quote.count + pounds)
    text.append("\"")
  }

  /// A bare `/` begins a regular expression if no operand precedes it and a closing `/` follows.
  private func beginsRegex() -> Bool {
    let before = text.last { $0 != " " } ?? "\n"
    guard "(,=:[{\n".contains(before), position + 1 < source.count,
      !source[position + 1].isWhitespace
    else { return false }
    return source[(position + 1)...].prefix { !$0.isNewline }.contains("/")
  }

  private mutating func scanRegex(pounds: Int) {
    let close = "/" + String(repeating: "#", count: pounds)
    skip(pounds + 1)
    text.append("\"")
    while position < source.count, !sees(close) { skip(sees("\\") ? 2 : 1) }
    skip(close.count)
    text.append("\"")
  }
}
