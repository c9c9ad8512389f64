import Testing

@testable import RetakeMedia

/// The certificate authorities that HTTPS and RTSPS sources are checked against.
@Suite struct CertificateAuthoritiesTests {
  private let debian = "/etc/ssl/certs/ca-certificates.crt"
  private let fedora = "/etc/pki/tls/certs/ca-bundle.crt"
  private let alpine = "/etc/ssl/cert.pem"

  private func file(named: String? = nil, of existing: [String]) -> String? {
    CertificateAuthorities.file(named: named, exists: existing.contains)
  }

  @Test func `each system's file is found, in the order of the list`() {
    let all = CertificateAuthorities.candidates
    #expect(all.first == debian && all.count == 6)
    for place in all.indices {
      #expect(file(of: [all[place]]) == all[place])
      #expect(file(of: Array(all[place...].reversed())) == all[place])
    }
    #expect(file(of: [alpine, fedora]) == fedora)
  }

  @Test func `a system without a file leaves the choice to FFmpeg's TLS library`() {
    #expect(file(of: []) == nil)
    #expect(file(of: ["/etc/ssl/other.pem"]) == nil)
  }

  @Test func `a named file replaces the system's, even if it does not exist`() {
    #expect(file(named: "own.pem", of: [debian, "own.pem"]) == "own.pem")
    #expect(file(named: "missing.pem", of: [debian]) == "missing.pem")
    #expect(file(named: "", of: [debian]) == debian)
  }

  @Test func `every connection is verified`() {
    let options = CertificateAuthorities.options(alpine)
    #expect(options.map(\.name) == ["tls_verify", "ca_file"])
    #expect(options.map(\.value) == ["1", alpine])
    #expect(CertificateAuthorities.options(nil).map(\.name) == ["tls_verify"])
  }
}
