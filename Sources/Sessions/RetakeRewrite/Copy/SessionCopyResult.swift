import Foundation
package import RetakeCore
package import RetakeSession

/// The result of making a session from another one.
package struct SessionCopyResult: Hashable, Sendable, Codable {
  package var path: String
  package var status: SessionStatus
  package var frames: Int
  /// Number of frames that cannot be replayed, in the original either.
  package var damagedFrames: Int
  package var sessionDigest: Digest128
  /// Remarks for the reader.
  package var notes: [String]
}
