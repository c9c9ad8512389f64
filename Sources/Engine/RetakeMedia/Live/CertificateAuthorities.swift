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

  /// FFmpeg reports a refused certificate as an input/output error. This text says more.
  static func refusal(of host: String, file: String?) -> String {
    "the TLS handshake failed, or no authority of \(file ?? "this system") signed a certificate of "
      + "\(host); \(variable)=FILE names other authorities"
  }
}
