/// The duration of a stage for one frame or item: a line of the timings.
package struct SpanRecord: Hashable, Sendable {
  package var run: Int
  package var node: String
  package var track: Int
  package var sequence: Int
  /// −1 for the frame itself.
  package var item: Int
  package var readyNanoseconds: Int64
  package var startNanoseconds: Int64
  package var endNanoseconds: Int64
  /// Processor time of the thread.
  package var cpuNanoseconds: Int64
  package var executor: String
  package var outcome: String

  package init(
    run: Int, node: String, track: Int, sequence: Int, item: Int = -1, readyNanoseconds: Int64,
    startNanoseconds: Int64, endNanoseconds: Int64, cpuNanoseconds: Int64, executor: String,
    outcome: String
  ) {
    self.run = run
    self.node = node
    self.track = track
    self.sequence = sequence
    self.item = item
    self.readyNanoseconds = readyNanoseconds
    self.startNanoseconds = startNanoseconds
    self.endNanoseconds = endNanoseconds
    self.cpuNanoseconds = cpuNanoseconds
    self.executor = executor
    self.outcome = outcome
  }
}
