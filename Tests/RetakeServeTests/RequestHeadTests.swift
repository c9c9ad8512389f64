import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// How the head of a request is read.
struct RequestHeadTests {
  private func head(_ pieces: String...) throws -> [String]? {
    var head = RequestHead()
    for piece in pieces { head.add(Array(piece.utf8)) }
    return try head.take()
  }

  @Test func `a head ends with its empty line, wherever it was cut`() throws {
    let text = "GET / HTTP/1.1\r\nHost: a\r\nX: b c\n\r\nbody"
    let lines = ["GET / HTTP/1.1", "Host: a", "X: b c"]
    #expect(try head(text) == lines)
    for cut in text.indices {
      #expect(try head(String(text[..<cut]), String(text[cut...])) == lines)
    }
    #expect(try head("GET / HTTP/1.1\r\nHost: a\r\n") == nil)
    #expect(throws: RequestHead.Malformed.self) { try head("\r\nGET / HTTP/1.1\r\n\r\n") }
  }

  @Test func `what follows a head is its body, then the next head`() throws {
    var head = RequestHead()
    head.add(Array("POST / HTTP/1.1\r\n\r\nbodyGET /b HTTP/1.1\r\n\r\n".utf8))
    #expect(try head.take() == ["POST / HTTP/1.1"])
    #expect(head.takeBody(4) == Array("body".utf8))
    #expect(try head.take() == ["GET /b HTTP/1.1"])
    #expect(head.takeBody(9).isEmpty)
    #expect(try head.take() == nil)
  }

  /// A line without an end is not collected: the reader stops at the bound.
  @Test func `a head that is too long is refused at its bound`() throws {
    var head = RequestHead()
    var received = 0
    let piece = [UInt8](repeating: UInt8(ascii: "a"), count: 4_096)
    #expect(throws: RequestHead.TooLong.self) {
      while received < 1 << 20 {
        head.add(piece)
        received += piece.count
        _ = try head.take()
      }
    }
    #expect(received <= RequestHead.bytesMax + piece.count)
    // The same for many short lines.
    let lines = String(repeating: "X: y\r\n", count: RequestHead.bytesMax / 6 + 1)
    #expect(throws: RequestHead.TooLong.self) { try self.head("GET / HTTP/1.1\r\n", lines) }
  }
}

/// The same, over a connection.
@Suite(.serialized, .onOwnThread) struct LongLineTests {
  @Test(arguments: ["GET /", "GET / HTTP/1.1\r\nX-Long: "])
  func `a long line ends its connection, and others are answered`(start: String) throws {
    let fixture = try ServeFixture(frames: 6)
    let connection = try RawClient.Connection(port: fixture.server.port)
    let sent = connection.write(Data((start + String(repeating: "a", count: 32 << 20)).utf8))
    // The system's buffers hold a few megabytes; the server reads a few thousand bytes.
    #expect(sent < 32 << 20)
    let answer = String(decoding: try connection.readToEnd(), as: UTF8.self)
    #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 431 "), "\(answer)")
    #expect(try fixture.get("state.json").status == 200)
  }

  @Test func `several requests of one connection are answered in turn`() throws {
    let fixture = try ServeFixture(frames: 6)
    let request = { (connection: String) in
      "GET /\(fixture.token)/state.json HTTP/1.1\r\nHost: 127.0.0.1:\(fixture.server.port)\r\n"
        + "Connection: \(connection)\r\n\r\n"
    }
    let connection = try RawClient.Connection(port: fixture.server.port)
    connection.write(Data((request("keep-alive") + request("close")).utf8))
    let all = String(decoding: try connection.readToEnd(), as: UTF8.self)
    #expect(all.components(separatedBy: "HTTP/1.1 200 ").count == 3)
    #expect(all.contains("Connection: keep-alive") && all.contains("Connection: close"))
  }
}
