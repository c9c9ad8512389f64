/// The parts of a request that the guard needs.
struct RequestFacts: Hashable, Sendable {
  var method: String
  /// As it was sent, without the query.
  var path: String
  var host: String?
  var origin: String?
  /// The browser's statement about the sender, for example `same-origin` or `cross-site`.
  var fetchSite: String?
  /// The header that the pages send with requests that change something.
  var token: String?
  var contentType: String?
}

/// Admits the requests of this server's own pages, and no others.
///
/// The token is the first part of every address, so that another site or another user of this
/// machine cannot name any page. The Host header is checked against the addresses of this server: a
/// public host name that resolves to 127.0.0.1 is not one of them. A request that changes something
/// must also have the token in a header, which a form cannot send, and must come from this origin.
struct RequestGuard: Sendable {
  /// The name of the token's header.
  static let tokenHeader = "X-Retake-Token"
  /// The number of random bytes of a token.
  private static let tokenBytes = 16

  let token: String
  let port: Int

  init(token: String = RequestGuard.makeToken(), port: Int) {
    self.token = token
    self.port = port
  }

  var address: String { "http://127.0.0.1:\(port)/\(token)/" }

  static func makeToken() -> String {
    // The system's generator: another user of this machine must not be able to guess the token.
    var generator = SystemRandomNumberGenerator()
    let digits = (0..<tokenBytes).map { _ in
      let byte: UInt8 = generator.next()
      return (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }
    return digits.joined()
  }

  /// The parts of the address after the token.
  ///
  /// - Throws: The first error of the request.
  func admit(_ request: RequestFacts) throws -> [String] {
    // The host before the token: a site that was rebound to this address does not even learn
    // whether its token is right.
    guard let host = request.host?.lowercased(), hosts.contains(host) else {
      // Misdirected Request: the server does not answer for that host (RFC 9110, section 15.5.20).
      throw ServeError(
        421, "serve.request.otherHost", "the request names another host",
        advice: "Open the address that retake report serve printed")
    }
    let parts = try RequestPath.parts(request.path)
    guard let first = parts.first, Self.equal(first, token) else { throw ServeError.noToken }
    switch request.method {
    case "GET": try admitReading(request)
    case "POST": try admitChanging(request)
    default: throw ServeError.wrongMethod
    }
    return Array(parts.dropFirst())
  }

  private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

  /// A link on another site may lead here if a person has the token. An image or a script of
  /// another site may not.
  private func admitReading(_ request: RequestFacts) throws {
    if let origin = request.origin, !isOwn(origin) { throw ServeError.otherSite }
  }

  private func admitChanging(_ request: RequestFacts) throws {
    // Browsers send the origin with each POST (Fetch standard), so a request without it is not a
    // page's.
    guard let origin = request.origin, isOwn(origin) else { throw ServeError.otherSite }
    // Some clients do not send this header, so a request without it passes.
    if let site = request.fetchSite, site != "same-origin" { throw ServeError.otherSite }
    guard let token = request.token, Self.equal(token, self.token) else { throw ServeError.noToken }
    // A form cannot send this type. A script of another site needs a preflight request for it, and
    // OPTIONS is refused.
    guard request.contentType == "application/json" else {
      throw ServeError.badRequest("the content type of the request must be application/json")
    }
  }

  private func isOwn(_ origin: String) -> Bool {
    hosts.contains { origin.lowercased() == "http://\($0)" }
  }

  /// Runs for the same time no matter where the two strings differ.
  static func equal(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    // The length is not secret: all tokens have the same length.
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(into: UInt8(0)) { $0 |= $1.0 ^ $1.1 } == 0
  }
}

/// Addresses, split into parts so that no part can lead to another place.
enum RequestPath {
  /// The most bytes of an address.
  static let bytesMax = 2_048

  /// The parts between the slashes, decoded once.
  ///
  /// - Throws: `badRequest` for anything that no page of this server requests: an empty part, `.`
  ///   and `..`, or an encoded slash, backslash or control character in a part.
  static func parts(_ path: String) throws -> [String] {
    guard path.hasPrefix("/"), path.utf8.count <= bytesMax else {
      throw ServeError.badRequest("this is not an address of this server")
    }
    var words = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
    if words.last == "" { words = words.dropLast() }
    var parts: [String] = []
    for word in words {
      // Decoded first, so that an encoded slash or dot is seen; once, so that %252e stays a name.
      guard let part = word.removingPercentEncoding, isPlain(part) else {
        throw ServeError.badRequest("this is not an address of this server")
      }
      parts.append(part)
    }
    return parts
  }

  private static func isPlain(_ part: String) -> Bool {
    guard !part.isEmpty, part != ".", part != ".." else { return false }
    return part.unicodeScalars.allSatisfy { scalar in
      scalar != "/" && scalar != "\\" && scalar.value >= 0x20 && scalar.value != 0x7F
    }
  }
}
