extension TextBuffer {
  /// A JSON string with its quotes, in the canonical form of `JSONValue`.
  package mutating func append(json text: String) {
    guard text.utf8.allSatisfy(Self.isPlainInJSON) else { return append(JSONValue.quoted(text)) }
    append(UInt8(ascii: "\""))
    append(text)
    append(UInt8(ascii: "\""))
  }

  private static func isPlainInJSON(_ byte: UInt8) -> Bool {
    // RFC 8259 allows DEL in a string. `JSONValue` escapes it, and both must write the same bytes.
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") && byte != 0x7f
  }

  /// A JSON number in the canonical form of `JSONValue`: `120.0` is `120`. JSON has no NaN and no
  /// infinities, so these are `null`.
  package mutating func append(json number: FixedDecimal) {
    let units = number.units.magnitude
    // With up to fifteen digits, this is the shortest form. Below 10^-4, that form has an exponent.
    guard units < 1e15, units == 0 || units * 1e4 >= FixedDecimal.powers[Int(number.decimals)]
    else {
      return append(JSONValue.number(number.value).canonicalText)
    }
    var (rest, decimals) = (Int64(number.units), Int(number.decimals))
    while decimals > 0 && rest % 10 == 0 {
      rest /= 10
      decimals -= 1
    }
    append(rest, decimals: decimals)
  }

  /// A digest as a JSON string.
  mutating func append(json digest: Digest128) {
    append(UInt8(ascii: "\""))
    append(digest)
    append(UInt8(ascii: "\""))
  }

  /// Each element's form, in brackets and with commas.
  mutating func append<Element>(
    jsonArray elements: [Element], _ append: (inout TextBuffer, Element) -> Void
  ) {
    self.append(UInt8(ascii: "["))
    for (index, element) in elements.enumerated() {
      if index > 0 { self.append(UInt8(ascii: ",")) }
      append(&self, element)
    }
    self.append(UInt8(ascii: "]"))
  }

  /// An object with these members. The caller passes them in the byte order of their keys.
  mutating func append(jsonMembers members: KeyValuePairs<StaticString, (inout TextBuffer) -> Void>)
  {
    for (index, member) in members.enumerated() {
      append(index == 0 ? "{\"" : ",\"")
      append(member.key)
      append("\":")
      member.value(&self)
    }
    append(UInt8(ascii: "}"))
  }
}
