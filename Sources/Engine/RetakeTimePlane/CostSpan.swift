public import RetakeCore

/// How long a stage's body took for one frame or item, and when. It is one line of recorded
/// timings.
public struct CostSpan: Hashable, Sendable {
  /// The stage's ID; `OBJECTS/NODE` in the body of the forEach `OBJECTS`.
  public var node: String
  /// The frame that the body was called for.
  public var frame: FrameID
  /// Index of an item inside a forEach; −1 for the frame itself.
  public var item: Int
  /// When all inputs of the body were available, in nanoseconds.
  public var readyNanoseconds: Int64
  /// When the body was called: live on the session's time line, in a replay that measures in
  /// virtual time from the replay's origin.
  public var startNanoseconds: Int64
  /// When the body returned, on the same time line as its start. In a replay that measures it is
  /// the start and the processor time.
  public var endNanoseconds: Int64
  /// Processor time of the thread.
  public var processorNanoseconds: Int64
  /// The ID of the executor that served the stage; the stage's own ID if it has an executor of its
  /// own.
  public var executor: String
  /// `done`, or the code of the body's failure.
  public var outcome: String

  /// The outcome of a body that returned a value.
  package static let done = "done"

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

  /// The cost of the body in virtual time: its end − start, even if it failed.
  public var costNanoseconds: Int64 { endNanoseconds - startNanoseconds }

  /// `0:12`, or `0:12.3` for an item.
  package var subject: String { item < 0 ? "\(frame)" : "\(frame).\(item)" }
}
