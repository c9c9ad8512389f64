import FlyingFox
import FlyingSocks
import Foundation
import RetakeBuffers

/// Connects HTTP to the site. Every request passes the guard first.
struct SiteHandler: HTTPHandler {
  let site: ServedSite
  let doorkeeper: Locked<RequestGuard>
  let peers: AdmittedPeers

  func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
    do {
      // A larger body is not read at all, and the connection is closed.
      guard let size = request.bodySequence.count, size <= ServedSite.bodyBytesMax else {
        throw ServeError(
          413, "serve.request.tooLarge",
          "the request has more than \(ServedSite.bodyBytesMax) bytes, or does not say how many")
      }
      return Self.response(try await answer(request))
    } catch let error as ServeError {
      return Self.last(ServedAnswer(error, by: site.options.name))
    } catch {
      return Self.response(ServedAnswer(error, by: site.options.name))
    }
  }

  private func answer(_ request: HTTPRequest) async throws -> ServedAnswer {
    let doorkeeper = doorkeeper.withLock { $0 }
    let parts = try doorkeeper.admit(RequestFacts(request))
    // Only now: a peer without the token may be closed in favor of a new connection.
    if case .ip4(_, let port)? = request.remoteAddress { peers.admit(port: port) }
    if request.method == .POST {
      return try await site.change(parts, body: try await request.bodyData)
    }
    let query = Dictionary(
      // A query may repeat a name, on which a plain Dictionary would trap.
      request.query.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    return try await site.read(parts, query: query, root: "/\(doorkeeper.token)/")
  }

  private static func response(_ answer: ServedAnswer) -> HTTPResponse {
    HTTPResponse(
      statusCode: HTTPStatusCode(answer.status, phrase: phrase(answer.status)),
      headers: headers(answer), body: answer.body)
  }

  /// An error response after which the connection is closed, because the rest of its data was not
  /// requested.
  private static func last(_ answer: ServedAnswer) -> HTTPResponse {
    var headers = headers(answer)
    headers[.connection] = "close"
    return HTTPResponse(
      statusCode: HTTPStatusCode(answer.status, phrase: phrase(answer.status)), headers: headers,
      body: answer.body)
  }

  private static func headers(_ answer: ServedAnswer) -> HTTPHeaders {
    [
      .contentType: answer.type, .cacheControl: "no-store",
      HTTPHeader("Content-Security-Policy"): answer.policy,
      HTTPHeader("Cross-Origin-Opener-Policy"): "same-origin",
      HTTPHeader("Cross-Origin-Resource-Policy"): "same-origin",
      // The address has the token, which the browser must not send to another site when the user
      // follows a link.
      HTTPHeader("Referrer-Policy"): "no-referrer",
      HTTPHeader("X-Content-Type-Options"): "nosniff",
      HTTPHeader("X-Frame-Options"): "DENY",
    ]
  }

  private static func phrase(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 409: "Conflict"
    case 413: "Content Too Large"
    case 421: "Misdirected Request"
    default: "Internal Server Error"
    }
  }
}

extension RequestFacts {
  init(_ request: HTTPRequest) {
    self.init(
      method: request.method.rawValue, path: request.target.path(),
      host: request.headers[.host], origin: request.headers[HTTPHeader("Origin")],
      fetchSite: request.headers[HTTPHeader("Sec-Fetch-Site")],
      token: request.headers[HTTPHeader(RequestGuard.tokenHeader)],
      contentType: request.headers[.contentType])
  }
}
