import RetakeCore

/// How long a stage's body took for one frame or item, and when. It is one line of a cost tape.
public struct CostSpan: Hashable, Sendable {
  public var node: String
  public var frame: FrameID
  /// Index of an item inside a forEach; −1 is the whole frame.
  public var item: Int
  /// When all inputs of the body were available, in nanoseconds.
  public var readyNanoseconds: Int64
  public var startNanoseconds: Int64
  public var endNanoseconds: Int64
  /// Processor time of the thread.
  public var processorNanoseconds: Int64
  public var executor: String
  /// `done`, or the code with which the body failed.
  public var outcome: String

  /// The outcome of a body that returned a value.
  public static let done = "done"

  package init(
    node: String, frame: FrameID, item: Int = -1, readyNanoseconds: Int64,
    startNanoseconds: Int64, endNanoseconds: Int64, processorNanoseconds: Int64, executor: String,
    outcome: String = CostSpan.done
  ) {
    self.node = node
    self.frame = frame
    self.item = item
    self.readyNanoseconds = readyNanoseconds
    self.startNanoseconds = startNanoseconds
    self.endNanoseconds = endNanoseconds
    self.processorNanoseconds = processorNanoseconds
    self.executor = executor
    self.outcome = outcome
  }

  /// What the body costs in virtual time: its end − start, even if it failed.
  public var costNanoseconds: Int64 { endNanoseconds - startNanoseconds }

  /// `0:12`, or `0:12.3` for an item.
  package var subject: String { item < 0 ? "\(frame)" : "\(frame).\(item)" }
}
