/// Turns of phrase that read as translated, and that no English reader would write. CONTRIBUTING.md
/// lists replacements.
enum LanguageRule {
  private static let turns = [
    #"hang(?:s|ing)? on"#, #"(?:is|are|was|were|be|been) told"#, "whoever|somebody|nobody",
    "so many(?! as)", #"(?<!there )(?:is|are) none"#, #"(?<!there )(?:is|are) no(?! longer)"#,
    "anew",
    "shall", "stands?(?! still| for| in for)", "lies?", "(?:goes|go|went|going) on", "beside",
    "h[eo]ld against", "for want of", "lets? go of", "passed over", "also where",
    "mend(?:s|ed|ing)?",
  ]

  static let pattern = #"(?i)^\s*//.*\b(?:"# + turns.joined(separator: "|") + #")\b"#

  /// Comment lines with such a turn in 1,000. It may only fall.
  static let perThousandMax = 2

  static func commentLines(of file: SourceFile) -> Int {
    file.text.split(separator: "\n").count { line in
      line.drop(while: \.isWhitespace).hasPrefix("//")
    }
  }

  static func findings(in file: SourceFile) throws -> [Finding] {
    try LinePattern(pattern).lines(in: file.text).map {
      Finding(path: file.path, line: $0, rule: "write this in plain English")
    }
  }
}
