package import RetakeMedia

/// Counts the interlaced frames of a track.
package struct InterlacedFrames: Sendable {
  private var counts: [VideoField: Int] = [:]

  package init() {}

  /// - Parameter field: The field that was exposed first; nil for a progressive frame.
  package mutating func add(_ field: VideoField?) {
    if let field { counts[field, default: 0] += 1 }
  }

  mutating func add(_ other: InterlacedFrames) {
    counts.merge(other.counts, uniquingKeysWith: +)
  }

  /// A sentence about the interlaced frames; nil without any.
  ///
  /// - Parameter all: The number of frames of the track.
  package func note(track: Int, of all: Int) -> String? {
    let (top, bottom) = (counts[.top] ?? 0, counts[.bottom] ?? 0)
    let count = top + bottom
    guard count > 0 else { return nil }
    let order =
      bottom == 0
      ? "top field first" : top == 0 ? "bottom field first" : "top field first in \(top)"
    return "track \(track): " + (count == all ? "the frames" : "\(count) of \(all) frames")
      + " are interlaced (\(order)): add a node deinterlace"
  }

  /// The note of a session for a part of it: a count is that of the whole.
  package static func noteOfPart(_ note: String) -> String? {
    guard note.contains(" are interlaced (") else { return nil }
    return note.replacing(/(\d+ of \d+ frames) are/) { "\($0.1) of the original are" }
  }
}
