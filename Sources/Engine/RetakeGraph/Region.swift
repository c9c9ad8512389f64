public import RetakeBuffers
public import RetakeCore

/// One detection with the frame in which it was found. A forEach passes it to its body.
public struct Region: PipelineValue {
  /// The frame whose pixels are the coordinates of `detection.box`.
  public var frame: Frame
  /// The item of the forEach, with its box in pixels of `frame`.
  public var detection: Detection

  /// For a test of a stage that reads regions; in a run, a forEach makes them.
  public init(frame: Frame, detection: Detection) {
    self.frame = frame
    self.detection = detection
  }

  /// `region`.
  public static var valueKind: ValueKind { .region }

  /// Appends the detection, then the frame.
  public func digest(into hasher: inout DigestHasher) {
    Detections([detection], classNames: []).digest(into: &hasher)
    frame.digest(into: &hasher)
  }

  /// The detection of the region, without the frame.
  public var facts: [ResultFact] { [.detection(detection)] }
}
