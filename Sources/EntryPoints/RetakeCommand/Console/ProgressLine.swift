import Foundation
import Retake

/// One line on a terminal that shows the progress of long work, and the remaining time.
final class ProgressLine: Sendable {
  private struct State: Sendable {
    var drawnNanoseconds: Int64 = 0
    var isDrawn = false
    /// Draws the line on its own thread, until `finish`; `nil` if the caller's threads may wait for
    /// the terminal.
    var stream: LineStream?
  }

  /// The interval between two updates.
  private static let intervalNanoseconds: Int64 = 100_000_000

  private let clock = WallClock()
  private let start: Int64
  private let state = Locked(State())
  private let isShown: Bool
  private let terminal: FileHandle

  /// - Parameter waits: Whether `show` and `update` may wait for a terminal that is paused. If not,
  ///   only the newest line waits for it. Without a thread for that, they may wait.
  convenience init(isQuiet: Bool = false, waits: Bool = true) {
    self.init(
      on: ProcessContext.current.errors, isShown: Console.isInteractive && !isQuiet, waits: waits)
  }

  init(on terminal: FileHandle, isShown: Bool, waits: Bool) {
    (self.terminal, self.isShown) = (terminal, isShown)
    start = clock.monotonicNanoseconds
    guard isShown, !waits else { return }
    // The kind of output appears in no message: a terminal that has gone away must not end the work.
    // The stream keeps the newest line in any case, and older lines need not wait.
    let stream = try? LineStream(to: terminal, name: ReplayError.standardError, waitingBytesMax: 1)
    state.withLock { $0.stream = stream }
  }

  /// Nanoseconds since this line was made.
  var nanoseconds: Int64 { clock.monotonicNanoseconds - start }

  func update(_ label: String, done: Int, total: Int?) {
    show(text(label, done: done, total: total, nanoseconds: nanoseconds))
  }

  /// Draws a line, unless the previous line was drawn too recently.
  func show(_ text: @autoclosure () -> String) {
    guard isShown else { return }
    let now = clock.monotonicNanoseconds
    let isDue = state.withLock { state in
      guard now - state.drawnNanoseconds >= Self.intervalNanoseconds else { return false }
      state.drawnNanoseconds = now
      state.isDrawn = true
      return true
    }
    // Outside of the lock, because a slow terminal can make a write wait.
    if isDue { draw(text()) }
  }

  /// Removes the line. It waits for a terminal that is paused.
  func finish() {
    if state.withLock({ $0.isDrawn }) { draw("") }
    _ = try? state.withLock { $0.stream.take() }?.finish()
  }

  /// Removes the line, at the beginning of a message that another thread may print while the line
  /// is drawn. Both are then one write. The next update draws the line below the message.
  var eraser: String { isShown ? Self.erase : "" }

  private static let erase = "\r\u{1B}[2K"

  private func text(_ label: String, done: Int, total: Int?, nanoseconds: Int64) -> String {
    let seconds = Double(nanoseconds) / 1e9
    let rate = seconds > 0 ? Double(done) / seconds : 0
    guard let total, total > 0 else { return "\(label)  \(done)  \(Int(rate))/s" }
    let percent = min(100, done * 100 / total)
    let left = rate > 0 ? Int(Double(max(0, total - done)) / rate) : 0
    return "\(label)  \(percent) %  \(done) of \(total)  \(Int(rate))/s  \(left) s left"
  }

  private func draw(_ text: String) {
    let line = Self.erase + visible(text)
    guard let stream = state.withLock({ $0.stream }) else {
      // A terminal that has gone away must not end the work.
      try? terminal.write(contentsOf: Data(line.utf8))
      return
    }
    stream.add(line)
  }
}
