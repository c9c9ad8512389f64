package import RetakeCore
package import RetakeGraph

/// The failures at one frame: the first failure of each node. If several items of a node failed, it
/// is the failure that halts the run.
package struct FrameFailures {
  private var failures: [(node: Int, failure: StageFailure)] = []

  package init() {}

  /// In the order in which they happened.
  package var all: [StageFailure] { failures.map(\.failure) }

  package subscript(node: Int) -> StageFailure? { failures.first { $0.node == node }?.failure }

  package mutating func note(_ failure: StageFailure, node: Int) {
    guard let known = failures.firstIndex(where: { $0.node == node }) else {
      failures.append((node, failure))
      return
    }
    if failures[known].failure.isRecoverable, !failure.isRecoverable {
      failures[known].failure = failure
    }
  }
}

extension StageFailure {
  package init(_ error: StageError, at frame: FrameID, _ work: Work, node: String) {
    self.init(
      frame: frame, item: work.isItem ? Int(work.item) : nil, node: node, code: error.code,
      message: error.message, isRecoverable: error.severity == .recoverable)
  }
}
