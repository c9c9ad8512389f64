import Testing

/// The scanner that the rules use.
@Suite struct SwiftCodeTests {
  @Test(arguments: [
    ("let a = 1 // note", "let a = 1 "),
    ("let a /* x /* y */ z */ = 1", "let a  = 1"),
    (#"let a = "b // c" + d"#, #"let a = "" + d"#),
    (#"let a = "\(b) c \(d("e"))""#, #"let a = "(b)(d(""))""#),
    (##"let a = #"b " c \#(d) \(e)"# + f"##, ##"let a = "(d)" + f"##),
    (#"let a = "\"" + b"#, #"let a = "" + b"#),
    (#"let a = /"x\/y"/ ; b"#, #"let a = "" ; b"#),
    ("let a = b / c / d", "let a = b / c / d"),
    ("let a = \"\"\"\n  b\n  \"\"\"\nc", "let a = \"\n\n\"\nc"),
    ("/* a\n b */ c", "\n c"),
  ])
  func `comments and literals go, lines and code stay`(source: String, code: String) {
    #expect(SwiftCode(source).text == code)
  }

  @Test(arguments: ["\"", "/*", "\"\\(", "#\"", "let a = /", "\"\"\"", "\\"])
  func `an unfinished source ends the scan`(source: String) {
    #expect(SwiftCode(source).text.count <= source.count + 2)
  }
}
