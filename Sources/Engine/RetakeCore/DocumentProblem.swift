import Foundation

/// A problem at one place of a document, before the module that reads the document assigns a code.
package struct DocumentProblem: Error, Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    /// The data is not a document at all, such as JSON without its last bracket.
    case malformed(String, advice: String?)
    /// The document's `v` is not 1, the only version that is read.
    case otherVersion(Int)
    case unknownKey(String, advice: String)
    case missingKey(String)
    case wrongValue(String, advice: String?)
    case tooLarge(String)
  }

  package var reason: Reason
  /// A JSON pointer (RFC 6901).
  package var pointer: String

  package init(_ reason: Reason, at pointer: String) {
    self.reason = reason
    self.pointer = pointer
  }

  /// The problem in words, without the place.
  package var message: String {
    switch reason {
    case .otherVersion(let v): "the document has version \(v); this Retake reads version 1"
    case .unknownKey(let key, _): "unknown key '\(key)'"
    case .missingKey(let key): "'\(key)' is missing"
    case .malformed(let detail, _), .wrongValue(let detail, _), .tooLarge(let detail): detail
    }
  }

  /// The correction, in the form in which the author of a JSON document would write it.
  package var advice: String? {
    switch reason {
    case .otherVersion: "Update Retake, or write \"v\": 1"
    case .unknownKey(_, let advice): advice
    case .missingKey("v"): "Begin with \"v\": 1"
    case .missingKey(let key): "Add \"\(key)\""
    case .malformed(_, let advice), .wrongValue(_, let advice): advice
    case .tooLarge: nil
    }
  }
}

/// For readers whose caller makes the error.
extension DocumentProblem: DocumentFailure {
  package init(_ problem: DocumentProblem) { self = problem }
}

extension DecodingError {
  /// The JSON pointer of the value that could not be decoded.
  package var pointer: String {
    let path =
      switch self {
      case .typeMismatch(_, let context), .valueNotFound(_, let context),
        .dataCorrupted(let context):
        context.codingPath
      case .keyNotFound(let key, let context): context.codingPath + [key]
      @unknown default: [any CodingKey]()
      }
    return path.map { "/" + ($0.intValue.map(String.init) ?? $0.stringValue) }.joined()
  }

  /// The problem, without the path.
  package var shortText: String {
    switch self {
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      context.debugDescription
    case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
    @unknown default: "cannot be read"
    }
  }
}
