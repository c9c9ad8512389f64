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

  /// Pronouns and vague verbs that hide who does what to which thing. Some uses are natural.
  private static let vague = [
    "what|those|that of|one that|ones|the one|behind", "gives?|takes?", "of its own|is left",
    "room|whole|none|nothing", "(?:with|by|for) which",
  ]

  static let vaguePattern = #"(?i)\b(?:"# + vague.joined(separator: "|") + #")\b"#
  static let vagueCommentPattern = #"^\s*//.*"# + vaguePattern

  /// Lines with such a word in 1,000 lines of comments in Sources, and of prose. They may only fall.
  static let vagueCommentsPerThousandMax = 10
  static let vagueProsePerThousandMax = 35

  /// The lines of a page outside of its fences that are not empty.
  static func prose(of page: SourceFile) -> [Substring] {
    var isFenced = false
    return page.text.split(separator: "\n").filter { line in
      if line.drop(while: \.isWhitespace).hasPrefix("```") {
        isFenced.toggle()
        return false
      }
      return !isFenced && line.contains { !$0.isWhitespace }
    }
  }

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
