package import RetakeCore

/// The line of decisions.gold that represents all folded decisions of up to 1,024 frames.
package struct DecisionFold: Hashable, Sendable {
  /// The most frames that one line represents.
  package static let size = 1_024

  package var track: Int
  package var first: Int
  package var last: Int
  package var count: Int
  package var digest: Digest128

  package init(track: Int, first: Int, last: Int, count: Int, digest: Digest128) {
    self.track = track
    self.first = first
    self.last = last
    self.count = count
    self.digest = digest
  }
}
