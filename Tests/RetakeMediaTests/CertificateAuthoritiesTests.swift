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

  @Test func `a variable that names a missing file is a problem, and is named`() {
    let problem = { CertificateAuthorities.problem(named: $0, exists: ["own.pem"].contains) }
    #expect(problem(nil) == nil && problem("") == nil && problem("own.pem") == nil)
    #expect(
      problem("gone.pem")
        == "the environment variable SSL_CERT_FILE names a file that does not exist: gone.pem")
  }

  private func refusal(_ line: String?) -> CertificateRefusal {
    CertificateRefusal(host: "cam.lan", port: 8443, file: "ca.pem", line: line)
  }

  @Test func `a certificate for another host has a cause that other refusals do not have`() {
    let host = refusal("The certificate's owner does not match hostname cam.lan")
    #expect(host.cause == "the server's certificate is for another host than cam.lan")
    #expect(host.remedy.contains("openssl s_client -connect cam.lan:8443 -servername cam.lan "))
    #expect(host.remedy.hasSuffix("openssl x509 -noout -ext subjectAltName"))
    let refused = refusal("Peer certificate failed verification")
    #expect(
      refused.cause
        == "the server's certificate is refused: it has expired, or no authority of ca.pem "
        + "signed it")
    #expect(refused.remedy.contains(" -CAfile ca.pem </dev/null"))
    #expect(refused.remedy.contains("SSL_CERT_FILE=FILE names other authorities"))
  }

  @Test func `without a known line of FFmpeg's log all three reasons are named`() {
    for line in [nil, "error:0A000086:SSL routines::certificate verify failed"] {
      let cause = refusal(line).cause
      #expect(cause.hasPrefix("the TLS handshake failed"))
      #expect(line.map(cause.contains) ?? true)
      for reason in ["expired", "another host", "no authority"] { #expect(cause.contains(reason)) }
    }
  }

  @Test func `every connection is verified`() {
    let options = CertificateAuthorities.options(alpine)
    #expect(options.map(\.name) == ["tls_verify", "ca_file"])
    #expect(options.map(\.value) == ["1", alpine])
    #expect(CertificateAuthorities.options(nil).map(\.name) == ["tls_verify"])
  }
}
