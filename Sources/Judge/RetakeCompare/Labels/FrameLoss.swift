package import RetakeCore

/// The errors in the results of one frame. Each object, false detection, change of an identity, text
/// and number counts up to 1.
package struct FrameLoss: Hashable, Sendable {
  package var frame: FrameID
  /// Objects that no detection found.
  package var missed = 0
  /// Detections without an object.
  package var extra = 0
  /// Objects whose identity in the results is another one than when they were last found.
  package var switched = 0
  /// Objects that were found as another class.
  package var wrongClass = 0
  /// The sum of 1 - IoU over the objects that were found with their class.
  package var misplaced = 0.0
  /// The sum over texts and numbers of their relative error, each at most 1. A number that the run
  /// does not return counts 1.
  package var misread = 0.0

  package init(frame: FrameID) { self.frame = frame }

  package var loss: Double {
    Double(missed + extra + switched + wrongClass) + misplaced + misread
  }
}
