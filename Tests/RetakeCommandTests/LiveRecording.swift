import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Synchronization
import Testing

/// A `retake record` in a separate process, and the commits that it acknowledged.
final class LiveRecording: Sendable {
  struct Commit: Sendable {
    var line: RecordingProgress
    var receivedNanoseconds: Int64
  }

  static let binary = productsFolder.appending(path: "retake").path

  let path: String
  private let process: ChildProcess
  private let state = Mutex(State())
  private let drained = DispatchSemaphore(value: 0)
  /// Signalled by each commit, and by the end of the output.
  private let heard = DispatchSemaphore(value: 0)

  private struct State {
    var rest: [UInt8] = []
    var commits: [Commit] = []
    var isDrained = false
    var endedNanoseconds: Int64 = 0
  }

  convenience init(name: String, into folder: URL, size: String = "320x240") throws {
    try self.init(
      ["synthetic:figures", "--size", size, "--frames", "100000", "--probe", "warn"], name: name,
      into: folder)
  }

  /// - Parameters:
  ///   - words: The input and options of `retake record`.
  ///   - wrapper: Another command that runs it, such as strace with its arguments.
  init(
    _ words: [String], name: String, into folder: URL, under wrapper: [String] = [],
    environment: [String: String] = [:]
  ) throws {
    path = folder.appending(path: name).path
    let output = try ChildPipe()
    var request = ChildProcess.Request(
      "/usr/bin/env",
      wrapper + [Self.binary, "record"] + words
        + ["--name", name, "--into", folder.path, "--json"])
    request.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    request.output = .pipe(output)
    process = try ChildProcess(request)
    output.readToEnd { [weak self] bytes in self?.take(bytes) }
  }

  deinit { process.sendToGroup(SIGKILL) }

  private static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  private func take(_ bytes: [UInt8]?) {
    guard let bytes else {
      state.withLock { $0.isDrained = true }
      drained.signal()
      heard.signal()
      return
    }
    let received = Self.now
    let count = state.withLock { state in
      let before = state.commits.count
      state.rest += bytes
      while let end = state.rest.firstIndex(of: UInt8(ascii: "\n")) {
        let text = Data(state.rest[..<end])
        state.rest.removeSubrange(...end)
        guard let line = try? JSONDecoder().decode(RecordingProgress.self, from: text) else {
          continue
        }
        state.commits.append(Commit(line: line, receivedNanoseconds: received))
      }
      return state.commits.count - before
    }
    for _ in 0..<count { heard.signal() }
  }

  var commits: [Commit] { state.withLock { $0.commits } }
  /// The number of events in the last commit.
  var eventCount: Int { commits.last?.line.events ?? 0 }
  /// When the signal was sent.
  var endedNanoseconds: Int64 { state.withLock { $0.endedNanoseconds } }

  /// Lets it record for a given time, or until it ends by itself.
  func wait(milliseconds: Int) {
    let ended = DispatchSemaphore(value: 0)
    process.onEnd { _ in ended.signal() }
    _ = ended.wait(timeout: .now() + .milliseconds(milliseconds))
  }

  /// Waits for the next commit, the end of the recording, or the time limit.
  func waitForCommit() { _ = waitToHear() }

  /// Waits for a commit that meets a condition, the end of the recording, or the time limit.
  ///
  /// - Returns: Whether there was one.
  func waitForCommit(_ isWanted: (RecordingProgress) -> Bool) -> Bool {
    wait { commits.contains { isWanted($0.line) } }
  }

  /// Waits until a condition holds, which is checked now and after each commit, or until the
  /// recording has ended.
  ///
  /// - Returns: Whether the condition held.
  func wait(until holds: () -> Bool) -> Bool {
    // Ends: with the recording, which commits three times a second.
    while !holds() { guard waitToHear() else { return holds() } }
    return true
  }

  /// - Returns: `false` if there will be no more signals.
  private func waitToHear() -> Bool {
    // The end is signalled once, and an earlier wait may have received it.
    guard !state.withLock({ $0.isDrained }) else { return false }
    let limit = DispatchTime.now() + .seconds(ChildProcess.secondsMax)
    return heard.wait(timeout: limit) == .success && !state.withLock { $0.isDrained }
  }

  /// TCP connections that the process has open.
  ///
  /// The system's table is not a consistent snapshot: if other connections are closed while it is
  /// read, a line can be missed. So it is read several times, and the highest count is used.
  var connectionCount: Int { (0..<5).map { _ in connectionsInTable }.max() ?? 0 }

  private var connectionsInTable: Int {
    let folder = "/proc/\(process.id)/fd"
    let manager = FileManager.default
    // The system reports a size of zero for such files.
    let table = systemText("/proc/net/tcp")
    let all = Set(
      (table ?? "").split(separator: "\n").compactMap { line in
        let words = line.split(separator: " ")
        return words.count > 9 ? "socket:[\(words[9])]" : nil
      })
    let files = (try? manager.contentsOfDirectory(atPath: folder)) ?? []
    return files.count { file in
      let target = try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(file)")
      return target.map(all.contains) ?? false
    }
  }

  /// Stops all threads of the process until `body` has returned.
  func paused(_ body: () throws -> Void) throws {
    process.send(SIGSTOP)
    defer { process.send(SIGCONT) }
    var state = siginfo_t()
    try #require(waitid(P_PID, id_t(process.id), &state, WSTOPPED) == 0)
    try body()
  }

  /// Sends a signal that does not end it.
  func tell(_ signal: Int32) { process.send(signal) }

  /// Sends a signal, waits for the end of the process, and reads the rest of its output. A process
  /// that does not end is killed.
  func send(_ signal: Int32) {
    let now = Self.now
    state.withLock { $0.endedNanoseconds = now }
    process.send(signal)
    if process.wait() == nil { process.endNow() }
    drained.wait()
  }
}
