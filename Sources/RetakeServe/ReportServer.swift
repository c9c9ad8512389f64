import FlyingFox
import FlyingSocks
import Foundation
import Retake

/// A project's reports, runs and sessions as pages, on this machine alone.
///
/// ```swift
/// let server = try ReportServer(project: project)
/// print(server.address)
/// server.wait()
/// ```
public final class ReportServer: Sendable {
  public struct Options: Sendable {
    /// 0 is any free port.
    public var port = 0
    /// The folder of the goldens; the project's if `nil`.
    public var goldens: String?
    /// Where pending goldens are, if not beside the goldens.
    public var pendingFolder: String?
    /// Nothing is accepted then.
    public var isCI = false
    /// After so many seconds of silence a connection is closed.
    public var silenceSeconds = SilenceLimit.secondsStandard

    public init() {}
  }

  /// Seconds that an answer may take.
  private static let answerSecondsMax = 60.0
  /// Seconds that it may take to listen.
  private static let startSecondsMax = 30.0

  /// Somebody waits for the answers: they come before whatever else the process has to do. On Linux
  /// each priority has threads of its own, so work that holds up all others holds up no answer.
  private static let priority = TaskPriority.high

  /// Where a browser finds the first page, with the token; keep it to yourself.
  public let address: String
  public let port: Int
  private let server: HTTPServer
  private let ended: Bell

  /// Listens on 127.0.0.1; requests are answered from now on.
  ///
  /// This and `wait` hold up the calling thread, which must not be one of Swift's concurrency pool:
  /// the server works there.
  /// - Throws: `ServeError.portTaken`, `cannotListen`.
  public init(project: Project, options: Options = Options()) throws(ServeError) {
    guard (0...65_535).contains(options.port) else {
      throw .cannotListen(port: options.port, cause: "ports are 0 to 65535")
    }
    let token = RequestGuard.makeToken()
    let doorkeeper = Locked(RequestGuard(token: token, port: options.port))
    let handler = SiteHandler(
      site: ServedSite(project: project, options: options), doorkeeper: doorkeeper)
    let ended = Bell()
    let (server, port) = try Self.listen(options, handler, ended: ended)
    doorkeeper.withLock { $0 = RequestGuard(token: token, port: port) }
    self.server = server
    self.port = port
    self.ended = ended
    address = RequestGuard(token: token, port: port).address
  }

  /// Returns when the server has ended.
  public func wait() { ended.wait() }

  /// Ends the server, and with it `wait`.
  public func stop() {
    let server = server
    Task(priority: Self.priority) { await server.stop(timeout: 1) }
  }

  private static func listen(
    _ options: Options, _ handler: SiteHandler, ended: Bell
  ) throws(ServeError) -> (HTTPServer, Int) {
    let loopback: sockaddr_in
    do {
      loopback = try .inet(ip4: "127.0.0.1", port: UInt16(options.port))
    } catch {
      throw .cannotListen(port: options.port, cause: error.localizedDescription)
    }
    let configuration = HTTPServer.Configuration(
      address: loopback, timeout: answerSecondsMax,
      sharedRequestReplaySize: ServedSite.bodyBytesMax,
      pool: SilenceLimit(HTTPServer.defaultPool(), seconds: options.silenceSeconds),
      logger: DisabledLogger.disabled)
    let server = HTTPServer(config: configuration, handler: handler)
    let begun = Bell()
    let outcome = Locked<Result<Int, any Error>?>(nil)
    Task(priority: priority) {
      do {
        try await server.run()
      } catch {
        outcome.withLock { $0 = $0 ?? .failure(error) }
      }
      begun.ring()
      ended.ring()
    }
    Task(priority: priority) {
      try? await server.waitUntilListening(timeout: startSecondsMax)
      let port = await server.port
      outcome.withLock { $0 = $0 ?? port.map { .success($0) } }
      begun.ring()
    }
    begun.wait()
    switch outcome.withLock({ $0 }) {
    case .success(let port): return (server, port)
    case .failure(let error): throw ServeError(error, port: options.port)
    case nil: throw .cannotListen(port: options.port, cause: "it took too long")
    }
  }
}

extension HTTPServer {
  /// The port that it listens on.
  fileprivate var port: Int? {
    guard case .ip4(_, let port)? = listeningAddress else { return nil }
    return Int(port)
  }
}

extension ServeError {
  fileprivate init(_ error: any Error, port: Int) {
    if case .failed(_, EADDRINUSE, _)? = error as? SocketError {
      self = .portTaken(port)
    } else if case .failed(_, _, let message)? = error as? SocketError {
      self = .cannotListen(port: port, cause: message)
    } else {
      self = .cannotListen(port: port, cause: error.localizedDescription)
    }
  }
}
