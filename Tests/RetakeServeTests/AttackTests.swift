import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// Attacks by another site, another user or a hostile folder.
@Suite(.serialized, .onOwnThread) struct AttackTests {
  @Test func `another site can neither see nor change anything`() throws {
    let fixture = try ServeFixture(frames: 6)
    let before = try fixture.goldens()
    let tries: [[String: String?]] = [
      ["Host": "evil.example"], ["Host": "evil.example:\(fixture.server.port)"],
      ["Origin": "http://evil.example"], ["Origin": nil], ["Origin": "null"],
      ["X-Retake-Token": nil], ["X-Retake-Token": "0000"], ["Content-Type": "text/plain"],
      ["Content-Type": "application/x-www-form-urlencoded"], ["Sec-Fetch-Site": "cross-site"],
    ]
    for changes in tries {
      let answer = try fixture.accept("yard/motion", changes)
      #expect([400, 403, 421].contains(answer.status), "\(changes)")
    }
    let wrong = String(fixture.token.reversed())
    for path in ["/", "/state.json", "/\(wrong)/state.json", "/accept", "/\(wrong)/accept"] {
      for method in ["GET", "POST"] {
        let answer = try fixture.client.ask(method, path)
        #expect(answer.status == 403, "\(method) \(path)")
        #expect(!answer.text.contains("yard"))
        #expect(!answer.text.contains(fixture.token))
      }
    }
    let rebound = try fixture.get("state.json", ["Host": "evil.example"])
    #expect(rebound.status == 421)
    #expect(!rebound.text.contains("yard"))
    #expect(try fixture.get("state.json", ["Origin": "http://evil.example"]).status == 403)
    #expect(try fixture.goldens() == before)
  }

  @Test func `no answer lets another site read it`() throws {
    let fixture = try ServeFixture(frames: 6)
    let report = try fixture.reportID()
    for path in ["", "state.json", "frames/yard/0/1.png", "reports/\(report)"] {
      let answer = try fixture.get(path)
      #expect(answer.status == 200)
      #expect(answer.headers["access-control-allow-origin"] == nil)
      #expect(answer.headers["cross-origin-resource-policy"] == "same-origin")
      #expect(answer.headers["x-content-type-options"] == "nosniff")
      #expect(answer.headers["x-frame-options"] == "DENY")
    }
    let preflight = try fixture.client.ask(
      "OPTIONS", "/\(fixture.token)/accept", ["Origin": "http://evil.example"])
    #expect(preflight.status == 405)
    #expect(preflight.headers["access-control-allow-origin"] == nil)
  }

  @Test(arguments: [
    "frames/../../secret/0/0.png", "frames/..%2f..%2fsecret/0/0.png", "../secret/report.json",
    "frames/%2e%2e/0/0.png", "frames/..%5csecret/0/0.png", "reports/..%2f..%2fsecret",
    "frames/%252e%252e%252fsecret/0/0.png", "..;/secret", "frames//secret/0/0.png",
    "frames/yard%00/0/0.png", "file:///etc/passwd", "%2fetc%2fpasswd", "....//etc/passwd",
  ])
  func `no address leads out of the project`(path: String) throws {
    let fixture = try ServeFixture(frames: 6) { _ in
    } prepare: { folder in
      let secret = folder.url.deletingLastPathComponent().appending(path: "secret")
      #expect(!FileManager.default.fileExists(atPath: secret.path))
    }
    let answer = try fixture.get(path)
    #expect([400, 403, 404].contains(answer.status), "\(answer.status)")
    #expect(!answer.text.contains("root:"))
  }

