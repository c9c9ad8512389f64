import RetakeCore
package import RetakeStore

/// The losses of a session. Only this type derives the session's status from them: a session with a
/// frame that cannot be replayed is never called clean.
package struct SessionStanding: Hashable, Sendable {
  /// Frames whose pixels are in the media and cannot be trusted.
  private let damagedFrames: Int
  /// Frames without pixels.
  private let missingFrames: Int
  /// A recorder did not close it.
  private let wasCut: Bool
  /// Descriptions of the missing data.
  private let losses: [String]

  package init(
    damagedFrames: Int, missingFrames: Int = 0, wasCut: Bool = false, losses: [String] = []
  ) {
    (self.damagedFrames, self.missingFrames) = (damagedFrames, missingFrames)
    (self.wasCut, self.losses) = (wasCut, losses)
  }

  /// docs/sessions.md: `recovered` says that only the end is missing.
  package var status: SessionStatus {
    if damagedFrames > 0 { return .lossy }
    if wasCut { return .recovered }
    return missingFrames > 0 || !losses.isEmpty ? .lossy : .clean
  }

  /// For the table `meta`.
  package var facts: StoreWriter.Facts {
    [("status", status.rawValue)]
      + (losses.isEmpty ? [] : [("losses", losses.joined(separator: "; "))])
  }
}

extension StoreReader {
  /// The frames of a closed index that cannot be replayed.
  func frameCounts() throws -> (damaged: Int, missing: Int) {
    var (damaged, missing) = (0, 0)
    for track in Set(try segmentTracks().map(\.track)).sorted() {
      let counts = try counts(track: track)
      // A frame that was shed has a cause, too.
      damaged += max(0, counts.damaged - counts.shed)
      missing += counts.shed
    }
    return (damaged, missing)
  }
}
