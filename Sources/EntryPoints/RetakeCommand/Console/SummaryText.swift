import Retake

/// A run in a few lines for people.
enum SummaryText {
  static func of(_ summary: RunSummary) -> String {
    var parts = ["\(summary.frames.captured) captured"] + summary.frames.fates
    for (count, word) in [
      (summary.lostBeforeCapture, "lost before capture"),
      (summary.payloadMissing, "without pixels"),
    ] where count > 0 { parts.append("\(count) \(word)") }
    // In every-frame mode stages have no costs.
    let costs = summary.mode == "every-frame" ? "" : "\n  costs     \(Self.costs(summary.costs))"
    let name = visible(
      (summary.session.map { "\($0)/" } ?? "") + (summary.caseName ?? summary.pipeline))
    return """
      \(name)  \(summary.mode)
        \(parts.joined(separator: ", "))\(found(summary))
        decisions \(summary.decisionDigest)
        results   \(summary.resultDigest)\(costs)\(lost(summary))\(live(summary))\(cache(summary))\(heat(summary))\(pools(summary))\(waits(summary.waits))\(screens(summary))
        \(Wording.speed(summary.framesPerSecond))
      """
  }

  /// The error of a run in which frames failed and no frame reached a sink; `nil` for any other
  /// run. Its results are empty, which must not look like a scene without detections.
  static func nothingDelivered(_ summary: RunSummary) -> String? {
    let frames = summary.frames
    guard frames.failed > 0, frames.delivered == 0,
      (summary.found ?? []).allSatisfy({ $0.delivered == 0 })
    else { return nil }
    let first = summary.failures?.first.map { "\n  The first failure: \($0)" } ?? ""
    return "error: no frame reached a sink: \(frames.failed) of "
      + "\(counted(frames.captured, "frame")) failed [replay.run.nothingDelivered]" + first
  }

  /// `boxes     256 detections in 148 of 150 frames`.
  private static func found(_ summary: RunSummary) -> String {
    (summary.found ?? []).filter { $0.delivered > 0 }.map { found in
      let kinds = found.results.keys.sorted().map { kind in
        let count = found.results[kind] ?? 0
        // The kinds of results are plurals.
        let noun = count == 1 ? String(kind.dropLast()) : kind
        return "\(count) \(noun) in \(found.frames[kind] ?? 0)"
      }
      let name = visible(found.sink)
      // In line with the words below it, such as `decisions`.
      let gap = String(repeating: " ", count: max(1, 10 - name.count))
      let text = kinds.isEmpty ? "no result in any" : kinds.joined(separator: ", ")
      return "\n  \(name)\(gap)\(text) of \(counted(found.delivered, "frame"))"
    }.joined()
  }

  /// How closely the model follows the live run whose stage times it uses.
  private static func live(_ summary: RunSummary) -> String {
    summary.live.map { "\n  live      \($0)" } ?? ""
  }

  private static func cache(_ summary: RunSummary) -> String {
    summary.cache.map { "\n  cache     \(visible(ReportCache($0).text))" } ?? ""
  }

  /// `46.2 °C at most, at 95.3 s; nominal 60.0 s, fair 20.0 s, serious 15.3 s`.
  private static func heat(_ summary: RunSummary) -> String {
    guard let heat = summary.heat, let time = heat.hottestAtNanoseconds else { return "" }
    let states = ThermalState.allCases.filter { heat[$0] > 0 }
      .map { "\($0) \(seconds(heat[$0]))" }
    return
      "\n  heat      \(tenths(Int(divideToNearest(Int128(heat.hottestMillidegrees), by: 100)))) "
      + "°C at most, at \(seconds(time)); "
      + states.joined(separator: ", ")
  }

  /// `15.3 s`.
  private static func seconds(_ nanoseconds: Int64) -> String {
    tenths(Int((nanoseconds + 50_000_000) / 100_000_000)) + " s"
  }

  private static func tenths(_ value: Int) -> String { FixedPoint.text(value, digits: 1) }

  /// `back: 421 before capture, front: 2 before capture`; the headline counts one source only.
  private static func lost(_ summary: RunSummary) -> String {
    guard let lost = summary.lostBySource else { return "" }
    return "\n  lost      "
      + lost.keys.sorted().map { "\(visible($0)): \(lost[$0] ?? 0) before capture" }
      .joined(separator: ", ")
  }

  private static func pools(_ summary: RunSummary) -> String {
    (summary.pools ?? []).map { "\n  pool      \(pool($0))" }.joined()
  }

  /// `camera: 6 buffers at the end, 5 held at most, 0 of 298 requests stalled, 2 resizes`.
  static func pool(_ pool: PoolCounts) -> String {
    "\(visible(pool.pool)): \(counted(pool.size, "buffer")) at the end, \(pool.peak) held at most, "
      + "\(pool.stalls) of \(counted(pool.requests, "request")) stalled, "
      + counted(pool.resizes, "resize") + (pool.isBroken ? ", fixed by its breaker" : "")
  }

  /// `camera: 12 frames waited for a buffer, 8.3 ms on average, 33.3 ms at most; 2 lost`.
  ///
  /// - Returns: For each source a line break and its line.
  static func waits(_ counts: [WaitCounts]?) -> String {
    (counts ?? []).map { wait in
      let mean = wait.waited == 0 ? 0 : wait.nanoseconds / Int64(wait.waited)
      let times =
        wait.waited == 0
        ? "" : ", \(milliseconds(mean)) on average, \(milliseconds(wait.nanosecondsMax)) at most"
      return "\n  waits     \(visible(wait.source)): \(counted(wait.waited, "frame")) waited for a "
        + "buffer\(times); \(wait.lost) lost"
    }.joined()
  }

  private static func screens(_ summary: RunSummary) -> String {
    (summary.screens ?? []).map { screen in
      "\n  screen    \(visible(screen.sink)): \(screen.shown) shown, \(screen.repeats) repeated, "
        + "\(screen.unseen) never seen, \(milliseconds(screen.latencyMean)) after capture, "
        + "\(milliseconds(screen.latencyMax)) at most"
    }.joined()
  }

  /// `16.7 ms`.
  private static func milliseconds(_ nanoseconds: Int64) -> String {
    FixedPoint.milliseconds(nanoseconds, digits: 1) + " ms"
  }

  /// `93 % recorded, 7 % modelled (timings:1a2b3c4d)`. A share is 0 % only if its count is zero,
  /// and 100 % only if all costs belong to it.
  static func costs(_ costs: RunSummary.Costs) -> String {
    let total = costs.recorded + costs.modelled
    guard total > 0 else { return "none" }
    let nearest = (200 * costs.recorded + total) / (2 * total)
    let share =
      costs.modelled == 0 ? 100 : costs.recorded == 0 ? 0 : min(99, max(1, nearest))
    let source = costs.source.map { " (\($0))" } ?? ""
    return "\(share) % recorded, \(100 - share) % modelled\(source)"
  }
}

extension FrameLedger {
  /// `260 delivered`, `38 dropped (queue)`, `1 failed`.
  var fates: [String] {
    let others = [
      (throttled, "throttled"), (replaced, "replaced"), (failed, "failed"),
      (inFlight, "in flight"),
    ]
    return ["\(delivered) delivered"] + Self.drops(dropped)
      + others.filter { $0.0 > 0 }.map { "\($0) \($1)" }
  }

  /// `38 dropped (queue)`, by reason.
  static func drops(_ counts: [String: Int]) -> [String] {
    counts.keys.sorted().map { "\(counts[$0] ?? 0) dropped (\($0))" }
  }
}