  @Test func `links out of the project are not followed`() throws {
    let outside = try TemporaryFolder("retake-outside")
    try ServeFixture.record("private", frames: 6, into: outside)
    let fixture = try ServeFixture(frames: 6) { _ in
    } prepare: { folder in
      let manager = FileManager.default
      let report = folder.file("report").path
      let elsewhere = outside.file("report").path
      try manager.copyItem(atPath: report, toPath: elsewhere)
      try manager.createSymbolicLink(
        atPath: folder.file("linked").path, withDestinationPath: elsewhere)
      try manager.createDirectory(
        atPath: folder.file("half").path, withIntermediateDirectories: true)
      try folder.write("", to: "half/report.html")
      try manager.createSymbolicLink(
        atPath: folder.file("half/report.json").path,
        withDestinationPath: outside.file("report/report.json").path)
      try manager.createSymbolicLink(
        atPath: folder.file("Recordings/private").path,
        withDestinationPath: outside.file("Recordings/private").path)
      try manager.copyItem(
        atPath: folder.file("Recordings/yard").path,
        toPath: folder.file("Recordings/media").path)
      let media = folder.file("Recordings/media/media")
      try manager.removeItem(at: media)
      try manager.createSymbolicLink(
        atPath: media.path,
        withDestinationPath: outside.file("Recordings/private/media").path)
    }
    let state = try fixture.get("state.json").text
    #expect(!state.contains("linked"))
    #expect(!state.contains("half"))
    for name in ["private", "media"] {
      let answer = try fixture.get("frames/\(name)/0/0.png")
      #expect(answer.status == 403)
      #expect(answer.code == "serve.request.outside")
    }
    #expect(try fixture.get("frames/yard/0/0.png").status == 200)
  }

  @Test func `a huge body is refused before it is read`() throws {
    let fixture = try ServeFixture(frames: 6)
    let head = { (length: String) in
      "POST /\(fixture.token)/accept HTTP/1.1\r\nHost: 127.0.0.1:\(fixture.server.port)\r\n"
        + "Origin: http://127.0.0.1:\(fixture.server.port)\r\nX-Retake-Token: \(fixture.token)\r\n"
        + "Content-Type: application/json\r\n\(length)\r\n\r\n"
    }
    let large = try fixture.client.send(Data(head("Content-Length: 100000000000").utf8))
    #expect(large.status == 413)
    #expect(large.headers["connection"] == "close")
    let chunked = try fixture.client.send(
      Data((head("Transfer-Encoding: chunked") + "5\r\nhello\r\n").utf8))
    #expect(chunked.status == 413)
    let many = try fixture.client.ask(
      "POST", "/\(fixture.token)/accept",
      [
        "Origin": "http://127.0.0.1:\(fixture.server.port)", "X-Retake-Token": fixture.token,
        "Content-Type": "application/json",
      ], body: String(repeating: "[", count: 60_000))
    #expect(many.status == 400)
    #expect(try fixture.get("state.json").status == 200)
  }

  @Test func `what follows a refused request on its connection is not answered`() throws {
    let fixture = try ServeFixture(frames: 6)
    let host = "Host: 127.0.0.1:\(fixture.server.port)\r\n"
    let hidden = "GET /\(fixture.token)/state.json HTTP/1.1\r\n\(host)\r\n"
    let bytes = Data(
      "POST /\(fixture.token)/accept HTTP/1.1\r\n\(host)Content-Length: 9999999\r\n\r\n\(hidden)"
        .utf8)
    let connection = try RawClient.Connection(port: fixture.server.port)
    connection.write(bytes)
    let all = String(decoding: try connection.readToEnd(), as: UTF8.self)
    #expect(all.hasPrefix("HTTP/1.1 413"))
    #expect(!all.contains("yard"))
    #expect(all.components(separatedBy: "HTTP/1.1 ").count == 2)
  }

  @Test func `slow clients keep nobody waiting, and are hung up on`() throws {
    let fixture = try ServeFixture(frames: 6) { $0.silenceSeconds = 1 }
    let slow = try (0..<40).map { _ in try RawClient.Connection(port: fixture.server.port) }
    for connection in slow { connection.write(Data("GET /\(fixture.token)/state.json HT".utf8)) }
    #expect(try fixture.get("state.json").status == 200)
    for connection in slow { #expect(try connection.readToEnd().isEmpty) }
    #expect(try fixture.get("frames/yard/0/1.png").status == 200)
  }

  @Test(arguments: [
    "\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\u{0}\u{1}\u{2}\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
    "POST / HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
    "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
  ])
  func `nonsense ends its own connection and nothing else`(text: String) throws {
    let fixture = try ServeFixture(frames: 6) { $0.silenceSeconds = 2 }
    let connection = try RawClient.Connection(port: fixture.server.port)
    connection.write(Data(text.utf8))
    let answer = String(decoding: try connection.readToEnd(), as: UTF8.self)
    #expect(!answer.hasPrefix("HTTP/1.1 200"))
    #expect(try fixture.get("state.json").status == 200)
  }
}
