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

  init(name: String, into folder: URL, size: String = "320x240") throws {
    path = folder.appending(path: name).path
    let output = Pipe()
    process = Process()
    process.executableURL = URL(filePath: Self.binary)
    process.arguments = [
      "record", "synthetic:figures", "--name", name, "--into", folder.path, "--size", size,
      "--frames", "100000", "--probe", "warn", "--json",
    ]
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
    try process.run()
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

  /// Sends a signal, waits for the process's end, and reads what it still said.
  func send(_ signal: Int32) {
    let now = Self.now
    state.withLock { $0.endedNanoseconds = now }
    kill(process.processIdentifier, signal)
    ended.wait()
    drained.wait()
  }
}
