package import Foundation

/// One value of a document, and its place. Reading it as a type either succeeds or throws an error
/// that names the place.
///
/// An object is read in two steps: `object(_:)` refuses keys that are not known, and the subscript
/// then returns the value of each key. Only `members()` reads objects with keys of the author's
/// choice.
///
/// ```
/// let edge = try decoder.object(["from", "to", "capacity"])
/// let from = try edge.required("from").string()
/// let capacity = try edge["capacity"]?.integer() ?? 4
/// ```
package struct StrictDecoder<Failure: DocumentFailure>: Sendable {
  /// The largest number of elements of one array.
  private static var elementsMax: Int { 4_096 }

  package let json: JSONValue
  /// A JSON pointer (RFC 6901); empty for the document itself.
  package let pointer: String

  package init(_ json: JSONValue, at pointer: String = "") {
    self.json = json
    self.pointer = pointer
  }

  /// Parses a JSON document.
  package init(parsing data: Data, bytesMax: Int) throws {
    // Before parsing, because the size of the document bounds what the parser allocates.
    guard data.count <= bytesMax else {
      throw Failure(
        DocumentProblem(
          .tooLarge("the document is larger than \(bytesMax >> 20) MiB"), at: ""))
    }
    do {
      self.init(try JSONValue(parsing: data))
    } catch let error as DecodingError {
      // A message may contain a key, and a key may be as long as the document.
      throw Failure(
        DocumentProblem(
          .malformed(String(error.shortText.prefix(200)), advice: nil), at: error.pointer))
    }
  }

  /// The error for this place.
  package func failure(_ reason: DocumentProblem.Reason) -> Failure {
    Failure(DocumentProblem(reason, at: pointer))
  }

  package func wrong(_ detail: String, advice: String? = nil) -> Failure {
    failure(.wrongValue(detail, advice: advice))
  }

  private func wrong(mustBe wanted: String) -> Failure {
    wrong("must be \(wanted), is \(json.kindText)")
  }
}

// MARK: - Objects and arrays

extension StrictDecoder {
  /// The document itself, after checking its version and then its keys: `v` and `keys`.
  package func document(_ keys: [String]) throws -> Self {
    // In this order: a later version may have other keys, and "unknown key" would mislead its
    // reader.
    try requireVersion()
    return try object(["v"] + keys)
  }

  /// Checks that this is an object of version 1, with any keys.
  package func requireVersion() throws {
    guard case .object = json else { throw wrong(mustBe: "an object") }
    let version = try required("v")
    let number = try version.integer()
    guard number == 1 else { throw version.failure(.otherVersion(number)) }
  }

  /// This value, after checking that it is an object with no keys except these.
  package func object(_ keys: [String]) throws -> Self {
    guard case .object(let members) = json else { throw wrong(mustBe: "an object") }
    // Sorted, so that every run reports the same one of several unknown keys.
    for key in members.keys.sorted() where !keys.contains(key) {
      throw Self(json, at: "\(pointer)/\(key.shortened.pointerEscaped)").failure(
        .unknownKey(key.shortened, advice: Suggestion.advice(for: key, among: keys)))
    }
    return self
  }

  /// The value of a key that `object(_:)` knows; `nil` if the key is absent.
  package subscript(key: String) -> Self? {
    json[key].map { Self($0, at: "\(pointer)/\(key)") }
  }

  package func required(_ key: String) throws -> Self {
    guard let value = self[key] else { throw failure(.missingKey(key)) }
    return value
  }

  /// Whether an object has all of these keys and no others.
  package func has(exactly keys: Set<String>) -> Bool {
    guard case .object(let members) = json else { return false }
    return Set(members.keys) == keys
  }

  /// The members of an object with any keys, in the order of the keys.
  package func members() throws -> [(key: String, value: Self)] {
    guard case .object(let members) = json else { throw wrong(mustBe: "an object") }
    // Sorted, so that the order is fixed and, of several errors, every run reports the same one.
    return members.sorted { $0.key < $1.key }.map { key, value in
      (key, Self(value, at: "\(pointer)/\(key.shortened.pointerEscaped)"))
    }
  }

  /// The members of the object of a key; empty if the key is absent.
  package func members(_ key: String) throws -> [(key: String, value: Self)] {
    try self[key]?.members() ?? []
  }

