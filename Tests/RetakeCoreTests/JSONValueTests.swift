import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@Suite struct JSONValueTests {
  private func parsed(_ text: String) throws -> JSONValue {
    try JSONValue(parsing: Data(text.utf8))
  }

  @Test func `the canonical text has sorted keys, no white space and plain numbers`() throws {
    let cases = [
      (#"{ "b" : 1, "a" : [ true, null ] }"#, #"{"a":[true,null],"b":1}"#),
      (#"{"é":1,"z":2,"Z":3,"":4}"#, #"{"":4,"Z":3,"z":2,"é":1}"#),
      ("[2.0, 2, -0.0, 0.5, 1e2, 1E-7]", "[2,2,0,0.5,100,1e-07]"),
      ("[1e300, -1.5e-300]", "[1e+300,-1.5e-300]"),
      ("[9223372036854775807, -9223372036854775808]", "[9223372036854775807,-9223372036854775808]"),
      (#""a\"\\\n\r\t\u0001\u007f/ü😀""#, #""a\"\\\n\r\t\u0001\u007f/ü😀""#),
      ("[]", "[]"), ("{}", "{}"), ("[[],{}]", "[[],{}]"),
    ]
    for (text, canonical) in cases {
      #expect(try parsed(text).canonicalText == canonical)
      #expect(try parsed(canonical).canonicalText == canonical)
    }
  }

  @Test func `a number that no JSON has becomes null`() {
    #expect(JSONValue.number(.nan).canonicalText == "null")
    #expect(JSONValue.number(.infinity).canonicalText == "null")
  }

  @Test func `random values read back as they were written`() throws {
    var random = SeededGenerator(seed: 11)
    for _ in 0..<500 {
      let value = Self.value(depth: 3, &random)
      let text = value.canonicalText
      #expect(try parsed("[\(text)]").canonicalText == "[\(text)]")
    }
  }

  private static func value(depth: Int, _ random: inout SeededGenerator) -> JSONValue {
    switch random.pick(0...(depth > 0 ? 7 : 5)) {
    case 0: return .null
    case 1: return .bool(random.chance(50))
    case 2: return .integer(Int64(bitPattern: random.next()))
    case 3:
      let number = Double(bitPattern: random.next())
      return number.isFinite ? .number(number) : .null
    case 4, 5: return .string(text(&random))
    case 6: return .array((0..<random.pick(0...4)).map { _ in value(depth: depth - 1, &random) })
    default:
      var members: [String: JSONValue] = [:]
      for _ in 0..<random.pick(0...4) { members[text(&random)] = value(depth: depth - 1, &random) }
      return .object(members)
    }
  }

  private static func text(_ random: inout SeededGenerator) -> String {
    let letters = [
      "a", "Z", "\"", "\\", "\n", "\u{1}", "\u{7f}", "é", "漢", "😀", "/", " ", "\u{2028}",
    ]
    return (0..<random.pick(0...6)).map { _ in random.pick(letters) }.joined()
  }

  @Test func `what is not JSON is refused, with the line and column`() {
    let cases = [
      ("", "line 1, column 1: the JSON ends too early"),
      ("{", "line 1, column 2: a key in quotes is expected here"),
      ("[1,]", "line 1, column 4: a value is expected here"),
      ("[1 2]", "line 1, column 4: a comma or ] is expected here"),
      ("{\"a\" 1}", "line 1, column 6: a colon is expected after 'a'"),
      ("{\n  \"a\": }", "line 2, column 8: a value is expected here"),
      ("{\n\"é\": 1,\n\"é\": 2}", "line 3, column 1: the key 'é' is there twice"),
      ("{\"é\": nul}", "line 1, column 7: a value is expected here"),
      ("{'a':1}", "line 1, column 2: a key in quotes is expected here"),
      ("[1] 2", "line 1, column 5: there is more after the end"),
      ("[01]", "line 1, column 2: this is not a number"),
      ("[-]", "line 1, column 2: this is not a number"),
      ("[1.]", "line 1, column 4: a digit is expected here"),
      ("[1e+]", "line 1, column 5: a digit is expected here"),
      ("[1e999]", "line 1, column 2: the number is out of range"),
      ("[\"a\nb\"]", "line 1, column 4: a control character must be escaped"),
      ("[\"abc", "line 1, column 6: the string's closing quote is missing"),
      ("[\"\\x\"]", "line 1, column 3: this escape is not one of JSON's"),
      ("[\"\\u12g4\"]", "line 1, column 3: this escape is not one of JSON's"),
      ("[\"\\ud83d\"]", "line 1, column 9: half of a character is missing"),
      ("[\"\\udc00\"]", "line 1, column 9: half of a character is missing"),
    ]
    for (text, message) in cases {
      let error = #expect(throws: DecodingError.self, "\(text)") { try parsed(text) }
      guard case .dataCorrupted(let context)? = error else { continue }
      #expect(context.debugDescription == message, "\(text)")
    }
  }

  @Test func `bytes that are no UTF-8 are refused`() {
    for bytes: [UInt8] in [
      [0x22, 0xff, 0x22], [0x22, 0xc3, 0x22], [0xff], [0xfe, 0xff, 0, 0x31],
    ] {
      #expect(throws: DecodingError.self) { try JSONValue(parsing: Data(bytes)) }
    }
  }

  @Test func `escapes, pairs of surrogates and a byte order mark are read`() throws {
    #expect(
      try parsed(#""\u00e9\ud83d\ude00\/\b\f""#) == .string("é😀/\u{8}\u{c}"))
    #expect(try parsed("\u{feff}[1]") == .array([.integer(1)]))
    #expect(try parsed("9223372036854775808") == .number(9_223_372_036_854_775_808))
    #expect(try parsed("-9223372036854775808") == .integer(.min))
  }

  @Test func `nesting without end is refused, not followed`() {
    let text = String(repeating: "[", count: 100_000)
    #expect(throws: (any Error).self) { try parsed(text) }
  }

  @Test func `values are coded like any other type`() throws {
    struct Options: Codable, Hashable {
      var rate = 2.5
      var names = ["a", "b"]
      var isOn = true
    }
    let value = try JSONValue(encoding: Options())
    #expect(value.canonicalText == #"{"isOn":true,"names":["a","b"],"rate":2.5}"#)
    #expect(try value.decode(Options.self) == Options())
    #expect(value["rate"] == .number(2.5))
    #expect(value["none"] == nil)
    #expect(JSONValue.null["rate"] == nil)
  }

  @Test func `kinds of values have words for messages`() {
    let values: [JSONValue] = [
      .null, .bool(true), .integer(1), .number(0.5), .string(""), .array([]), .object([:]),
    ]
    #expect(
      values.map(\.kindText) == [
        "null", "true or false", "an integer", "a number", "a string", "an array", "an object",
      ])
  }
}
