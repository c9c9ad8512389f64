import Foundation

/// Resolves a host name only to report clearly if it does not exist. FFmpeg would report an
/// input/output error.
enum HostName {
  /// - Throws: `MediaError.unknownHost`.
  static func check(_ stream: StreamAddress) throws {
    // A URL has an IPv6 address in brackets, which getaddrinfo does not accept.
    let host = stream.host.trimmingCharacters(in: ["[", "]"])
    var hints = addrinfo()
    #if canImport(Darwin)
      hints.ai_socktype = SOCK_STREAM
    #else
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #endif
    var found: UnsafeMutablePointer<addrinfo>?
    // SAFETY: the system fills the list, which is freed here.
    let number = getaddrinfo(host, "\(stream.port)", &hints, &found)
    defer { if let found { freeaddrinfo(found) } }
    guard number != 0 else { return }
    throw MediaError.unknownHost(
      address: stream.publicText, host: host, cause: String(cString: gai_strerror(number)))
  }
}
