import RetakeCore
import RetakeStore

/// Finds the first frame whose pixels are not those whose digest is stored.
///
/// Copies are written track by track, and a trim encodes the frames of its ends before it checks
/// the others: what they meet first need not be what a replay meets first.
struct FirstMismatch {
  let reader: SessionReader
  let tracks: [TrimSpan.Track]

  /// A frame's place in the order of capture.
  private struct Place: Comparable {
    var nanoseconds: Int64
    var track: Int
    var sequence: Int

    static func < (left: Place, right: Place) -> Bool {
      (left.nanoseconds, left.track, left.sequence)
        < (right.nanoseconds, right.track, right.sequence)
    }
  }

  private static let pageRows = 1_024

  /// Reads the frames in the order of capture until one does not have its pixels.
  ///
  /// - Parameter found: What was met; it is the answer where nothing comes before it.
  /// - Throws: `SessionError.interrupted`, and errors about memory.
  func error(
    orElse found: SessionError, _ report: @escaping @Sendable (SessionDoctor.Progress) -> Bool
  ) throws(SessionError) -> SessionError {
    let places = try self.places()
    var progress = TrimProgress(total: places.count, report: report)
    for place in places {
      try progress.advance()
      let source = TrimSource(reader: reader, track: .init(track: place.track, sequences: 0...0))
      do throws(SessionError) {
        _ = try source.frame(place.sequence)
      } catch {
        if case .pixelMismatch = error { return error }
        if error.isAboutMemory { throw error }
      }
    }
    return found
  }

  private func places() throws(SessionError) -> [Place] {
    var places: [Place] = []
    for track in tracks {
      for start in stride(
        from: track.sequences.lowerBound, through: track.sequences.upperBound, by: Self.pageRows)
      {
        let end = min(track.sequences.upperBound + 1, start + Self.pageRows)
        let rows = try fromStore { () throws(StoreError) in
          try reader.index.store.frames(track: track.track, sequences: start..<end)
        }
        for row in rows where row.packet != nil && row.cause == nil {
          places.append(
            Place(
              nanoseconds: row.ptsNanoseconds, track: track.track, sequence: row.sequence))
        }
      }
    }
    return places.sorted()
  }
}
