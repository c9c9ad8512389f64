/// A problem at one place of a document, before the module that reads it gives it a code.
package struct DocumentProblem: Error, Hashable, Sendable {
  /// The largest number of elements of one array.
  package static let elementsMax = 4_096

  package enum Reason: Hashable, Sendable {
    case unknownKey(String, advice: String)
    case missingKey(String)
    case wrongValue(String, advice: String?)
    case tooLarge(String)
  }

  package var reason: Reason
  /// A JSON pointer (RFC 6901).
  package var pointer: String

  package init(reason: Reason, pointer: String) {
    self.reason = reason
    self.pointer = pointer
  }

  /// The problem in words, without the place.
  package var message: String {
    switch reason {
    case .unknownKey(let key, _): "unknown key '\(key)'"
    case .missingKey(let key): "'\(key)' is missing"
    case .wrongValue(let detail, _), .tooLarge(let detail): detail
    }
  }

  package var advice: String? {
    switch reason {
    case .unknownKey(_, let advice): advice
    case .missingKey(let key): "Add \"\(key)\""
    case .wrongValue(_, let advice): advice
    case .tooLarge: nil
    }
  }
}

/// A module's error that can describe a problem with a document.
package protocol DocumentFailure: Error {
  init(_ problem: DocumentProblem)
}

extension DocumentFailure {
  fileprivate static func problem(_ reason: DocumentProblem.Reason, at pointer: String) -> Self {
    Self(DocumentProblem(reason: reason, pointer: pointer))
  }
}

/// One JSON object of a document with a known set of keys.
package struct DocumentFields<Failure: DocumentFailure>: Sendable {
  private let members: [String: JSONValue]
  private let pointer: String

  package init(_ json: JSONValue, at pointer: String, keys: [String]) throws(Failure) {
    guard case .object(let members) = json else {
      throw Failure.problem(
        .wrongValue("must be an object, is \(json.kindText)", advice: nil), at: pointer)
    }
    // Sorted, so that of several unknown keys every run reports the same one.
    for key in members.keys.sorted() where !keys.contains(key) {
      throw Failure.problem(
        .unknownKey(key.shortened, advice: Suggestion.advice(for: key, among: keys)),
        at: "\(pointer)/\(key.shortened.pointerEscaped)")
    }
    self.members = members
    self.pointer = pointer
  }

  package func value(_ key: String) -> JSONValue? { members[key] }

  package func has(exactly keys: Set<String>) -> Bool { Set(members.keys) == keys }

  package func string(_ key: String) throws(Failure) -> String? {
    guard let value = members[key] else { return nil }
    guard case .string(let text) = value else { throw wrong(key, "a string", value) }
    return text
  }

  package func required(_ key: String) throws(Failure) -> String {
    guard let text = try string(key) else {
      throw Failure.problem(.missingKey(key), at: pointer)
    }
    return text
  }

  package func bool(_ key: String) throws(Failure) -> Bool? {
    guard let value = members[key] else { return nil }
    guard case .bool(let flag) = value else { throw wrong(key, "true or false", value) }
    return flag
  }

  package func integer(_ key: String) throws(Failure) -> Int? {
    guard let value = members[key] else { return nil }
    // The parser makes a Double of an integer beyond 64 bits. It is an integer to its author, so
    // "must be an integer" would be the wrong message.
    if case .number(let number) = value, number.magnitude >= 0x1p63 {
      throw Failure.problem(
        .wrongValue("is too large; at most \(Int64.max) is read", advice: nil),
        at: "\(pointer)/\(key)")
    }
    guard case .integer(let number) = value else { throw wrong(key, "an integer", value) }
    return Int(number)
  }

  package func number(_ key: String) throws(Failure) -> Double? {
    switch members[key] {
    case nil: return nil
    case .number(let number) where number.isFinite: return number
    case .integer(let number): return Double(number)
    case let value?: throw wrong(key, "a number", value)
    }
  }

  /// Empty if the key is absent.
  package func array(_ key: String) throws(Failure) -> [JSONValue] {
    guard let value = members[key] else { return [] }
    guard case .array(let values) = value else { throw wrong(key, "an array", value) }
    guard values.count <= DocumentProblem.elementsMax else {
      throw Failure.problem(
        .tooLarge("more than \(DocumentProblem.elementsMax) elements"), at: "\(pointer)/\(key)")
    }
    return values
  }

  /// An object of numbers; empty if the key is absent.
  package func numbers(_ key: String) throws(Failure) -> [String: Double] {
    guard let value = members[key] else { return [:] }
    guard case .object(let entries) = value else { throw wrong(key, "an object", value) }
    var result: [String: Double] = [:]
    // Sorted, so that of several wrong values every run reports the same one.
    for name in entries.keys.sorted() {
      switch entries[name] {
      case .number(let number): result[name] = number
      case .integer(let number): result[name] = Double(number)
      default:
        throw Failure.problem(
          .wrongValue("must be a number", advice: nil),
          at: "\(pointer)/\(key)/\(name.shortened.pointerEscaped)")
      }
    }
    return result
  }

  package func duration(_ key: String) throws(Failure) -> Duration {
    let text = try required(key)
    guard let duration = Duration(parsing: text) else {
      throw Failure.problem(
        .wrongValue(
          "'\(text.shortened)' is not a duration", advice: "Write it like 45ms, 1.5s or 250us"),
        at: "\(pointer)/\(key)")
    }
    return duration
  }

  private func wrong(_ key: String, _ wanted: String, _ value: JSONValue) -> Failure {
    Failure.problem(
      .wrongValue("must be \(wanted), is \(value.kindText)", advice: nil), at: "\(pointer)/\(key)")
  }
}

extension String {
  /// Shortened for messages, because a string of a document may have millions of characters.
  package var shortened: String {
    // `count` would walk the whole string; `prefix` stops after 80 characters.
    let limit = 80
    let head = prefix(limit)
    return head.endIndex == endIndex ? self : head + "…"
  }

  /// Escaped as a token of a JSON pointer (RFC 6901).
  package var pointerEscaped: String {
    // RFC 6901, section 3. In the other order the `~` of a new `~1` would be escaped, too.
    replacing("~", with: "~0").replacing("/", with: "~1")
  }
}