  package func elements() throws -> [Self] {
    guard case .array(let values) = json else { throw wrong(mustBe: "an array") }
    guard values.count <= Self.elementsMax else {
      throw failure(.tooLarge("more than \(Self.elementsMax) elements"))
    }
    return values.enumerated().map { Self($1, at: "\(pointer)/\($0)") }
  }

  /// The elements of the array of a key; empty if the key is absent.
  package func elements(_ key: String) throws -> [Self] {
    try self[key]?.elements() ?? []
  }

  package func strings() throws -> [String] {
    try elements().map { element in try element.string() }
  }

  /// The strings of the array of a key; empty if the key is absent.
  package func strings(_ key: String) throws -> [String] {
    try self[key]?.strings() ?? []
  }
}

// MARK: - Single values

extension StrictDecoder {
  package func string() throws -> String {
    guard case .string(let text) = json else { throw wrong(mustBe: "a string") }
    return text
  }

  package func bool() throws -> Bool {
    guard case .bool(let flag) = json else { throw wrong(mustBe: "true or false") }
    return flag
  }

  package func integer() throws -> Int {
    // The parser makes a Double of an integer beyond 64 bits. It is an integer to its author, so
    // "must be an integer" would be the wrong message.
    if case .number(let number) = json, number.magnitude >= 0x1p63 {
      throw wrong("is too large; at most \(Int64.max) is read")
    }
    guard case .integer(let number) = json else { throw wrong(mustBe: "an integer") }
    return Int(number)
  }

  /// - Parameter rule: The message for an integer outside of the range, such as "a seed is 0 or
  ///   more".
  package func integer(in range: ClosedRange<Int>, _ rule: String) throws -> Int {
    let number = try integer()
    guard range.contains(number) else { throw wrong(rule) }
    return number
  }

  package func number() throws -> Double {
    switch json {
    case .number(let number) where number.isFinite: return number
    case .number: throw wrong("must be a finite number")
    case .integer(let number): return Double(number)
    default: throw wrong(mustBe: "a number")
    }
  }

  /// A number of 0 or more.
  package func tolerance() throws -> Double {
    let number = try number()
    guard number >= 0 else { throw wrong("must be 0 or more") }
    return number
  }

  package func duration() throws -> Duration {
    let advice = "Write it like 45ms, 1.5s or 250us"
    switch json {
    // A separate message, because "must be a string" would not say that the unit is missing.
    case .integer, .number: throw wrong("a duration has a unit", advice: advice)
    default: break
    }
    let text = try string()
    guard let duration = Duration(parsing: text) else {
      throw wrong("'\(text.shortened)' is not a duration", advice: advice)
    }
    return duration
  }

  /// Degrees Celsius, such as `45C`.
  package func temperature() throws -> Temperature {
    guard case .string(let text) = json, let temperature = Temperature(parsing: text) else {
      throw wrong(Temperature.rule, advice: Temperature.advice)
    }
    return temperature
  }

  /// One of a closed set of strings.
  ///
  /// - Parameter name: A choice in the words of an error message: "a policy".
  package func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ name: String
  ) throws -> Choice {
    let word = try string()
    guard let choice = Choice(rawValue: word) else {
      throw wrong(
        "'\(word.shortened)' is not \(name)",
        advice: Suggestion.advice(for: word, among: Choice.allCases.map(\.rawValue)))
    }
    return choice
  }
}

extension String {
  /// Shortened for messages, because a string of a document may have millions of characters.
  package var shortened: String {
    // `count` would walk to the end of the string; `prefix` stops after 80 characters.
    let limit = 80
    let head = prefix(limit)
    return head.endIndex == endIndex ? self : head + "…"
  }

  /// Escaped as a token of a JSON pointer (RFC 6901).
  package var pointerEscaped: String {
    // Almost every key: both replacements search the text with a slow algorithm.
    guard utf8.contains(where: { $0 == UInt8(ascii: "~") || $0 == UInt8(ascii: "/") }) else {
      return self
    }
    // RFC 6901, section 3. In the other order the `~` of a new `~1` would be escaped, too.
    return replacing("~", with: "~0").replacing("/", with: "~1")
  }
}
