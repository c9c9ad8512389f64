import FlyingFox
import FlyingSocks
import Foundation
import RetakeBuffers
import RetakeRuntime

/// Listens on 127.0.0.1, and starts again after an error due to a lack of resources for another
/// connection.
final class ReportListener: Sendable {
  /// The pause before listening again.
  private static let pauseNanoseconds: Int64 = 50_000_000

  /// A user waits for the responses, so they precede other work of the process. On Linux each
  /// priority has its own threads, so work that blocks all threads of another priority does not
  /// block a response.
  private static let priority = TaskPriority.high

  private struct State: Sendable {
    var server: PageServer?
    var isStopped = false
    /// The port, or the error of the listener; `nil` until either is known.
    var outcome: Result<Int, any Error>?
  }

  private let handler: SiteHandler
  private let silenceSeconds: Double
  private let state = Locked(State())
  private let begun = ThreadCondition()
  private let ended = ThreadCondition()

  init(_ handler: SiteHandler, silenceSeconds: Double) {
    (self.handler, self.silenceSeconds) = (handler, silenceSeconds)
  }

  /// Returns the port as soon as connections are accepted. 0 requests any free port.
  func listen(port: Int) throws -> Int {
    Task(priority: Self.priority) { [self] in
      await run(port: port)
      ended.signal()
    }
    begun.wait()
    switch state.withLock({ $0.outcome }) {
    case .success(let port): return port
    case .failure(let error): throw Self.error(error, port: port)
    case nil: throw ServeError.cannotListen(port: port, cause: "it took too long")
    }
  }

  /// Returns when the listener has ended.
  func wait() { ended.wait() }

  func stop() {
    // `run` looks at the flag under the same lock, so a server that is made meanwhile never begins.
    let server = state.withLock { state in
      state.isStopped = true
      return state.server
    }
    server?.stop()
  }

  private func run(port wanted: Int) async {
    var port = wanted
    // Ends: with `stop`, or the first error that is not a lack of resources.
    while true {
      do {
        let server = try server(port: port)
        let isStopped = state.withLock { state in
          state.server = server
          state.outcome = state.outcome ?? server.port.map { .success($0) }
          return state.isStopped
        }
        begun.signal()
        guard !isStopped else { return server.stop() }
        try await server.run()
        return
      } catch {
        // The first outcome stays: `listen` has returned with it.
        state.withLock { $0.outcome = $0.outcome ?? .failure(error) }
        begun.signal()
        guard Self.isShortage(error), let known = try? state.withLock({ $0.outcome })?.get()
        else { return }
        // The same port again, even if any free one was wanted: open pages have it in their
        // address.
        port = known
        await Self.pause()
      }
    }
  }

  /// Waits on a separate thread, so that the threads for responses are not blocked.
  private static func pause() async {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let clock = WallClock()
        clock.wait(
          untilNanoseconds: clock.monotonicNanoseconds + pauseNanoseconds, or: ThreadCondition())
        continuation.resume()
      }
    }
  }

  private func server(port: Int) throws -> PageServer {
    // `ReportServer` has checked the port, on which UInt16 would trap.
    try PageServer(
      port: UInt16(port),
      pool: SilenceLimit(
        HTTPServer.defaultPool(), seconds: silenceSeconds, peers: handler.peers),
      handler: handler)
  }

  /// Whether the system had no resources for a connection, or a connection ended before it was
  /// accepted.
  private static func isShortage(_ error: any Error) -> Bool {
    guard case .failed(_, let number, _)? = error as? SocketError else { return false }
    // These are about one connection, or pass (man 2 accept); the listening socket itself is not
    // broken.
    return [EMFILE, ENFILE, ENOBUFS, ENOMEM, ECONNABORTED, EINTR].contains(number)
  }

  private static func error(_ error: any Error, port: Int) -> ServeError {
    guard case .failed(_, let number, let message)? = error as? SocketError else {
      return .cannotListen(port: port, cause: error.systemText)
    }
    return number == EADDRINUSE ? .portTaken(port) : .cannotListen(port: port, cause: message)
  }
}
