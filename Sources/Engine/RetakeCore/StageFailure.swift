/// A failure of a stage, or of a source, at one frame.
///
/// Its description names frame, stage, message and code:
/// `frame 0:26, stage gpu: out of memory: 512 MB asked [gpu.memory]`.
public struct StageFailure: Error, Hashable, Sendable, Codable {
  /// The frame that the stage processed, or that the source read, when it failed.
  public var frame: FrameID
  /// Index inside a forEach; `nil` if the stage processed the frame.
  public var item: Int?
  /// The node's ID in the pipeline.
  public var node: String
  /// Stable, and without spaces, because it appears in decisions and golden files.
  public var code: String
  /// The stage's message. It is part of no digest and no golden file.
  public var message: String
  /// `false` for a failure that halts the run.
  public var isRecoverable: Bool

  /// Longer messages are truncated, so that a run with many failures stays small.
  package static let messageCharactersMax = 1_000

  package init(
    frame: FrameID, item: Int? = nil, node: String, code: String, message: String,
    isRecoverable: Bool = true
  ) {
    self.frame = frame
    self.item = item
    self.node = node
    self.code = code
    self.message = String(message.prefix(Self.messageCharactersMax))
    self.isRecoverable = isRecoverable
  }
}

extension StageFailure: CustomStringConvertible {
  /// `frame 0:26, stage gpu: out of memory: 512 MB asked [gpu.memory]`.
  public var description: String {
    let place = item.map { "\(frame), item \($0)" } ?? "\(frame)"
    return "frame \(place), stage \(node): \(message) [\(code)]"
  }
}
