package import RetakeCore

/// Errors of the report server and of the requests to it.
package enum ServeError: RetakeError, Hashable {
  /// Another program listens on the port.
  case portTaken(Int)
  case cannotListen(port: Int, cause: String)
  /// The request does not contain the token of this server's pages.
  case noToken
  /// The request names another host: a public host name that resolves to this machine.
  case otherHost
  /// Another site sent the request.
  case otherSite
  case badRequest(String)
  case notFound(String)
  case wrongMethod
  case bodyTooLarge(bytesMax: Int)
  /// A link in the project's folder leads to something outside it.
  case outside(String)
  case noPixels(frame: String, cause: String)
  /// The pending result differs from the result that the page shows.
  case otherResult(key: String)

  package var facts: ErrorFacts {
    switch self {
    case .portTaken(let port):
      ErrorFacts(
        "serve.port.taken", "port \(port) is in use",
        advice: "Use any free port: retake report serve")
    case .cannotListen(let port, let cause):
      ErrorFacts(
        "serve.port.cannotListen", "the server cannot listen on port \(port)", cause: cause,
        advice: "Choose another port, or use any free port: retake report serve")
    case .noToken:
      ErrorFacts(
        "serve.request.noToken", "this address does not contain the token of the pages",
        advice: "Open the address that retake report serve printed, with all of its letters")
    case .otherHost:
      ErrorFacts(
        "serve.request.otherHost", "the request names another host",
        advice: "Open the address that retake report serve printed")
    case .otherSite:
      ErrorFacts(
        "serve.request.otherSite", "another site sent this request",
        advice: "Open the address that retake report serve printed")
    case .badRequest(let detail):
      ErrorFacts("serve.request.malformed", detail)
    case .notFound(let what):
      ErrorFacts("serve.request.notFound", "there is no \(what)")
    case .wrongMethod:
      ErrorFacts("serve.request.method", "this address does not accept the request's method")
    case .bodyTooLarge(let most):
      ErrorFacts(
        "serve.request.tooLarge",
        "the request has more than \(most) bytes, or does not say how many")
    case .outside(let what):
      ErrorFacts(
        "serve.request.outside", "\(what) leads out of the project's folder",
        advice: "Copy it into the project; links are not followed out of it")
    case .noPixels(let frame, let cause):
      ErrorFacts("serve.frame.noPixels", "frame \(frame) has no image", cause: cause)
    case .otherResult(let key):
      ErrorFacts(
        "serve.accept.otherResult",
        "the pending result of \(key) is not the result that this page shows",
        advice: "Reload the page; if the error remains, make a new report: "
          + "retake test --report report")
    }
  }

  /// The HTTP status of the error.
  var status: Int {
    switch self {
    case .noToken, .otherSite, .outside: 403
    // Misdirected Request: this server does not answer for that host (RFC 9110, section 15.5.20).
    case .otherHost: 421
    case .badRequest: 400
    case .notFound, .noPixels: 404
    case .wrongMethod: 405
    case .otherResult: 409
    case .bodyTooLarge: 413
    case .portTaken, .cannotListen: 500
    }
  }
}
