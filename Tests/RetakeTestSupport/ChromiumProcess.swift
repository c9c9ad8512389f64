import Foundation
import RetakeProcess
import Synchronization

/// The Chromium of this process, which the windows of all tests share, over a socket.
///
/// Tests with browsers take turns, so that one window at a time reads its messages. A browser that
/// has ended is replaced when the next window opens.
final class ChromiumProcess: Sendable {
  private struct State {
    var unread: [UInt8] = []
    var lastID = 0
  }

  private static let current = Mutex<ChromiumProcess?>(nil)
  private static let endsAtExit: Void = {
    _ = atexit { ChromiumProcess.current.withLock { $0 }?.end() }
  }()

  private let folder: TemporaryFolder
  private let process: ChildProcess
  private let socket: ChildSocket
  private let state = Mutex(State())

  /// The browser that runs, or a new one.
  static func running() throws -> ChromiumProcess {
    try current.withLock { current in
      if let current, current.process.end == nil { return current }
      let browser = try ChromiumProcess()
      // After the first folder, so that the browser has ended when its folder is removed.
      endsAtExit
      current = browser
      return browser
    }
  }

  private init() throws {
    folder = try TemporaryFolder("retake-chromium")
    socket = try ChildSocket()
    var request = ChildProcess.Request(
      try executable(Chromium.command ?? "chromium"),
      [
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
        "--no-first-run", "--disable-background-networking", "--disable-component-update",
        "--hide-scrollbars", "--force-device-scale-factor=1", "--remote-debugging-pipe",
        "--user-data-dir=\(folder.file("profile").path)", "about:blank",
      ])
    // The browser reads its descriptor 3, and writes to 4.
    request.descriptors = [socket.childEnd, socket.childEnd].compactMap { $0 }
    process = try ChildProcess(request)
    socket.closeChildEnd()
  }

  /// Returns when the browser has ended.
  func end() {
    _ = try? send("Browser.close")
    if process.wait(seconds: 60) == nil { process.endNow() }
  }

  /// Sends a request, and returns the number of its answer.
  func send(
    _ method: String, _ parameters: [String: Any] = [:], session: String? = nil
  ) throws -> Int {
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    var request: [String: Any] = ["id": id, "method": method, "params": parameters]
    request["sessionId"] = session
    let bytes = [UInt8](try JSONSerialization.data(withJSONObject: request)) + [0]
    var sent = 0
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    while sent < bytes.count {
      switch socket.push([UInt8](bytes[sent...])) {
      case .moved(let count): sent += count
      case .notNow: try wait(.toPush, until: limit)
      case .closed: throw Chromium.Failed(description: "the browser has gone")
      }
    }
    return id
  }

  /// The next answer or event.
  func message() throws -> [String: Any] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    while true {
      let text = state.withLock { state -> Data? in
        guard let end = state.unread.firstIndex(of: 0) else { return nil }
        defer { state.unread.removeFirst(end + 1) }
        return Data(state.unread[..<end])
      }
      if let text { return try JSONSerialization.jsonObject(with: text) as? [String: Any] ?? [:] }
      switch socket.pull(into: &buffer) {
      case .moved(let count): state.withLock { $0.unread += buffer[..<count] }
      case .notNow: try wait(.toPull, until: limit)
      case .closed: throw Chromium.Failed(description: "the browser has gone")
      }
    }
  }

  private func wait(
    _ direction: ChildSocket.Direction, until limit: ContinuousClock.Instant
  ) throws {
    guard ContinuousClock.now < limit else {
      throw Chromium.Failed(description: "the browser does not answer")
    }
    socket.wait(direction, milliseconds: 60_000)
  }
}
