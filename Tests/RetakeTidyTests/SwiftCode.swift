/// Swift source without its comments and the contents of its literals, line for line. The code
/// inside an interpolation is kept.
struct SwiftCode {
  let text: String

  init(_ source: String) {
    var scan = SwiftScan(source)
    scan.scanCode(untilParenthesis: false)
    text = String(decoding: scan.code, as: UTF8.self)
  }
}

/// The scan of a source. Every mark is ASCII, so bytes are compared: characters take fifty times as
/// long.
private struct SwiftScan {
  private(set) var code: [UInt8] = []
  private let source: [UInt8]
  private var position = 0

  init(_ source: String) {
    self.source = Array(source.utf8)
    code.reserveCapacity(self.source.count)
  }

  private func sees(_ mark: String) -> Bool {
    let end = position + mark.utf8.count
    return end <= source.count && source[position..<end].elementsEqual(mark.utf8)
  }

  private func sees(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Bool {
    position + 1 < source.count && source[position] == UInt8(ascii: first)
      && source[position + 1] == UInt8(ascii: second)
  }

  private mutating func skip(_ count: Int) {
    for byte in source[position..<min(position + count, source.count)] where byte == .newline {
      code.append(.newline)
    }
    position += count
  }

  private mutating func keep() {
    code.append(source[position])
    position += 1
  }

  /// Scans code to the end of the source or, inside an interpolation, past its `)`.
  mutating func scanCode(untilParenthesis: Bool) {
    var depth = 0
    while position < source.count {
      if sees("/", "/") {
        while position < source.count, source[position] != .newline { position += 1 }
      } else if sees("/", "*") {
        scanBlockComment()
      } else if let pounds = literalPounds(before: "\"") {
        scanString(pounds: pounds)
      } else if let pounds = literalPounds(before: "/"), pounds > 0 || beginsRegex() {
        scanRegex(pounds: pounds)
      } else {
        if source[position] == UInt8(ascii: "(") { depth += 1 }
        if source[position] == UInt8(ascii: ")") {
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
      if sees("/", "*") {
        depth += 1
        skip(2)
      } else if sees("*", "/") {
        depth -= 1
        skip(2)
      } else {
        skip(1)
      }
    } while depth > 0 && position < source.count
  }

  /// The number of `#` here before `mark`; `nil` if `mark` does not follow.
  private func literalPounds(before mark: Unicode.Scalar) -> Int? {
    var index = position
    while index < source.count, source[index] == UInt8(ascii: "#") { index += 1 }
    guard index < source.count, source[index] == UInt8(ascii: mark) else { return nil }
    return index - position
  }

  private mutating func scanString(pounds: Int) {
    let fence = String(repeating: "#", count: pounds)
    skip(pounds)
    let quote = sees("\"\"\"") ? "\"\"\"" : "\""
    skip(quote.count)
    code.append(UInt8(ascii: "\""))
    while position < source.count, !sees(quote + fence) {
      if sees("\\" + fence + "(") {
        skip(2 + pounds)
        code.append(UInt8(ascii: "("))
        scanCode(untilParenthesis: true)
      } else if sees("\\" + fence) {
        skip(2 + pounds)
      } else {
        skip(1)
      }
    }
    skip(quote.count + pounds)
    code.append(UInt8(ascii: "\""))
  }

  /// A bare `/` begins a regular expression if no operand precedes it and a closing `/` follows.
  private func beginsRegex() -> Bool {
    let before = code.last { $0 != UInt8(ascii: " ") } ?? .newline
    guard "(,=:[{\n".utf8.contains(before), position + 1 < source.count,
      !" \t\n".utf8.contains(source[position + 1])
    else { return false }
    return source[(position + 1)...].prefix { $0 != .newline }.contains(UInt8(ascii: "/"))
  }

  private mutating func scanRegex(pounds: Int) {
    let close = "/" + String(repeating: "#", count: pounds)
    skip(pounds + 1)
    code.append(UInt8(ascii: "\""))
    while position < source.count, !sees(close) { skip(sees("\\") ? 2 : 1) }
    skip(close.count)
    code.append(UInt8(ascii: "\""))
  }
}

extension UInt8 {
  fileprivate static let newline = UInt8(ascii: "\n")
}
