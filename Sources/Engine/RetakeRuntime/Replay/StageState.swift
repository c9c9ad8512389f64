import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// One call of a stage's body. It refuses frames in a pixel format that the graph was not made for.
typealias StageCall = @Sendable (any PipelineValue, StageContext) -> StageOutcome

/// The bodies of a run's nodes. The stage that handles a frame depends on the swaps that were in
/// force when the frame arrived.
struct StageState {
  /// One stage of a node in one run.
  struct Entry {
    let cost: Cost?
    /// The last call of a stateful stage.
    var chainTail: ValueFuture?
    /// Whether virtual time waits for the outcome of a call.
    let isGate: Bool
    /// Whether the output continues to use the memory of the input.
    let keepsInput: Bool
    /// A call of the stage, including a stateful stage's memory; `nil` for nodes that do not
    /// compute.
    let call: StageCall?
    /// One call for the frames of a batch; `nil` if they are computed one by one.
    let batchCall: BatchBody?
    /// The earlier calls that the outputs depend on, in addition to their inputs.
    let memory: StageMemory
    /// A whole program, which also computes between frames; `nil` for other stages.
    let program: (any ProgramInstance)?
    /// How the stage's outputs are cached for later runs.
    let cached: CachedStage?

    init(_ stage: AnyStage, cost: Cost?, guardsFormat: Bool, code: Digest128?) {
      self.cost = cost
      cached = code.flatMap { CachedStage(stage, code: $0) }
      keepsInput = stage.signature.keepsInput
      memory = StageMemory(of: stage)
      // A guarded stage can fail as well: it refuses a frame whose pixel format has changed.
      isGate = stage.signature.canFail || guardsFormat
      let body: StageCall?
      var program: (any ProgramInstance)?
      switch stage.body {
      case .pure(let pure): body = pure
      case .stateful(let make):
        let instance = make()
        body = { instance.process($0, $1) }
        program = instance as? any ProgramInstance
      default: body = nil
      }
      self.program = program
      // The pixels of output frames are computed again on demand, which a batch cannot do.
      let batch = stage.signature.output == .frame ? nil : stage.batchBody
      guard guardsFormat, let body else {
        (call, batchCall) = (body, batch)
        return
      }
      let signature = stage.signature
      call = { signature.refusal(of: $0) ?? body($0, $1) }
      guard let batch else {
        batchCall = nil
        return
      }
      batchCall = { calls in
        let refusals = calls.map { signature.refusal(of: $0.input) }
        let accepted = calls.indices.filter { refusals[$0] == nil }.map { calls[$0] }
        var outcomes = (accepted.isEmpty ? [] : batch(accepted))[...]
        return refusals.map { $0 ?? outcomes.removeFirst() }
      }
    }
  }

  private let guardsFormat: [Bool]
  private let code: Digest128?
  /// By node, in the order in which they came into force.
  private var entries: [[Entry]]
  /// The node of each swap in force.
  private var swapped: [Int] = []

  /// - Parameter code: Digest of the code and libraries that compute, if outputs are cached.
  init(_ plan: GraphPlan, code: Digest128? = nil) {
    self.code = code
    guardsFormat = plan.nodes.map(\.guardsFormat)
    entries = plan.nodes.map {
      [Entry($0.stage, cost: $0.cost, guardsFormat: $0.guardsFormat, code: code)]
    }
  }

  mutating func swap(node: Int, to stage: AnyStage, cost: Cost?) {
    swapped.append(node)
    entries[node].append(
      Entry(stage, cost: cost, guardsFormat: guardsFormat[node], code: code))
  }

  /// The index of the stage that handles the frames of an epoch.
  func version(of node: Int, epoch: Int) -> Int {
    // swap-epoch: of the swaps that were in force when the frame arrived, the swaps of this node.
    swapped.isEmpty ? 0 : swapped[..<epoch].count { $0 == node }
  }

  subscript(node: Int, version: Int) -> Entry {
    _read { yield entries[node][version] }
    _modify { yield &entries[node][version] }
  }

  /// The call for the frames of an epoch.
  func call(_ node: Int, epoch: Int) -> StageCall {
    guard let call = entries[node][version(of: node, epoch: epoch)].call else {
      preconditionFailure("only stages are called")
    }
    return call
  }

  func memory(of node: Int, epoch: Int) -> StageMemory {
    entries[node][version(of: node, epoch: epoch)].memory
  }

  func cached(_ node: Int, epoch: Int) -> CachedStage? {
    entries[node][version(of: node, epoch: epoch)].cached
  }

  func keepsInput(_ node: Int, epoch: Int) -> Bool {
    entries[node][version(of: node, epoch: epoch)].keepsInput
  }

  func isGate(_ node: Int, epoch: Int) -> Bool {
    entries[node][version(of: node, epoch: epoch)].isGate
  }
}

extension StageSignature {
  /// The failure of a body that must not see a value: a frame whose pixel format the stage does not
  /// accept.
  fileprivate func refusal(of value: any PipelineValue) -> StageOutcome? {
    guard let frame = value as? Frame ?? (value as? Region)?.frame,
      !accepts(frame.format)
    else { return nil }
    let accepted = (acceptedFormats ?? []).map(\.rawValue).joined(separator: ", ")
    return .failure(
      StageError(
        code: "frame.format",
        message: "\(kind) takes \(accepted), and the frame changed to \(frame.format.rawValue)"))
  }
}
