import Foundation
import RetakeBuffers
import RetakeCore
package import RetakeSuite

/// Serves a project's reports, runs and sessions as pages, to this machine only.
///
/// ```swift
/// let server = try ReportServer(project: project)
/// print(server.address)
/// server.wait()
/// ```
package final class ReportServer: Sendable {
  package struct Options: Sendable {
    /// 0 means any free port.
    package var port = 0
    /// The folder of the goldens; the project's if `nil`.
    package var goldens: String?
    /// Where pending goldens are, if they are not next to the goldens.
    package var pendingFolder: String?
    /// Whether the server runs in CI, where accepting is an error.
    package var isCI = false
    /// The program as it was called, for the commands that the pages advise to type.
    public var program = "retake"
    /// A connection is closed after this many seconds of silence.
    package var silenceSeconds = SilenceLimit.defaultSeconds

    package init() {}

    var name: ProgramName { ProgramName(program) }
  }

  /// The address of the first page, including the token. Keep it secret.
  package let address: String
  package let port: Int
  private let listener: ReportListener

  /// Listens on 127.0.0.1. Requests are answered from now on.
  ///
  /// This and `wait` block the calling thread. It must not be a thread of Swift's concurrency pool,
  /// because the server works there.
  /// - Throws: `ServeError.portTaken`, `.cannotListen`.
  package init(project: Project, options: Options = Options()) throws {
    guard (0...65_535).contains(options.port) else {
      throw ServeError.cannotListen(port: options.port, cause: "ports are 0 to 65535")
    }
    let token = RequestGuard.makeToken()
    // With port 0 the real port is known only when the server listens. Until then each request is
    // refused, because no request has port 0 in its `Host` header.
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
  package func wait() { listener.wait() }

  /// Ends the server. `wait` then returns.
  package func stop() { listener.stop() }
}
