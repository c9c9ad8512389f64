/// Makes what must not act on a terminal or a reader's eye visible: control characters, ESC,
/// line and paragraph separators, text direction overrides, and characters that XML forbids.
///
/// Each becomes `\u{1B}`. A label that arrives like this from a stage, a file name or a model can
/// move no cursor, colour nothing and turn no text around.
package func visible(_ text: String) -> String {
  if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    if acts(scalar) {
      result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

private func acts(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  case 0..<0x20, 0x7F...0x9F, 0xAD, 0x61C, 0x115F...0x1160, 0x180E: true
  case 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164: true
  case 0xFEFF, 0xFFF0...0xFFFB, 0xE0000...0xE0FFF: true
  case let value: value & 0xFFFE == 0xFFFE
  }
}

extension String {
  /// The first `limit` characters of the visible text, with an ellipsis where something is cut.
  func visible(limit: Int) -> String {
    let text = RetakeReport.visible(self)
    return text.count <= limit ? text : text.prefix(max(limit - 1, 0)) + "…"
  }

  /// Filled with spaces on the right.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// Filled with spaces on the left.
  func leftPadded(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}
