import RetakeCore
import RetakeSession

/// Finds the first frame whose pixels do not match the stored digest.
///
/// Copies are written track by track, and a trim encodes the frames at its ends before it checks
/// the others. The first mismatch of a copy is therefore not always the first mismatch of a replay.
struct FirstMismatch {
  let reader: SessionReader
  let tracks: [TrimSpan.Track]

  /// A frame's position in capture order.
  private struct Place: Comparable {
    var nanoseconds: Int64
    var track: Int
    var sequence: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.nanoseconds, left.track, left.sequence)
        < (right.nanoseconds, right.track, right.sequence)
    }
  }

  /// Reads the frames in capture order until one has different pixels.
  ///
  /// - Parameter found: The mismatch that was found; it is returned if no earlier one is found.
  /// - Throws: `SessionError.interrupted`, and errors about memory.
  func error(
    orElse found: SessionError, _ report: @escaping @Sendable (SessionCheck.Progress) -> Bool
  ) throws -> SessionError {
    let places = try self.places()
    var progress = TrimProgress(total: places.count, report: report)
    for place in places {
      try progress.advance()
      do {
        _ = try reader.frame(FrameID(track: place.track, sequence: place.sequence))
      } catch let error as any RetakeError where !error.isAboutMemory {
        // Other errors do not matter here: the caller has a mismatch, and wants the first.
        if let error = error as? SessionError, case .pixelMismatch = error { return error }
      }
    }
    return found
  }

  private func places() throws -> [Place] {
    var places: [Place] = []
    for track in tracks {
      let rows = try reader.index.store.frames(
        track: track.track, sequences: Range(track.sequences))
      for row in rows where row.packet != nil && row.cause == nil {
        places.append(
          Place(nanoseconds: row.ptsNanoseconds, track: track.track, sequence: row.sequence))
      }
    }
    return places.sorted()
  }
}
