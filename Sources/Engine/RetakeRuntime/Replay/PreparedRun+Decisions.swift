import RetakeBuffers
package import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// A body that fails for a frame.
package struct BodyFailure: Hashable, Sendable {
  package var node: String
  package var frame: FrameID

  package init(node: String, frame: FrameID) {
    self.node = node
    self.frame = frame
  }
}

/// The values that decisions depend on.
package enum ValueNeed: Hashable, Sendable {
  case nothing
  /// The set of bodies that fail. It is the same in every run, because no node upstream of them
  /// keeps state, chooses, or uses another frame's value.
  case failures
  case values
}

/// Runs that only produce decisions.
extension PreparedRun {
  package var valueNeed: ValueNeed {
    guard plan.nodes.allSatisfy({ $0.role.decidesWithoutValues }) else { return .values }
    let gates = plan.nodes.indices.filter { plan.nodes[$0].isGate }
    if gates.isEmpty { return .nothing }
    return gates.allSatisfy { isPurePath(to: $0) } ? .failures : .values
  }

  private func isPurePath(to gate: Int) -> Bool {
    var node = gate
    // Bounded: each step goes to an earlier node.
    while plan.nodes[node].role == .pure, let edge = plan.nodes[node].inEdge {
      if node != gate, plan.nodes[node].hasFallback { return false }
      node = plan.edges[edge].from
    }
    return plan.nodes[node].role == .source
  }

  /// The same decisions, with bodies that do not compute, and fail only where `failures` has a
  /// code.
  package func withoutValues(failures: [BodyFailure: String]) -> PreparedRun {
    var copy = replacingBodies { $0.emptyBody(failing: failures) }
    for index in plan.nodes.indices where plan.nodes[index].isGate {
      copy.plan.nodes[index].guardsFormat = false
      copy.plan.nodes[index].stage = copy.plan.nodes[index].stage.thatCanFail
    }
    copy.bindings = bindings.mapValues {
      Binding(reader: IndexReader(reader: $0.reader), track: $0.track)
    }
    return copy
  }

  /// The same failures, with bodies that do not compute if no failure can depend on them. The
  /// pipeline's own sinks are not called.
  package var forFailures: PreparedRun {
    var leadsToGate = plan.nodes.map(\.isGate)
    for index in plan.nodes.indices.reversed() where !leadsToGate[index] {
      leadsToGate[index] = plan.nodes[index].outEdges.contains { leadsToGate[plan.edges[$0].to] }
    }
    let needed = Set(plan.nodes.indices.filter { leadsToGate[$0] }.map { plan.nodes[$0].id })
    return replacingBodies { needed.contains($0.id) ? nil : $0.emptyBody }
  }

  /// The same run, except that the pipeline's own sinks are not called.
  package var withSilentSinks: PreparedRun {
    replacingBodies { $0.role == .sink ? $0.emptyBody : nil }
  }

  private func replacingBodies(_ body: (GraphPlan.Node) -> AnyStage.Body?) -> PreparedRun {
    var copy = self
    for index in plan.nodes.indices {
      guard let body = body(plan.nodes[index]) else { continue }
      copy.plan.nodes[index].stage = plan.nodes[index].stage.replacingBody(body)
    }
    return copy
  }
}

extension StageRole {
  /// Whether the time plane never needs such a node's value, only whether there is one.
  fileprivate var decidesWithoutValues: Bool {
    switch self {
    case .source, .pure, .stateful, .throttle, .sample, .join, .latest, .sink: true
    case .route, .fork, .gather: false
    }
  }
}

extension GraphPlan.Node {
  /// A body that passes its input on and reports no facts; `nil` for nodes without a body.
  fileprivate var emptyBody: AnyStage.Body? { emptyBody(failing: [:]) }

  fileprivate func emptyBody(failing failures: [BodyFailure: String]) -> AnyStage.Body? {
    switch role {
    case .pure:
      let id = id
      return .pure { input, context in
        guard let code = failures[BodyFailure(node: id, frame: context.frame)] else {
          return .success(input)
        }
        return .failure(StageError(code: code, message: "this run computes no values"))
      }
    case .stateful: return .stateful { PassingInstance() }
    case .sink: return .sink { _ in }
    default: return nil
    }
  }
}

/// Keeps no state and passes its input on.
private final class PassingInstance: StageInstance {
  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    .success(input)
  }

  func reset() {}
}

/// A session's index without its pixels.
private struct IndexReader: FrameReader {
  let reader: any FrameReader

  var tracks: [TrackDescription] { reader.tracks }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    try reader.entries(of: track, sequences: sequences)
  }

  func chain(of id: FrameID) -> Int { id.track }

  func frame(_ id: FrameID) throws -> Frame {
    Frame(id: id, format: .gray, width: 1, height: 1, planes: [[0]])
  }

  func deviceEvents() throws -> [TimedDeviceEvent] { try reader.deviceEvents() }
}
