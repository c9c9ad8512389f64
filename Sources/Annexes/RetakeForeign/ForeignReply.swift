package import RetakeCore
package import RetakeGraph

extension JSONValue {
  /// A log message as a line: `warning: the model is old`.
  var logLine: String {
    guard case .string(let text)? = self["text"] else { return canonicalText }
    guard case .string(let level)? = self["level"] else { return text }
    return "\(level): \(text)"
  }

  /// A message in a few words.
  var outline: String {
    guard case .object(let members) = self else { return kindText }
    let keys = members.keys.sorted().prefix(4).map { "'\($0.shortened)'" }
    return keys.isEmpty ? "an empty object" : "an object with \(keys.joined(separator: ", "))"
  }
}

extension Error {
  /// `/value/detections/0/score: must be a number, is null`.
  var placedMessage: String {
    guard let problem = self as? DocumentProblem else { return "\(self)" }
    return (problem.pointer.isEmpty ? "" : "\(problem.pointer.shortened): ")
      + [problem.message, problem.advice].compactMap(\.self).joined(separator: ". ")
  }
}

extension StageError {
  private static let codeCharactersMax = 64

  /// - Throws: `DocumentProblem` unless it has a code without spaces and a message.
  package init(ofProgram json: JSONValue) throws {
    let fields = try StrictDecoder<DocumentProblem>(json, at: "/error").object([
      "code", "message", "severity",
    ])
    let code = try fields.required("code")
    let word = try code.string()
    // A code is part of decisions and goldens.
    guard (1...Self.codeCharactersMax).contains(word.utf8.count),
      word.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
    else {
      throw code.wrong(
        "a code has 1 to \(Self.codeCharactersMax) ASCII characters and no spaces")
    }
    var severity = Severity.recoverable
    if let given = fields["severity"] {
      guard let known = Severity(rawValue: try given.string()) else {
        throw given.wrong("a severity is 'recoverable' or 'unrecoverable'")
      }
      severity = known
    }
    self.init(
      code: word, message: try fields.required("message").string(), severity: severity)
  }
}
