package import RetakeCore

/// The results to show over an image.
package struct OverlayContent: Hashable, Sendable {
  /// Boxes are in pixels of the stored image.
  package var facts: [ResultFact]
  /// Class names of detections, by class index.
  package var classNames: [String]
  /// How much older than the image it is, in nanoseconds, if that is to be shown.
  package var ageNanoseconds: Int64?

  package init(facts: [ResultFact], classNames: [String] = [], ageNanoseconds: Int64? = nil) {
    (self.facts, self.classNames, self.ageNanoseconds) = (facts, classNames, ageNanoseconds)
  }
}
