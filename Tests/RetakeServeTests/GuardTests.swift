import Testing

@testable import RetakeServe

@Suite struct GuardTests {
  private let doorkeeper = RequestGuard(token: "0123456789abcdef", port: 8420)

  private func facts(
    _ method: String = "GET", _ path: String = "/0123456789abcdef/state.json",
    change: (inout RequestFacts) -> Void = { _ in }
  ) -> RequestFacts {
    var facts = RequestFacts(method: method, path: path, host: "127.0.0.1:8420")
    if method == "POST" {
      facts.origin = "http://127.0.0.1:8420"
      facts.token = "0123456789abcdef"
      facts.contentType = "application/json"
    }
    change(&facts)
    return facts
  }

  private func code(_ facts: RequestFacts) -> String? {
    do {
      _ = try doorkeeper.admit(facts)
      return nil
    } catch {
      return error.facts.code
    }
  }

  @Test func `what the pages ask is let in`() throws {
    #expect(try doorkeeper.admit(facts()) == ["state.json"])
    #expect(try doorkeeper.admit(facts("GET", "/0123456789abcdef/")) == [])
    #expect(try doorkeeper.admit(facts("POST", "/0123456789abcdef/accept")) == ["accept"])
    #expect(code(facts { $0.host = "localhost:8420" }) == nil)
  }

  @Test(arguments: [
    nil, "", "evil.example", "evil.example:8420", "127.0.0.1", "127.0.0.1:80",
    "127.0.0.1:8420.evil.example", "127.0.0.1:84200",
  ])
  func `another host is refused`(host: String?) {
    #expect(code(facts { $0.host = host }) == "serve.request.otherHost")
  }

  @Test(arguments: [
    "/", "/state.json", "/0123456789abcdee/state.json", "/0123456789abcde/state.json",
    "/0123456789abcdef0/state.json", "/favicon.ico",
  ])
  func `an address without the token is refused`(path: String) {
    #expect(code(facts("GET", path)) == "serve.request.noToken")
  }

  @Test(arguments: [
    "", "state.json", "http://127.0.0.1:8420/0123456789abcdef/", "*",
    "/0123456789abcdef/../x", "/0123456789abcdef/%2e%2e/x", "/0123456789abcdef/.",
    "/0123456789abcdef/a%2fb", "/0123456789abcdef/a%5cb", "/0123456789abcdef//x",
    "/0123456789abcdef/%00", "/0123456789abcdef/%zz", "/0123456789abcdef/%ff",
    "/0123456789abcdef/" + String(repeating: "x", count: 3_000),
  ])
  func `an address that could lead somewhere is refused`(path: String) {
    #expect(code(facts("GET", path)) == "serve.request.malformed")
  }

  @Test func `what is decoded is decoded once`() throws {
    #expect(
      try doorkeeper.admit(facts("GET", "/0123456789abcdef/%252e%252e")) == ["%2e%2e"])
  }

  @Test(arguments: [
    nil, "null", "http://evil.example", "https://127.0.0.1:8420",
    "http://127.0.0.1:8421", "http://127.0.0.1:8420.evil.example",
  ])
  func `nothing is changed for another site`(origin: String?) {
    #expect(
      code(facts("POST") { $0.origin = origin }) == "serve.request.otherSite")
  }

  @Test func `the browser's word counts too, and so do the header and the type`() {
    #expect(code(facts("POST") { $0.fetchSite = "cross-site" }) == "serve.request.otherSite")
    #expect(code(facts("POST") { $0.token = nil }) == "serve.request.noToken")
    #expect(code(facts("POST") { $0.token = "0123456789abcdeF" }) == "serve.request.noToken")
    #expect(
      code(facts("POST") { $0.contentType = "text/plain" }) == "serve.request.malformed")
    #expect(code(facts { $0.origin = "http://evil.example" }) == "serve.request.otherSite")
  }

  @Test(arguments: ["PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "get"])
  func `other methods are refused`(method: String) {
    #expect(code(facts(method)) == "serve.request.method")
  }

  @Test func `tokens are long and never the same`() {
    let tokens = (0..<100).map { _ in RequestGuard.makeToken() }
    #expect(Set(tokens).count == 100)
    #expect(tokens.allSatisfy { $0.count == 32 && $0.allSatisfy(\.isHexDigit) })
  }
}
