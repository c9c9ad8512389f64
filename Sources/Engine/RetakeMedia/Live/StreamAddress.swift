import Foundation

/// A parsed URL of a stream.
package struct StreamAddress: Hashable, Sendable {
  package enum Scheme: String, Hashable, Sendable, CaseIterable {
    case http, https, rtp, rtsp, rtsps, udp
  }

  package var scheme: Scheme
  package var text: String
  package var host: String
  package var port: Int
  /// Path and query, as used in a request.
  package var target: String
  package var user: String?
  package var password: String?

  init(_ text: String, scheme name: String) throws {
    guard let scheme = Scheme(rawValue: name) else {
      throw MediaError.protocolRefused(name: name, allowed: Scheme.allCases.map(\.rawValue))
    }
    // A line end in the URL would be one in the request's header, too (`HTTPBody.request`).
    guard !text.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }),
      let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
      let port = parts.port ?? Self.port(of: scheme), (1...65_535).contains(port)
    else { throw MediaError.badAddress(address: Self.withoutSecrets(text)) }
    self.scheme = scheme
    self.text = text
    self.host = host
    self.port = port
    let path = parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath
    target = path + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
    (user, password) = (parts.user, parts.password)
  }

  /// The URL without user name and password.
  package var publicText: String { Self.withoutSecrets(text) }

  /// Whether a server is contacted over a dedicated connection.
  var isAsked: Bool {
    switch scheme {
    case .http, .https, .rtsp, .rtsps: true
    case .rtp, .udp: false
    }
  }

  var usesTLS: Bool { scheme == .https || scheme == .rtsps }

  /// The port of a URL without one; `nil` if it has to name one.
  private static func port(of scheme: Scheme) -> Int? {
    switch scheme {
    case .http: 80
    case .https: 443
    case .rtsp: 554
    // IANA's port for RTSPS.
    case .rtsps: 322
    case .rtp, .udp: nil
    }
  }

  /// Removes the text between `://` and the last `@` before the path.
  static func withoutSecrets(_ text: String) -> String {
    guard let start = text.range(of: "://")?.upperBound else { return text }
    let authority = text[start...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // The last one, because a password may have others.
    guard let at = authority.lastIndex(of: "@") else { return text }
    return String(text[..<start]) + String(text[text.index(after: at)...])
  }
}
