import FlyingFox
import FlyingSocks
import Foundation
import RetakeBuffers

/// Accepts connections on 127.0.0.1, and answers the requests of each connection in order.
///
/// FlyingFox's own server needs quadratic time for a long line, and checks its length only
/// afterwards.
final class PageServer: Sendable {
  private struct State: Sendable {
    var task: Task<Void, any Error>?
    var isClosed = false
  }

  private let socket: Socket
  private let pool: SilenceLimit
  private let handler: SiteHandler
  private let state = Locked(State())

  /// Listens. Connections wait until `run` answers them.
  ///
  /// - Parameter port: 0 requests any free port.
  init(port: UInt16, pool: SilenceLimit, handler: SiteHandler) throws {
    (self.pool, self.handler) = (pool, handler)
    let socket = try Socket(domain: Int32(AF_INET))
    do {
      try socket.setValue(true, for: .localAddressReuse)
      // Never all addresses: another machine must not reach the pages.
      try socket.bind(to: .inet(ip4: "127.0.0.1", port: port))
      try socket.listen()
    } catch {
      try? socket.close()
      throw error
    }
    self.socket = socket
  }

  /// The port on which it listens.
  var port: Int? {
    guard case .ip4(_, let port)? = try? socket.sockname() else { return nil }
    return Int(port)
  }

  /// Answers until `stop`, or until a connection cannot be accepted.
  func run() async throws {
    let task = Task { [self] in try await answerAll() }
    let isClosed = state.withLock { state in
      state.task = task
      return state.isClosed
    }
    if isClosed { task.cancel() }
    defer { close() }
    try await task.value
  }

  func stop() {
    close()
    state.withLock { $0.task }?.cancel()
  }

  /// Once, because the system may have assigned the number to another file since.
  private func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { try? socket.close() }
  }

  private func answerAll() async throws {
    try await pool.prepare()
    let listening = try AsyncSocket(socket: socket, pool: pool)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [pool] in try await pool.run() }
      group.addTask { [self] in try await accept(listening) }
      // The first that ends throws, which cancels the other one.
      try await group.next()
    }
  }

  private func accept(_ listening: AsyncSocket) async throws {
    try await withThrowingDiscardingTaskGroup { group in
      for try await connection in listening.sockets {
        group.addTask { [self] in await answer(connection) }
      }
    }
    throw SocketError.disconnected
  }

  private func answer(_ connection: AsyncSocket) async {
    defer { try? connection.close() }
    var reader = RequestReader(connection)
    do {
      while true {
        let request = try await reader.next()
        var response = try await handler.handleRequest(request)
        let isLast = response.headers[.connection] == "close" || !request.keepsConnection
        response.headers[.connection] = isLast ? "close" : "keep-alive"
        try await connection.write(try await Self.bytes(of: response))
        if isLast { return }
      }
    } catch is RequestHead.TooLong {
      let refusal = "HTTP/1.1 431 Request Header Fields Too Large"
      try? await connection.write(
        Data("\(refusal)\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".utf8))
    } catch {
      // The connection has ended, or the request is malformed: no response is possible.
    }
  }

  private static func bytes(of response: HTTPResponse) async throws -> Data {
    let body = try await response.bodyData
    var headers = response.headers
    headers[.contentLength] = "\(body.count)"
    let lines = headers.map { "\($0.key.rawValue): \($0.value)\r\n" }.sorted().joined()
    let status = "\(response.statusCode.code) \(response.statusCode.phrase)"
    return Data("HTTP/1.1 \(status)\r\n\(lines)\r\n".utf8) + body
  }
}

extension HTTPRequest {
  fileprivate var keepsConnection: Bool {
    headers[.connection]?.lowercased() == "keep-alive"
  }
}
