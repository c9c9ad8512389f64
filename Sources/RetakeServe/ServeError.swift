import Retake

/// Errors of the report server and of the requests to it.
package enum ServeError: CodedError, Hashable {
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
  /// The pending result is not the one that the page shows.
  case otherResult(key: String)

  package var code: String {
    switch self {
    case .portTaken: "serve.port.taken"
    case .cannotListen: "serve.port.cannotListen"
    case .noToken: "serve.request.noToken"
    case .otherHost: "serve.request.otherHost"
    case .otherSite: "serve.request.otherSite"
    case .badRequest: "serve.request.malformed"
    case .notFound: "serve.request.notFound"
    case .wrongMethod: "serve.request.method"
    case .bodyTooLarge: "serve.request.tooLarge"
    case .outside: "serve.request.outside"
    case .noPixels: "serve.frame.noPixels"
    case .otherResult: "serve.accept.otherResult"
    }
  }

  package var message: String {
    switch self {
    case .portTaken(let port): "port \(port) is taken"
    case .cannotListen(let port, _): "nothing can be served on port \(port)"
    case .noToken: "this address has not the token of the pages"
    case .otherHost: "the request names another host"
    case .otherSite: "another site sent this request"
    case .badRequest(let detail): detail
    case .notFound(let what): "there is no \(what)"
    case .wrongMethod: "this address takes another method"
    case .bodyTooLarge(let most):
      "the request has more than \(most) bytes, or does not say how many"
    case .outside(let what): "\(what) leads out of the project's folder"
    case .noPixels(let frame, _): "frame \(frame) has no picture"
    case .otherResult(let key): "what is pending for \(key) is not the result that this page shows"
    }
  }

  package var cause: String? {
    switch self {
    case .cannotListen(_, let cause), .noPixels(_, let cause): cause
    default: nil
    }
  }

  package var advice: String? {
    switch self {
    case .portTaken: "Take any free port: retake report serve"
    case .cannotListen: "Take another port, or any free one: retake report serve"
    case .noToken: "Open the address that retake report serve printed, with all of its letters"
    case .otherHost, .otherSite: "Open the address that retake report serve printed"
    case .otherResult:
      "Reload the page; if it says the same again, make a new report: "
        + "retake test --report report"
    case .outside: "Copy it into the project; links are not followed out of it"
    case .badRequest, .notFound, .wrongMethod, .bodyTooLarge, .noPixels: nil
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
