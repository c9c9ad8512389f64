import RetakeCore
import RetakeGraph
import RetakeTimePlane

extension CaseOverride {
  /// The overrides in the form that a run applies.
  ///
  /// - Parameter tracks: The track that each session source reads, by node.
  /// - Throws: `ReplayError.badOverride`.
  static func runOverrides(
    _ overrides: [Self], in pipeline: Pipeline, tracks: [String: Int], catalog: some StageCatalog
  ) throws -> [RunOverride] {
    guard !overrides.isEmpty else { return [] }
    let flat = pipeline.flattened()
    let sources = try flat.mainSources()
    return try ordered(overrides).compactMap { entry in
      switch entry {
      // The sources read faulty frames.
      case .camera: return nil
      case .event(let time, let event): return .event(atNanoseconds: time, event)
      case .swap(let swap):
        // Frames of sources that bring their own frames are on track 0.
        let track = sources[swap.node].flatMap { tracks[$0] } ?? 0
        return .swap(
          try entry.stageSwap(swap, in: flat, track: track, catalog: catalog))
      }
    }
  }

  private func stageSwap(
    _ swap: OptionSwap, in pipeline: Pipeline, track: Int, catalog: some StageCatalog
  ) throws -> StageSwap {
    func bad(_ detail: String, _ advice: String?) -> ReplayError {
      .badOverride(text, detail: detail, advice: advice)
    }
    let stages = pipeline.nodes.filter(\.stage.signature.role.isServed).map(\.id).sorted()
    guard let node = pipeline.node(swap.node) else {
      throw bad(
        "there is no node '\(swap.node)'", Suggestion.advice(for: swap.node, among: stages))
    }
    guard stages.contains(node.id) else {
      throw bad(
        "'\(node.id)' is a \(node.kind), and only stages are swapped",
        Suggestion.advice(for: "", among: stages))
    }
    guard node.stage.isExportable, case .object(let options) = node.stage.options else {
      throw bad("'\(node.id)' is a closure and has no options", nil)
    }
    let stage: AnyStage
    do {
      stage = try catalog.make(
        kind: node.kind, options: .object(options.merging(swap.options) { $1 }))
    } catch let error as OptionProblem {
      throw bad(
        "\(error.message)\(error.pointer.isEmpty ? "" : " (at \(error.pointer))")", error.advice)
    }
    let moment: StageSwap.Moment =
      switch swap.moment {
      case .nanoseconds(let time): .nanoseconds(time)
      case .frame(let own, let sequence): .arrival(FrameID(track: own ?? track, sequence: sequence))
      }
    // An override names options alone, so the new stage has the node's declared cost.
    return StageSwap(
      at: moment, node: node.id, stage: stage, cost: node.cost, prepare: swap.prepare)
  }
}

extension RunOverride {
  /// The same override; a stage that it puts in force reads the session's sensors, too.
  func connected(to sensors: SensorBinding?) -> RunOverride {
    guard let sensors, case .swap(var swap) = self else { return self }
    swap.stage = sensors.applied(to: swap.stage)
    return .swap(swap)
  }
}

extension Replay {
  /// Notes for the user about overrides that have no effect, as sentences.
  ///
  /// - Throws: The reader's errors for its index.
  package func overrideNotes() throws -> [String] { try eventNotes + swapNotes + lateNotes() }

  /// Overrides at a time when no frame arrives any more.
  private func lateNotes() throws -> [String] {
    let mode = request.options.mode
    // In every-frame mode, events are without effect at any time.
    let timed = request.overrides.filter {
      $0.nanoseconds != nil && !($0.isEvent && mode == .everyFrame)
    }
    guard !timed.isEmpty, let end = try prepared.endNanoseconds(mode) else { return [] }
    let seconds = FixedDecimal(Double(end) / 1e9, decimals: 3).text
    return timed.filter { ($0.nanoseconds ?? 0) > end }.map {
      "the override '\($0.text)' is after the last frame, which arrives at \(seconds) s"
    }
  }

  /// Swaps at a frame that never arrives.
  private var swapNotes: [String] {
    overrides.compactMap { entry in
      guard case .swap(let swap) = entry, case .arrival(let frame) = swap.moment else { return nil }
      let track = prepared.trackDescriptions.first { $0.track == frame.track }
      let count = track?.frameCount ?? 0
      guard frame.sequence >= count else { return nil }
      let reason =
        switch (track, count) {
        case (nil, _): "no source reads track \(frame.track)"
        case (_, 0): "track \(frame.track) has no frames"
        default: "the frames of track \(frame.track) are 0 to \(count - 1)"
        }
      return "the swap of '\(swap.node)' at frame \(frame) never happens: \(reason)"
    }
  }

  private var eventNotes: [String] {
    guard request.options.mode != .everyFrame, request.overrides.contains(where: \.isEvent),
      !pipeline.nodes.contains(where: \.stage.followsDevice),
      !pipeline.pools.contains(where: \.followsDevice), !profileFollowsEvents
    else { return [] }
    return [
      "device events have no effect here: no throttle of '\(pipeline.name)' has rules, and no pool "
        + "follows heat or memory"
    ]
  }
}

extension Replay {
  /// Whether an event sets the heat of the device, and the profile depends on the heat.
  private var profileFollowsEvents: Bool {
    guard let profile = request.options.costs.profile else { return false }
    let isHeat = request.overrides.contains {
      if case .event(_, let event) = $0 { event.isHeat } else { false }
    }
    return isHeat && (!profile.states.isEmpty || profile.heat != nil)
  }
}

extension PipelinePool {
  fileprivate var followsDevice: Bool {
    adaptive.map { !$0.off.isSuperset(of: [.thermal, .memory]) } ?? false
  }
}

extension AnyStage {
  fileprivate var followsDevice: Bool {
    if case .throttle(let policy) = body { !policy.rules.isEmpty } else { false }
  }
}
