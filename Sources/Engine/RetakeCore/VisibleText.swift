/// Makes characters visible that could affect a terminal or mislead a reader: control characters,
/// ESC, line and paragraph separators, direction overrides, and characters that XML forbids.
///
/// Each becomes `\u{1B}`. A label with such characters from a stage, a file name or a model cannot
/// move the cursor, change colors or reverse the direction of other text.
package func visible(_ text: String) -> String {
  // Most strings are printable ASCII, and need no look at their scalars.
  if text.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) { return text }
  var result = ""
  // Scalar by scalar: a control character can be a part of a Character, as in CR LF.
  for scalar in text.unicodeScalars {
    if acts(scalar) {
      result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}

/// `visible(_:)` for output of several lines: it keeps line feeds and tabs, and color sequences if
/// `keepsColors` is true.
package func visibleLines(_ text: String, keepsColors: Bool) -> String {
  guard text.unicodeScalars.contains(where: { acts($0) && !isLayout($0) }) else { return text }
  var result = ""
  var rest = text.unicodeScalars[...]
  // Ends: each round consumes at least one scalar.
  while let scalar = rest.first {
    if keepsColors, let color = color(at: rest) {
      result.unicodeScalars.append(contentsOf: rest.prefix(color))
      rest = rest.dropFirst(color)
      continue
    }
    rest = rest.dropFirst()
    if isLayout(scalar) {
      result.unicodeScalars.append(scalar)
    } else {
      result += visible(String(scalar))
    }
  }
  return result
}

/// The same for JSON. The escape `\u001b` has the same meaning as the character.
package func visibleJSON(_ text: String) -> String {
  guard text.unicodeScalars.contains(where: { acts($0) && !isLayout($0) }) else { return text }
  var result = ""
  for scalar in text.unicodeScalars {
    guard acts(scalar), !isLayout(scalar) else {
      result.unicodeScalars.append(scalar)
      continue
    }
    // JSON escapes a character above U+FFFF as two surrogates (RFC 8259, section 7).
    for unit in String(scalar).utf16 {
      let digits = String(unit, radix: 16)
      result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
  }
  return result
}

private func isLayout(_ scalar: Unicode.Scalar) -> Bool { scalar == "\n" || scalar == "\t" }

/// The number of scalars of the color sequence that begins here, such as `ESC[1;31m`. Other
/// terminal sequences are not accepted, nor are sequences that hide characters.
private func color(at text: Substring.UnicodeScalarView) -> Int? {
  // `ESC[31;1m` has seven scalars. Without a bound, each sequence that never ends would be searched
  // to the end of the text.
  let lengthMax = 10
  guard text.starts(with: "\u{1B}[".unicodeScalars),
    let end = text.prefix(lengthMax).firstIndex(of: "m")
  else { return nil }
  let codes = String(Substring(text[..<end].dropFirst(2)))
    .split(separator: ";", omittingEmptySubsequences: false)
  guard codes.allSatisfy({ colorCodes.contains(String($0)) }) else { return nil }
  return text.distance(from: text.startIndex, to: end) + 1
}

/// Reset, bold, dim, and foreground colors, as `TerminalReport` uses them.
private let colorCodes = Set(
  // Not 8, which hides characters, and no background color, before which a letter of the same
  // color cannot be seen.
  (["0", "1", "2", "22"] + (30...39).map { String($0) } + (90...97).map { String($0) }))

/// Whether a character could affect a terminal or mislead a reader.
package func acts(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.value {
  // Controls, the soft hyphen, the Arabic letter mark, and invisible fillers.
  case 0..<0x20, 0x7F...0x9F, 0xAD, 0x61C, 0x115F...0x1160, 0x180E: true
  // Not U+200C and U+200D: words of some scripts, and emoji, are joined with them.
  case 0x200B, 0x200E...0x200F, 0x2028...0x202E, 0x2060...0x206F, 0x3164: true
  // The byte order mark, interlinear annotations, and tags: letters that no one sees.
  case 0xFEFF, 0xFFF0...0xFFFB, 0xE0000...0xE0FFF: true
  // The last two scalars of each plane are noncharacters; XML forbids U+FFFE and U+FFFF.
  case let value: value & 0xFFFE == 0xFFFE
  }
}

extension String {
  /// The first `limit` characters of the visible string, with an ellipsis if it was truncated.
  package func visible(limit: Int) -> String {
    let text = RetakeCore.visible(self)
    return text.count <= limit ? text : text.prefix(max(limit - 1, 0)) + "…"
  }
}
