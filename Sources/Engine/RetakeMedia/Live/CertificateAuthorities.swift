import Foundation

/// The file with the certificates of the authorities that this system trusts, for FFmpeg's TLS.
enum CertificateAuthorities {
  /// This variable names another file, as in OpenSSL, curl and Go.
  static let variable = "SSL_CERT_FILE"

  /// The list and its order are Go's: https://go.dev/src/crypto/x509/root_linux.go
  static let candidates = [
    "/etc/ssl/certs/ca-certificates.crt",  // Debian, Ubuntu, Arch, Gentoo
    "/etc/pki/tls/certs/ca-bundle.crt",  // Fedora, RHEL 6
    "/etc/ssl/ca-bundle.pem",  // openSUSE
    "/etc/pki/tls/cacert.pem",  // OpenELEC
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // CentOS, RHEL 7
    "/etc/ssl/cert.pem",  // Alpine
  ]

  /// The file for a connection that this process opens now.
  static func ofSystem() -> String? {
    file(
      named: ProcessInfo.processInfo.environment[variable],
      exists: { FileManager.default.fileExists(atPath: $0) })
  }

  /// The named file, or else the first candidate that exists.
  ///
  /// - Parameter named: The variable's value. A named file is not replaced by a candidate, even if
  ///   it does not exist: then no certificate is accepted.
  /// - Returns: `nil` if there is no candidate; FFmpeg then asks its TLS library for the system's
  ///   list.
  static func file(named: String?, exists: (String) -> Bool) -> String? {
    if let named, !named.isEmpty { return named }
    return candidates.first(where: exists)
  }

  /// FFmpeg's options for a verified connection. By default it accepts every certificate.
  static func options(_ file: String?) -> [(name: String, value: String)] {
    [(name: "tls_verify", value: "1")] + (file.map { [(name: "ca_file", value: $0)] } ?? [])
  }

  /// The problem with the variable's value; `nil` if it can be used. FFmpeg would refuse every
  /// certificate, without a reason.
  static func problem(named: String?, exists: (String) -> Bool) -> String? {
    guard let named, !named.isEmpty, !exists(named) else { return nil }
    return "the environment variable \(variable) names a file that does not exist: \(named)"
  }

  /// The problem with this process's variable.
  static func problemOfSystem() -> String? {
    problem(
      named: ProcessInfo.processInfo.environment[variable],
      exists: { FileManager.default.fileExists(atPath: $0) })
  }

  /// The advice for `problemOfSystem`.
  static let remedy =
    "Name a file of PEM certificates, or use the system's authorities: unset \(variable)"
}

/// Why a server's certificate was refused. FFmpeg reports an input/output error; only its log says
/// more, and that depends on its TLS library.
struct CertificateRefusal {
  let host: String
  let port: Int
  /// The file with the authorities; `nil` if the TLS library knows them.
  let file: String?
  /// The last line that FFmpeg logged for the connection.
  let line: String?

  private enum Reason {
    case host
    /// GnuTLS and OpenSSL check all but the host in one step, and FFmpeg logs only its failure.
    case expiredOrUnknown
    case other
  }

  private var reason: Reason {
    let text = (line ?? "").lowercased()
    // FFmpeg's libavformat/tls_gnutls.c.
    if text.contains("does not match hostname") { return .host }
    return text.contains("failed verification") ? .expiredOrUnknown : .other
  }

  private var authorities: String { file ?? "this system" }

  var cause: String {
    switch reason {
    case .host: "the server's certificate is for another host than \(host)"
    case .expiredOrUnknown:
      "the server's certificate is refused: it has expired, or no authority of \(authorities) "
        + "signed it"
    case .other:
      // OpenSSL also checks the host in the step whose failure is logged.
      "the TLS handshake failed" + (line.map { ": \($0)" } ?? "")
        + "; a certificate is refused if it has expired, is for another host than \(host), or if "
        + "no authority of \(authorities) signed it"
    }
  }

  var remedy: String {
    let name = host.shellWord
    let connect = "openssl s_client -connect \(name):\(port) -servername \(name)"
    guard reason != .host else {
      return "Use the name of the host that the certificate is for; show it: \(connect) "
        + "</dev/null | openssl x509 -noout -ext subjectAltName"
    }
    let list = file.map { " -CAfile \($0.shellWord)" } ?? ""
    return "See the reason in its line 'Verify return code': \(connect) -verify_hostname \(name)"
      + "\(list) </dev/null; \(CertificateAuthorities.variable)=FILE names other authorities"
  }
}
