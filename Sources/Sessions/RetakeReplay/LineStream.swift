package import Foundation
import RetakeBuffers
import RetakeRuntime

/// Lines for a reader that may be slow, or may leave. A thread that adds a line never waits for the
/// reader. A thread of the stream writes each line as soon as the line before it is written.
///
/// If a line does not fit, the oldest waiting lines are dropped and counted.
package final class LineStream: Sendable {
  /// Bytes of lines that may wait: minutes of lines for most pipelines.
  package static let waitingBytesMax = 4 << 20
  /// How long the end of a stream waits for its reader before `isSlow` is called.
  private static let patienceNanoseconds: Int64 = 2_000_000_000

  private let writing: LineWriting
  private let thread: NamedThread
  private let ended = ThreadCondition()
  private let hasEnded = Locked(false)

  /// - Parameters:
  ///   - lost: Called once, on the thread that writes, when no more lines can be written: the
  ///     reader has left, or the disk is full.
  /// - Throws: `RuntimeError.noThread`.
  package init(
    _ file: WholeFile, waitingBytesMax: Int = LineStream.waitingBytesMax,
    lost: @escaping @Sendable (ReplayError) -> Void = { _ in }
  ) throws {
    let writing = LineWriting(file, bytesMax: waitingBytesMax, lost: lost)
    self.writing = writing
    thread = try NamedThread("retake-lines") { [ended, hasEnded] in
      // A write to a reader that has left would end the process with SIGPIPE (`man 7 pipe`).
      // Blocked, it is an error of this output alone.
      NamedThread.blockPipeSignal()
      writing.run()
      hasEnded.withLock { $0 = true }
      ended.signal()
    }
  }

  /// Writes to an open stream, which stays open. A reader that leaves ends only the lines.
  ///
  /// - Parameter name: The name of the stream in messages.
  /// - Throws: `RuntimeError.noThread`.
  package convenience init(
    to stream: FileHandle, name: String, waitingBytesMax: Int = LineStream.waitingBytesMax,
    lost: @escaping @Sendable (ReplayError) -> Void = { _ in }
  ) throws {
    let file = WholeFile(stream: stream, name: name, output: .results, endsWithReader: false)
    try self.init(file, waitingBytesMax: waitingBytesMax, lost: lost)
  }

  /// Hands over a line with its line end; never waits. Any thread may call this.
  package func add(_ line: String) { writing.add(line) }

  /// The numbers of written and dropped lines so far.
  package var counts: LineCounts { writing.counts }

  /// Whether no more lines can be written.
  package var isLost: Bool { writing.isLost }

  /// Waits until the reader has read the waiting lines, and finishes the file. It is not an error
  /// if the reader has left. Call this once, after the last `add`.
  ///
  /// - Parameter isSlow: Called once if the reader has not read all lines after
  ///   `patienceNanoseconds`.
  /// - Throws: `ReplayError.unwritable`.
  package func finish(isSlow: () -> Void = {}) throws -> LineCounts {
    writing.end()
    WallClock().wait(nanoseconds: Self.patienceNanoseconds, or: ended)
    if !hasEnded.withLock({ $0 }) { isSlow() }
    thread.join()
    try writing.finish()
    return writing.counts
  }

  /// Stops writing and removes the file. Call this once, instead of `finish`.
  package func discard() {
    // Before the end is announced, because the thread ends only when no line waits.
    writing.abandon()
    writing.end()
    thread.join()
    writing.discard()
  }
}

/// Counts of the lines of one stream: each line was written or dropped.
package struct LineCounts: Hashable, Sendable, Codable {
  package var written = 0
  /// Lines that exceeded the bound of waiting lines, or had no reader.
  package var dropped = 0
}

/// The file of a stream, and the work of its thread.
private final class LineWriting: @unchecked Sendable {
  // @unchecked: only the stream's thread uses the file, until the thread that ends the stream has
  // joined it.
  private struct State: Sendable {
    var backlog: LineBacklog
    var written = 0
    var isEnding = false
    var isLost = false
  }

  private enum Step: Sendable {
    case write(String)
    case wait
    case end
  }

  private let file: WholeFile
  private let lost: @Sendable (ReplayError) -> Void
  private let state: Locked<State>
  private let arrived = ThreadCondition()

  init(_ file: WholeFile, bytesMax: Int, lost: @escaping @Sendable (ReplayError) -> Void) {
    self.file = file
    self.lost = lost
    state = Locked(State(backlog: LineBacklog(bytesMax: bytesMax)))
  }

  var counts: LineCounts {
    state.withLock { LineCounts(written: $0.written, dropped: $0.backlog.dropped) }
  }

  var isLost: Bool { state.withLock { $0.isLost } }

  func add(_ line: String) {
    state.withLock { $0.backlog.add(line) }
    arrived.signal()
  }

  func abandon() { state.withLock { $0.backlog.abandon() } }

  func end() {
    state.withLock { $0.isEnding = true }
    arrived.signal()
  }

  /// Runs until the stream has ended and no line waits.
  func run() {
    while true {
      switch state.withLock({ Self.next(&$0) }) {
      case .write(let line): write(line)
      case .wait: arrived.wait()
      case .end: return
      }
    }
  }

  private static func next(_ state: inout State) -> Step {
    if let line = state.backlog.take() { return .write(line) }
    return state.isEnding ? .end : .wait
  }

  private func write(_ line: String) {
    // Flushed line by line: a reader follows the run, and must not wait until a buffer is full.
    file.append(line.utf8)
    file.flush()
    if let failure = file.loss {
      state.withLock {
        $0.isLost = true
        // In one step: a line that is added later must not wait for a thread that cannot write it.
        $0.backlog.abandon()
        $0.backlog.countDropped()
      }
      // Outside of the lock, because the callback may ask this stream for its counts.
      lost(failure)
    } else {
      state.withLock { $0.written += 1 }
    }
  }

  func finish() throws {
    do {
      try file.finish()
    } catch let error as ReplayError {
      // A reader may leave early; only an error of the disk is an error here.
      guard case .readerGone = error else {
        file.discard()
        throw error
      }
    }
  }

  func discard() { file.discard() }
}

/// The waiting lines, oldest first, and the number of dropped lines.
struct LineBacklog: Sendable {
  /// The bound for all waiting lines. The newest line is kept even if it is longer.
  private let bytesMax: Int
  private var lines: [String] = []
  /// The index of the oldest line; lines before it were removed.
  private var first = 0
  private var bytes = 0
  private var isAbandoned = false
  private(set) var dropped = 0

  init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  mutating func add(_ line: String) {
    guard !isAbandoned else { return dropped += 1 }
    lines.append(line)
    bytes += line.utf8.count
    // Ends: the newest line stays.
    while bytes > bytesMax, lines.count - first > 1 {
      _ = take()
      dropped += 1
    }
  }

  /// Removes and returns the oldest line.
  mutating func take() -> String? {
    guard first < lines.count else { return nil }
    let line = lines[first]
    // Releases the line's memory now; its place is removed later.
    lines[first] = ""
    first += 1
    bytes -= line.utf8.count
    // Not at each call, because removing from the front moves all later lines.
    if first * 2 >= lines.count {
      lines.removeFirst(first)
      first = 0
    }
    return line
  }

  /// Ends the stream: waiting lines and later lines are dropped.
  mutating func abandon() {
    isAbandoned = true
    dropped += lines.count - first
    lines = []
    (first, bytes) = (0, 0)
  }

  /// Counts a line that was removed but could not be written.
  mutating func countDropped() { dropped += 1 }
}
