import RetakeBuffers

/// The cost of leasing from a live pool, and of reporting frames to its controller.
struct PoolSection {
  let scale: Scale

  private final class Block: Sendable { let samples = 1_024 }

  func run() throws -> SectionReport {
    let leases = scale.count(2_000_000, tiny: 1_000)
    let frames = scale.count(1_000_000, tiny: 1_000)
    let contest = try Contest(
      rounds: scale.rounds,
      [{ try Self.lease(leases) }, { Self.control(frames) }])
    var report = SectionReport(
      name: "pool",
      title: "A pool: \(leases) leases taken and given back by one thread; a controller told of "
        + "\(frames) frames at 30 a second", hash: contest.hash)
    report.figures = [
      Figure(
        name: "pool.lease", value: 1e6 * contest.bestSeconds[0] / Double(leases),
        unit: "µs for a lease and its end"),
      Figure(
        name: "pool.controller", value: 1e6 * contest.bestSeconds[1] / Double(frames),
        unit: "µs a frame"),
    ]
    return report
  }

  private static func lease(_ count: Int) throws -> String {
    let pool = BufferPool("audio", sizing: PoolSizing()) { Block() }
    for _ in 0..<count { try pool.lease(for: "filter")?.end() }
    return "\(pool.report.stages)"
  }

  private static func control(_ frames: Int) -> String {
    var controller = PoolController(PoolSizing(), size: 8)
    var resizes = 0
    for frame in 0..<frames {
      let inUse = 1 + frame / 900 % 9
      if inUse <= controller.size { controller.leased(inUse: inUse) } else { controller.stalled() }
      controller.returned()
      guard frame % 15 == 14 else { continue }
      let now = Int64(frame) * 33_333_333
      if controller.endWindow(inUse: 0, at: now).resize != nil { resizes += 1 }
      if controller.isAtRest(inUse: 0, at: now) { resizes += 1 }
    }
    return "\(controller.size) \(resizes)"
  }
}
