import Foundation

extension MediaError {
  /// There was no memory for a picture or a packet; there may be for the next one.
  package var isOutOfMemory: Bool { cause == Self.outOfMemory }

  private static let outOfMemory = FFmpeg.text(-ENOMEM)
}
