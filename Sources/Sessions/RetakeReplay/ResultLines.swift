public import RetakeCore
public import RetakeRuntime

/// Outputs the results of a run as JSON lines during the run: one line for each captured frame, in
/// the order of capture, each with its line end. The lines are the same in every run.
///
/// ```swift
/// let lines = try ResultLines(of: replay, sink: "analytics") { print($0, terminator: "") }
/// let summary = try replay.run(observers: [lines])
/// ```
public final class ResultLines: RunObserver {
  private let receive: (String) throws -> Void
  private var writer: ResultJSON
  /// Sinks whose deliveries are noted.
  private let sinks: Set<String>
  /// Virtual times of delivery by sink, for frames that are not reported yet: the frames in flight,
  /// and at most as many as the run's window.
  private var deliveries: [FrameID: [String: Int64]] = [:]

  /// `true`: the delivery times come from the decision lines.
  public var wantsDecisions: Bool { true }
  /// `true`: each line is output as soon as the results of its frame are known.
  public var isFollowed: Bool { true }

  /// - Parameters:
  ///   - sink: The only sink whose outcomes are output; `nil` = all sinks.
  ///   - receive: Called on the thread of the run; throwing ends the run with that error.
  /// - Throws: `ReplayError.noSuchSink`.
  public init(
    of replay: Replay, sink: String? = nil, receive: @escaping (String) throws -> Void
  ) throws {
    let chosen = replay.sinks.filter { sink == nil || $0.path == sink }
    if let sink, chosen.isEmpty {
      throw ReplayError.noSuchSink(node: sink, sinks: replay.sinks.map(\.path))
    }
    self.receive = receive
    writer = ResultJSON(sinks: chosen)
    sinks = Set(chosen.map(\.path))
  }

  /// Notes the time of a delivery at one of the chosen sinks.
  public func decided(_ line: DecisionLine) {
    guard line.kind == .deliver, let frame = line.frame, sinks.contains(line.node) else { return }
    deliveries[frame, default: [:]][line.node] = line.time
  }

  /// Passes the line of the frame to `receive`.
  public func finished(_ frame: FinishedFrame) throws {
    let times = deliveries.removeValue(forKey: frame.result.id) ?? [:]
    try receive(
      writer.line(
        of: ResultJSON.Frame(
          frame.result, arrivalNanoseconds: frame.arrivalNanoseconds,
          deliveries: frame.result.outcomes.map { times[$0.sink] },
          classNames: frame.classNames, failures: frame.failures)))
  }
}

/// Writes result lines to a file.
package final class ResultLineWriter: RunObserver {
  private let file: WholeFile
  private let lines: ResultLines

  package var wantsDecisions: Bool { true }
  package let isFollowed: Bool

  /// - Parameter isLive: Whether a reader follows the output. If so, each line is written as soon
  ///   as it is known.
  package init(
    _ file: WholeFile, of replay: Replay, sink: String? = nil, isLive: Bool
  ) throws {
    self.file = file
    isFollowed = isLive
    lines = try ResultLines(of: replay, sink: sink) { line in
      file.append(line.utf8)
      // Before the check, so that a reader that has left is noticed with this line.
      if isLive { file.flush() }
      try file.check()
    }
  }

  package func decided(_ line: DecisionLine) { lines.decided(line) }
  package func finished(_ frame: FinishedFrame) throws { try lines.finished(frame) }

  /// - Throws: `ReplayError.unwritable`, `ReplayError.readerGone`.
  package func finish() throws { try file.finish() }

  /// Removes the unfinished file after a run that failed.
  package func discard() { file.discard() }

  package var loss: ReplayError? { file.loss }
}
