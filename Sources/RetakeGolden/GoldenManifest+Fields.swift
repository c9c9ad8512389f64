import RetakeCore

// Helpers for reading golden.yml.

func wrong(_ detail: String, at pointer: String) -> GoldenError {
  .manifest(file: "", pointer: pointer, detail: detail, advice: nil)
}

func missing(_ key: String, at pointer: String) -> GoldenError {
  .manifest(file: "", pointer: pointer, detail: "the key '\(key)' is missing", advice: nil)
}

func members(
  _ json: JSONValue?, at pointer: String
) throws(GoldenError) -> [String: JSONValue] {
  switch json {
  case nil: return [:]
  case .object(let members)?: return members
  case let other?: throw wrong("must be an object, is \(other.kindText)", at: pointer)
  }
}

func texts(_ json: JSONValue?, at pointer: String) throws(GoldenError) -> [String: String] {
  var result: [String: String] = [:]
  let members = try members(json, at: pointer)
  // Sorted, so that of several errors the same one is reported in every run.
  for key in members.keys.sorted() {
    guard case .string(let text)? = members[key] else {
      throw wrong("must be a string", at: "\(pointer)/\(key.pointerEscaped)")
    }
    result[key] = text
  }
  return result
}

func strings(
  _ key: String, _ fields: DocumentFields<GoldenError>, at pointer: String
) throws(GoldenError) -> [String] {
  var result: [String] = []
  for value in try fields.array(key) {
    guard case .string(let text) = value else {
      throw wrong("must be a list of texts", at: "\(pointer)/\(key)")
    }
    result.append(text)
  }
  return result
}

func count(
  _ key: String, _ fields: DocumentFields<GoldenError>, at pointer: String
) throws(GoldenError) -> Int {
  guard let value = try fields.integer(key) else { throw missing(key, at: pointer) }
  guard value >= 0 else { throw wrong("must be 0 or more", at: "\(pointer)/\(key)") }
  return value
}

func digest(
  _ key: String, _ fields: DocumentFields<GoldenError>, at pointer: String
) throws(GoldenError) -> Digest128 {
  guard let digest = Digest128(hex: try fields.required(key)) else {
    throw wrong("must be 32 hexadecimal digits", at: "\(pointer)/\(key)")
  }
  return digest
}

func decoded<Value: Decodable>(
  _ json: JSONValue, at pointer: String
) throws(GoldenError) -> Value {
  do {
    return try json.decode(Value.self)
  } catch let DecodingError.dataCorrupted(context) {
    throw wrong(context.debugDescription, at: pointer)
  } catch let DecodingError.typeMismatch(type, context) {
    let path = context.codingPath.map { "/" + $0.stringValue.pointerEscaped }.joined()
    throw wrong("must be \(kindText(type))", at: pointer + path)
  } catch let error as ResultTextError {
    throw wrong(error.message, at: pointer)
  } catch {
    throw wrong("cannot be read: \(error)", at: pointer)
  }
}

/// The name of a Swift type in messages.
private func kindText(_ type: any Any.Type) -> String {
  switch type {
  case is Double.Type: "a finite number"
  case is Int.Type: "an integer"
  case is String.Type: "a string"
  case is Bool.Type: "true or false"
  case is [String: Any].Type: "an object"
  default: "of another type"
  }
}
