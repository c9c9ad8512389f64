package import RetakeCore

/// A problem of a valid pipeline: it is too slow, or frames are lost.
package struct PipelineWarning: CodedError, Hashable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The time of a frame to a sink exceeds the budget of the sink.
    case budget
    /// Servers have more work than they can handle, and sources lose frames.
    case overload
    /// The typical time of a stage exceeds its timeout, or a join ends before a part arrives.
    case timeout
    /// Frames that end in one branch leave their partners at a join without a match.
    case partner
    /// A pool can stay empty forever if a frame has many detections.
    case pool
  }

  package var kind: Kind
  package var message: String
  /// A JSON pointer into the document.
  package var pointer: String
  /// The place in words, if the pipeline was made in Swift: for example `stage 'motion'`. It then
  /// replaces the pointer in `place`.
  package var part: String?
  package var advice: String?
  /// Alternative changes. Each of them fixes the problem on its own.
  package var fixes: [[PipelineFix]]
  package var file: String?

  package var code: String { "graph.check.\(kind.rawValue)" }
  package var place: Place? {
    Place(file: file, part: part, pointer: part == nil ? pointer : nil)
  }

  package init(
    _ kind: Kind, _ message: String, at pointer: String, advice: String? = nil,
    fixes: [[PipelineFix]] = []
  ) {
    self.kind = kind
    self.message = message
    self.pointer = pointer
    self.advice = advice
    self.fixes = fixes
  }
}
