package import RetakeCore

/// Errors of the report server and of the requests to it.
package struct ServeError: RetakeError, Hashable {
  /// The HTTP status of the error.
  let status: Int
  package let facts: ErrorFacts

  init(
    _ status: Int, _ code: String, _ message: String, cause: String? = nil, advice: String? = nil
  ) {
    self.status = status
    facts = ErrorFacts(code, message, cause: cause, advice: advice)
  }

  package static func portTaken(_ port: Int) -> Self {
    Self(
      500, "serve.port.taken", "port \(port) is in use",
      advice: "Use any free port: retake report serve")
  }

  package static func cannotListen(port: Int, cause: String) -> Self {
    Self(
      500, "serve.port.cannotListen", "the server cannot listen on port \(port)", cause: cause,
      advice: "Choose another port, or use any free port: retake report serve")
  }

  /// The request does not contain the token of this server's pages.
  package static let noToken = Self(
    403, "serve.request.noToken", "this address does not contain the token of the pages",
    advice: "Open the address that retake report serve printed, with all of its letters")

  /// Another site sent the request.
  package static let otherSite = Self(
    403, "serve.request.otherSite", "another site sent this request",
    advice: "Open the address that retake report serve printed")

  package static func badRequest(_ detail: String) -> Self {
    Self(400, "serve.request.malformed", detail)
  }

  package static func notFound(_ what: String) -> Self {
    Self(404, "serve.request.notFound", "there is no \(what)")
  }

  package static let wrongMethod = Self(
    405, "serve.request.method", "this address does not accept the request's method")
}
