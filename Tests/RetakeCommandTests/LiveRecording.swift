import Foundation
import Retake
import RetakeTestSupport
import Synchronization

/// A `retake record` in a process of its own, and the commits that it acknowledged.
final class LiveRecording: Sendable {
  struct Commit: Sendable {
    var line: RecordingProgress
    var receivedNanoseconds: Int64
  }

  /// A child that inherits another one's pipe keeps it open: they start one after another.
  private static let starting = Mutex(())
  static let binary = productsFolder.appending(path: "retake").path

  let path: String
  private let process: Process
  private let state = Mutex(State())
  private let ended = DispatchSemaphore(value: 0)
  private let drained = DispatchSemaphore(value: 0)
  private let committed = DispatchSemaphore(value: 0)

  private struct State {
    var rest: [UInt8] = []
    var commits: [Commit] = []
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
    let output = Self.starting.withLock { _ in Pipe() }
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      wrapper + [Self.binary, "record"] + words
      + ["--name", name, "--into", folder.path, "--json"]
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.terminationHandler = { [ended] _ in ended.signal() }
    output.fileHandleForReading.readabilityHandler = { [weak self] handle in
      let bytes = handle.availableData
      guard let self else { return }
      guard !bytes.isEmpty else {
        handle.readabilityHandler = nil
        self.drained.signal()
        return
      }
      self.take(bytes)
    }
    try Self.starting.withLock { _ in try process.run() }
  }

  private static var now: Int64 { Int64(DispatchTime.now().uptimeNanoseconds) }

  private func take(_ bytes: Data) {
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
    for _ in 0..<count { committed.signal() }
  }

  var commits: [Commit] { state.withLock { $0.commits } }
  /// When the signal was sent.
  var endedNanoseconds: Int64 { state.withLock { $0.endedNanoseconds } }

  /// Lets it record for so long, or until it ends by itself.
  func wait(milliseconds: Int) {
    if ended.wait(timeout: .now() + .milliseconds(milliseconds)) == .success { ended.signal() }
  }

  /// Until the next commit, or until it is clear that none comes.
  func waitForCommit() {
    _ = committed.wait(timeout: .now() + .seconds(20))
  }

  /// Until a commit says what is waited for, or until it is clear that none comes.
  ///
  /// - Returns: whether it came.
  func waitForCommit(_ isWanted: (RecordingProgress) -> Bool) -> Bool {
    // Bounded: each wait has a limit of its own, and a recording commits three times a second.
    for _ in 0..<Self.commitsMax {
      if commits.contains(where: { isWanted($0.line) }) { return true }
      guard committed.wait(timeout: .now() + .seconds(20)) == .success else { return false }
    }
    return false
  }

  private static let commitsMax = 2_000

  /// Waits for its own end.
  ///
  /// - Returns: the exit status, or nil when it had to be killed.
  func waitForEnd(seconds: Int = 60) -> Int32? {
    let isOver = ended.wait(timeout: .now() + .seconds(seconds)) == .success
    if !isOver {
      kill(process.processIdentifier, SIGKILL)
      ended.wait()
    }
    drained.wait()
    return isOver ? process.terminationStatus : nil
  }

  /// Connections over TCP that the process has open.
  ///
  /// The system's table is no picture of one moment: where others close theirs while it is read, a
  /// line can be passed over. So it is read a few times, and the most counts.
  var connectionCount: Int { (0..<5).map { _ in connectionsInTable }.max() ?? 0 }

  private var connectionsInTable: Int {
    let folder = "/proc/\(process.processIdentifier)/fd"
    let manager = FileManager.default
    // The system says of such files that they are empty.
    let table = try? String(contentsOfFile: "/proc/net/tcp", encoding: .utf8)
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

  /// Sends a signal that does not end it.
  func tell(_ signal: Int32) {
    kill(process.processIdentifier, signal)
  }

  /// Sends a signal, waits for the process's end, and reads what it still said. One that does not
  /// end is killed.
  func send(_ signal: Int32) {
    let now = Self.now
    state.withLock { $0.endedNanoseconds = now }
    kill(process.processIdentifier, signal)
    if ended.wait(timeout: .now() + .seconds(20)) == .timedOut {
      kill(process.processIdentifier, SIGKILL)
      ended.wait()
    }
    drained.wait()
  }
}
