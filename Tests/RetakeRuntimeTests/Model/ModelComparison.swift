import RetakeCore
import RetakeGraph
import RetakeRuntime

/// One case as decided by the engine and by the model.
struct ModelComparison {
  let example: ModelCase
  let expected: [String]
  let actual: [String]
  /// The number of captured frames, by track.
  private let captured: [Int: Int]
  private let pools: [TimePlaneModel.Pool]
  /// The buffers that are held at the end, by pool.
  private let held: [Int]
  /// `nil` for a run that got stuck.
  let outcome: RunOutcome?

  init(_ example: ModelCase) throws {
    self.example = example
    let model = example.model
    expected = model.run()
    captured = model.captured
    pools = model.pools
    held = pools.indices.map { model.heldBuffers($0) }
    let notes = Notes()
    do {
      outcome = try PreparedRun(example.pipeline, catalog: StageRegistry()).run(
        example.options, observer: notes)
    } catch RuntimeError.stuck {
      outcome = nil
    }
    // Only the engine explains how the nodes wait for each other.
    actual = notes.lines.map { $0.kind == .stuck ? "stuck" : $0.description }
  }

  /// The difference in words; `nil` if the engine and the model agree.
  var difference: String? {
    if actual != expected { return linesDifference }
    guard let outcome else { return expected.last == "stuck" ? nil : "stuck, and the model is not" }
    if outcome.decisions != actual.count { return "\(outcome.decisions) decisions are counted" }
    return ledgerDifference(outcome) ?? poolsDifference(outcome)
  }

  /// Compares the figures that the engine reports about its pools and screens.
  private func poolsDifference(_ outcome: RunOutcome) -> String? {
    for (pool, held) in zip(pools, held) {
      guard let counts = outcome.pools.first(where: { $0.pool == pool.id }) else { continue }
      let reported = [
        counts.size, counts.peak, counts.requests, counts.stalls, counts.completed,
        counts.resizes, counts.isBroken ? 1 : 0,
      ]
      let counted = [
        pool.size, pool.figures.peak, pool.figures.requests, pool.figures.stalls,
        pool.figures.taken - held, pool.state.changes, pool.state.isBroken ? 1 : 0,
      ]
      guard reported == counted else {
        return
          "\(pool.id): size, peak, requests, stalls, completed, changes, broken are \(reported), and "
          + "counted they are \(counted)\n\(example)"
      }
    }
    return nil
  }

  private var linesDifference: String {
    let index = zip(actual, expected).prefix { $0 == $1 }.count
    return """
      \(example)
      after \(actual[..<index].suffix(8).joined(separator: "\n      "))
      engine \(actual[index...].prefix(4)) of \(actual.count)
      model  \(expected[index...].prefix(4)) of \(expected.count)
      """
  }

  /// Compares the engine's ledgers with the lines.
  private func ledgerDifference(_ outcome: RunOutcome) -> String? {
    let flat = FlatCase(example)
    let lines = Dictionary(
      grouping: actual.compactMap { DecisionLine(parsing: $0) }
        .filter { $0.frame != nil && $0.kind != .vsync }, by: \.node)
    for node in flat.nodes {
      switch node.role {
      case .own(.sink), .own(.screen): break
      default: continue
      }
      let source = flat.source(of: node.id)
      let track = example.sources.first { $0.id == source }?.frames.track ?? -1
      let counted = ledger(lines[node.id] ?? [], captured: captured[track] ?? 0)
      let entry = outcome.ledgers.first { $0.sink == node.id && $0.track == track }
      let reported = entry?.ledger ?? FrameLedger()
      if !reported.isBalanced || counted != reported {
        return "the ledger of \(node.id) is \(reported), and counted it is \(counted)\n\(example)"
      }
    }
    return nil
  }

  /// Counts the lines of a sink that are about frames.
  private func ledger(_ lines: [DecisionLine], captured: Int) -> FrameLedger {
    var ledger = FrameLedger()
    for line in lines {
      let fate =
        line.kind == .deliver
        ? .delivered : FrameFate(word: line["fate"] ?? "", reason: line["reason"] ?? "")
      if let fate { ledger.count(fate) }
      ledger.captured += 1
    }
    ledger.inFlight = captured - ledger.captured
    ledger.captured = captured
    return ledger
  }
}
