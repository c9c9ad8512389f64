/// A message is shorter than its type needs, or has a value that it may not have.
struct MessageProblem: Error, Hashable {
  /// In bytes from the beginning of the message.
  var offset: Int
  var cause: String

  var text: String { "at byte \(offset) of the message: \(cause)" }
}
