import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeReport
import RetakeRuntime

/// Writes a run as a trace of virtual time during the run.
final class TraceObserver: RunOutput {
  /// Bytes of trace text that are gathered before they are written to the file.
  private static let batchBytes = 1 << 16

  private let file: WholeFile
  private let about: [(key: String, value: String)]
  private var writer: TraceWriter

  var wantsDecisions: Bool { true }

  convenience init(_ file: WholeFile, of replay: Replay) {
    self.init(
      file, nodes: replay.nodes,
      // In `every-frame` pools have no limit (docs/architecture.md), so there is no size to draw.
      pools: replay.request.options.mode == .everyFrame ? [] : replay.pipeline.pools,
      about: [
        ("case", replay.request.caseName), ("mode", replay.request.options.mode.rawValue),
        ("pipeline", replay.pipeline.name), ("session", replay.request.sessionName ?? "-"),
        ("tool", "retake \(Tool.version)"),
      ])
  }

  /// The trace of a live run, with times on the session's time line.
  convenience init(_ file: WholeFile, of live: Reproduction, session: String) throws {
    self.init(
      file, nodes: try live.nodes(), pools: live.pools,
      about: [
        ("mode", "live"), ("pipeline", live.pipelineName), ("run", "\(live.runNumber)"),
        ("session", session), ("tool", "retake \(Tool.version)"),
      ])
  }

  private init(
    _ file: WholeFile, nodes: [RunNode], pools: [PipelinePool],
    about: [(key: String, value: String)]
  ) {
    self.file = file
    self.about = about
    writer = TraceWriter(
      nodes.map { TraceNode($0) }, pools: pools.map(\.id),
      adaptive: pools.filter { $0.adaptive != nil }.map(\.id))
  }

  func decided(_ line: DecisionLine) {
    writer.append(line)
    if writer.byteCount >= Self.batchBytes { file.append(writer.take()) }
  }

  func leased(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    writer.setLeases(buffers, of: pool, at: nanoseconds)
  }

  func stalled(_ requests: Int, of pool: String, at nanoseconds: Int64) {
    writer.setStalls(requests, of: pool, at: nanoseconds)
  }

  func resized(_ buffers: Int, of pool: String, at nanoseconds: Int64) {
    writer.setSize(buffers, of: pool, at: nanoseconds)
  }

  func warmed(to temperature: Temperature, at nanoseconds: Int64) {
    writer.setTemperature(temperature, at: nanoseconds)
  }

  func finished(_ frame: FinishedFrame) throws { try file.check() }

  func finish() throws {
    writer.finish(about: about)
    file.append(writer.take())
    try file.finish()
  }

  var loss: ReplayError? { file.loss }

  func discard() { file.discard() }
}

extension TraceNode {
  init(_ node: RunNode) {
    self.init(
      id: node.id, role: Role(node.role), inputs: node.inputs,
      executor: node.executor.map { Executor(id: $0.id, servers: $0.servers) },
      track: node.track)
  }
}

extension TraceNode.Role {
  fileprivate init(_ role: RunNode.StageRoleName) {
    switch role {
    case .source: self = .source
    case .pure, .stateful: self = .stage
    case .throttle, .sample, .route, .fork: self = .passing
    case .join, .gather: self = .gathering
    case .latest: self = .latest
    case .sink: self = .sink
    }
  }
}
