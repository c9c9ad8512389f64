import FlyingSocks
import Foundation

/// A body after which the connection is closed. Data that follows on it is never read as another
/// request.
struct LastWords: AsyncBufferedSequence {
  typealias Element = UInt8

  struct Closed: Error {}

  struct Iterator: AsyncBufferedIteratorProtocol {
    fileprivate var bytes: Data?

    mutating func next() async throws -> UInt8? {
      guard let first = bytes?.first else { throw Closed() }
      bytes = bytes?.dropFirst()
      return first
    }

    mutating func nextBuffer(suggested count: Int) async throws -> Data? {
      // FlyingFox closes a connection when sending its response throws. An end would keep it open.
      guard let all = bytes, !all.isEmpty else { throw Closed() }
      bytes = nil
      return all
    }
  }

  let bytes: Data

  func makeAsyncIterator() -> Iterator { Iterator(bytes: bytes) }
}
