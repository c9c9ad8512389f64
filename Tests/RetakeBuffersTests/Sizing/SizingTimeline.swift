import RetakeBuffers

/// A pool's controller under a load that is given as a string: one hexadecimal digit per window is
/// the most buffers in use in it, as far as the pool has them. The result is the size after each
/// window in the same form.
struct SizingTimeline {
  static let window: Int64 = 500_000_000

  var controller: PoolController
  private(set) var now: Int64 = 0
  private(set) var steps: [(time: Int64, step: PoolController.Step)] = []

  /// By default it predicts that the load stays the same, so that rules can be read off.
  init(size: Int = 8, alphaPermille: Int = 1_000, _ change: (inout PoolSizing) -> Void = { _ in }) {
    var sizing = PoolSizing()
    sizing.alphaPermille = alphaPermille
    change(&sizing)
    controller = PoolController(sizing, size: size)
  }

  mutating func play(_ peaks: String) -> String {
    peaks.map { digit in
      window(peak: digit.hexDigitValue ?? 0)
      return String(controller.size, radix: 16)
    }.joined()
  }

  /// A window: `peak` buffers are leased and returned, and further requests find no free buffer.
  mutating func window(peak: Int = 0, requests: Int = 0, stalls: Int = 0) {
    let held = min(peak, controller.size)
    for inUse in 1..<max(1, held + 1) { controller.leased(inUse: inUse) }
    for _ in 0..<max(0, requests - held - stalls) { controller.leased(inUse: held) }
    for _ in 0..<stalls { controller.stalled() }
    for _ in 0..<held { controller.returned() }
    now += Self.window
    note(controller.endWindow(inUse: 0, at: now))
  }

  /// An event in the current window, a number of milliseconds after its start.
  mutating func press(
    _ milliseconds: Int64, _ press: (inout PoolController, Int64) -> PoolController.Step
  ) {
    let time = now + milliseconds * 1_000_000
    note(press(&controller, time), at: time)
  }

  private mutating func note(_ step: PoolController.Step, at time: Int64? = nil) {
    if !step.isEmpty { steps.append((time ?? now, step)) }
  }

  /// Each change of size: the time in milliseconds, the sizes, and the reason.
  var resizes: [String] {
    steps.compactMap { time, step in
      step.resize.map { "\(time / 1_000_000) \($0.from)→\($0.to) \($0.reason.rawValue)" }
    }
  }
}
