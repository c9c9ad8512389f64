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

  /// Where a browser finds the first page, with the token; keep it to yourself.
  public let address: String
  public let port: Int
  private let listener: ReportListener

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
    let peers = AdmittedPeers()
    let handler = SiteHandler(
      site: ServedSite(project: project, options: options), doorkeeper: doorkeeper, peers: peers)
    listener = ReportListener(handler, silenceSeconds: options.silenceSeconds)
    port = try listener.listen(port: options.port)
    let port = port
    doorkeeper.withLock { $0 = RequestGuard(token: token, port: port) }
    address = RequestGuard(token: token, port: port).address
  }

  /// Returns when the server has ended.
  public func wait() { listener.wait() }

  /// Ends the server, and with it `wait`.
  public func stop() { listener.stop() }
}
