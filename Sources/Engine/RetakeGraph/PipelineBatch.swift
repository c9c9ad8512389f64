package import RetakeCore

/// How many waiting frames a stage handles together.
package struct PipelineBatch: Hashable, Sendable {
  package static let countRange = 2...64

  /// The largest number of frames in a batch.
  package var max: Int
  /// How long the first waiting frame waits for others, at most; zero = a free server starts at once.
  package var wait: Duration

  package init(max: Int, wait: Duration = .zero) {
    self.max = max
    self.wait = wait
  }

  /// The form in a document: `{"max": 8, "wait": "5ms"}`.
  package var json: JSONValue {
    var members: [String: JSONValue] = ["max": .integer(Int64(max))]
    if wait != .zero { members["wait"] = .string(wait.unitText) }
    return .object(members)
  }
}
