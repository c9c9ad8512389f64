import FlyingSocks
import Foundation
import RetakeBuffers

/// The peers whose last request contained the token.
final class AdmittedPeers: Sendable {
  /// The most peers; the oldest are removed.
  private static let countMax = 64
  private let ports = Locked<[UInt16]>([])

  func admit(port: UInt16) {
    ports.withLock { ports in
      ports.removeAll { $0 == port }
      ports.append(port)
      if ports.count > Self.countMax { ports.removeFirst() }
    }
  }

  func contains(_ peer: Socket.Address) -> Bool {
    guard case .ip4(_, let port) = peer else { return false }
    // The port is enough: all peers are on 127.0.0.1.
    return ports.withLock { $0.contains(port) }
  }
}
