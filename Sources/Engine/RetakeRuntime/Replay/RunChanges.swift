import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Changes around a run: events of the device, and swaps, in the order in which the environment's
/// events of one instant are handled.
struct RunChanges {
  enum Change {
    case event(DeviceEvent)
    case swap(StageSwap, node: Int, refusal: String?)
  }

  struct Timed {
    /// Virtual nanoseconds.
    var time: Int64
    var change: Change
  }

  private(set) var all: [Timed] = []

  /// The session's own events come first, then the overrides in their order. In `every-frame` there
  /// are no policies, so events of the device are ignored.
  ///
  /// - Throws: `RuntimeError.unknownSwapNode`, `RuntimeError.noPolicies`, and the readers' errors.
  init(
    plan: GraphPlan, options: RunOptions, sources: [SourceState], origin: Int64
  ) throws {
    if options.mode != .everyFrame, let first = sources.first {
      // heat-state: with a heat model, the heat of the device that recorded does not count.
      let isModelled = options.costs.profile?.heat != nil
      all = try first.reader.deviceEvents().filter { !isModelled || !$0.event.isHeat }
        .map { try Self.timed($0, origin: origin) }
    }
    // device-order: overrides come after the session's
    // events, in the order in which they are given.
    for override in options.overrides {
      switch override {
      case .event(let time, let event):
        if options.mode != .everyFrame { all.append(Timed(time: time, change: .event(event))) }
      case .swap(let swap):
        guard let time = try Self.time(of: swap, sources, options.mode, origin) else { continue }
        all.append(Timed(time: time, change: try Self.change(swap, plan: plan)))
      }
    }
  }

  private static func timed(
    _ event: TimedDeviceEvent, origin: Int64
  ) throws(RuntimeError) -> Timed {
    let time = event.timestamp.nanoseconds
    guard time.magnitude <= EventKey.nanosecondsMax.magnitude else {
      throw .eventTimeOutOfRange(ordinal: event.ordinal, nanoseconds: time)
    }
    return Timed(time: time - origin, change: .event(event.event))
  }

  /// The time at which a swap begins; `nil` if the frame that it waits for never arrives.
  private static func time(
    of swap: StageSwap, _ sources: [SourceState], _ mode: RunOptions.Mode, _ origin: Int64
  ) throws -> Int64? {
    switch swap.moment {
    case .nanoseconds(let time): return time
    case .arrival(let id):
      for source in sources where source.track == id.track {
        let entries = try source.reader.entries(
          of: id.track, sequences: id.sequence..<id.sequence + 1)
        guard let entry = entries.first, !entry.isPayloadMissing else { return nil }
        return (mode == .everyFrame ? entry.timestamp : entry.arrival).nanoseconds - origin
      }
      return nil
    }
  }

  private static func change(_ swap: StageSwap, plan: GraphPlan) throws(RuntimeError) -> Change {
    guard let node = plan.nodes.firstIndex(where: { $0.id == swap.node }) else {
      throw .unknownSwapNode(swap.node, nodes: plan.nodes.map(\.id))
    }
    return .swap(swap, node: node, refusal: refusal(of: swap.stage, for: plan.nodes[node].stage))
  }

  /// Why a stage cannot replace a node's stage; `nil` if it can.
  static func refusal(of new: AnyStage, for old: AnyStage) -> String? {
    // swap-refused: the graph is not built again, so the new stage must fit the nodes around it.
    guard old.signature.role.isServed, new.signature.role.isServed else { return "swap.noStage" }
    // A program has timers that belong to frames of both stages.
    if new.programSinks != nil || old.programSinks != nil { return "swap.program" }
    if new.signature.input != old.signature.input { return "swap.inputMismatch" }
    if new.signature.output != old.signature.output { return "swap.outputMismatch" }
    // Both are served, so both have formats unless their input is any value.
    let (formats, before) = (new.signature.acceptedFormats, old.signature.acceptedFormats)
    guard formats.map({ known in before?.allSatisfy { known.contains($0) } ?? false }) ?? true
    else { return "swap.formatMismatch" }
    // The nodes downstream of this node were fitted to the old stage's pixel format.
    guard PixelFormat.allCases.allSatisfy({ new.outputFormat($0) == old.outputFormat($0) }) else {
      return "swap.outputFormatMismatch"
    }
    return nil
  }
}
