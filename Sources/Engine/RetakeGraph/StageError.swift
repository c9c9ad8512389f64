import RetakeCore

/// An error that a stage's body throws on purpose.
public struct StageError: Error, Sendable, Hashable {
  /// Whether the run continues after the error.
  public enum Severity: String, Sendable {
    /// This frame fails; the run continues.
    case recoverable
    /// The run halts.
    case unrecoverable
  }

  /// Stable and without spaces, because it appears in golden files.
  public var code: String
  /// For people: part of no digest and no golden file. A failure keeps its first 1,000 characters.
  public var message: String
  /// `.recoverable` by default.
  public var severity: Severity

  /// The process ends if the code is empty or contains a space or a control character.
  public init(code: String, message: String, severity: Severity = .recoverable) {
    requirement(
      !code.isEmpty && !code.utf8.contains { $0 <= 0x20 || $0 == 0x7f },
      "a stage error's code has no spaces")
    self.code = code
    self.message = message
    self.severity = severity
  }

  /// Any error of a body as a stage error. Other types are recoverable; their code contains the
  /// name of the type.
  package init(wrapping error: any Error) {
    if let error = error as? StageError {
      self = error
    } else {
      // The name of a generic type has spaces, and a code is one word in decision lines.
      let name = String(describing: type(of: error)).filter { $0.isASCII && !$0.isWhitespace }
      self.init(code: "error.\(name)", message: String(describing: error))
    }
  }
}
