import FlyingFox
import FlyingSocks
import Foundation

/// Reads the requests of a connection.
struct RequestReader {
  private static let pieceBytes = 4_096

  private let socket: AsyncSocket
  private let peer: HTTPRequest.Address?
  private var head = RequestHead()

  init(_ socket: AsyncSocket) {
    self.socket = socket
    peer = (try? socket.socket.remotePeer()).map { .make(from: $0) }
  }

  /// The next request. A body that is too large, or does not say how large it is, is not read.
  ///
  /// - Throws: `RequestHead.TooLong`, `RequestHead.Malformed`, and the socket's error when the
  ///   connection ends.
  mutating func next() async throws -> HTTPRequest {
    while true {
      if let lines = try head.take() { return try await request(lines) }
      head.add(try await socket.read(atMost: Self.pieceBytes))
    }
  }

  private mutating func request(_ lines: [String]) async throws -> HTTPRequest {
    let words = lines[0].split(separator: " ", maxSplits: 2, omittingEmptySubsequences: true)
    guard words.count == 3 else { throw RequestHead.Malformed() }
    let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: true)
      guard parts.count == 2 else { continue }
      headers[HTTPHeader(parts[0].trimmingCharacters(in: .whitespaces))] =
        parts[1].trimmingCharacters(in: .whitespaces)
    }
    return HTTPRequest(
      method: HTTPMethod(String(words[0])), version: HTTPVersion(String(words[2])),
      target: HTTPRequest.Target(
        path: String(target[0]), query: target.count > 1 ? String(target[1]) : ""),
      headers: headers, body: try await body(headers), remoteAddress: peer)
  }

  private mutating func body(_ headers: HTTPHeaders) async throws -> HTTPBodySequence {
    let length = headers[.contentLength]
    // RFC 9112, 6.1: a request with both may be read in two ways.
    if headers[.transferEncoding] != nil {
      guard length == nil else { throw RequestHead.Malformed() }
      return HTTPBodySequence(from: UnreadBody(), suggestedBufferSize: Self.pieceBytes)
    }
    guard let length else { return HTTPBodySequence() }
    // RFC 9112, 6.3: after an invalid length, the end of the request is unknown.
    guard let count = Int(length), count >= 0 else { throw RequestHead.Malformed() }
    guard count <= ServedSite.bodyBytesMax else {
      return HTTPBodySequence(from: UnreadBody(), count: count)
    }
    var bytes = head.takeBody(count)
    while bytes.count < count {
      bytes += try await socket.read(atMost: min(Self.pieceBytes, count - bytes.count))
    }
    return HTTPBodySequence(data: Data(bytes))
  }
}

/// A body that is not read: its request is refused, and the connection is closed.
struct UnreadBody: AsyncBufferedSequence {
  typealias Element = UInt8

  struct Unread: Error {}

  struct Iterator: AsyncBufferedIteratorProtocol {
    mutating func next() async throws -> UInt8? { throw Unread() }
    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? { throw Unread() }
  }

  func makeAsyncIterator() -> Iterator { Iterator() }
}
