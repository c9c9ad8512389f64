/// The rows of a trace, in pipeline order: one per server, and one per node for its decisions.
struct TraceLayout: Sendable {
  static let executors = 1
  static let queues = TraceText.Row(process: 2, thread: 2)
  static let frames = TraceText.Row(process: 3, thread: 3)
  static let decisions = 4
  /// The first thread number of rows that are threads.
  private static let firstThread = 11

  /// By executor, then server.
  let servers: [[TraceText.Row]]
  /// By node.
  let nodes: [TraceText.Row]

  init(executors: [TraceNode.Executor], nodeCount: Int) {
    var next = Self.firstThread
    // The count continues over all processes: readers know a thread by its number alone.
    func row(_ process: Int) -> TraceText.Row {
      defer { next += 1 }
      return TraceText.Row(process: process, thread: next)
    }
    servers = executors.map { executor in
      (0..<executor.servers).map { _ in row(Self.executors) }
    }
    nodes = (0..<nodeCount).map { _ in row(Self.decisions) }
  }

  func describe(
    executors: [TraceNode.Executor], nodes described: [TraceNode], in text: inout TraceText
  ) {
    text.process(TraceText.Row(process: Self.executors, thread: Self.executors), "executors")
    for (executor, rows) in zip(executors, servers) {
      for (index, row) in rows.enumerated() {
        text.thread(row, rows.count == 1 ? executor.id : "\(executor.id) \(index + 1)")
      }
    }
    text.process(Self.queues, "queues")
    text.process(Self.frames, "frames")
    text.process(TraceText.Row(process: Self.decisions, thread: Self.decisions), "decisions")
    for (node, row) in zip(described, nodes) { text.thread(row, node.id) }
  }
}
