import Foundation
package import RetakeCore

/// One difference between golden and result.
package struct ReportFinding: Hashable, Sendable, Codable {
  /// The root cause that it belongs to.
  package var rootCause: String?
  /// The comparator's name for the kind, such as `boxMoved` or `fate`.
  package var kind: String
  package var frame: FrameID?
  package var timeNanoseconds: Int64?
  package var sink: String?
  package var golden: String?
  package var actual: String?
  package var magnitude: Double?
  package var allowed: Double?
  package var unit: String?
  package var message: String
  /// Earlier differing decisions that this one follows from, nearest first.
  package var because: [String] = []
  /// The boxes to draw over the frame's image.
  package var boxes: [ReportBox] = []

  package init(
    kind: String, frame: FrameID?, sink: String? = nil, golden: String? = nil,
    actual: String? = nil, message: String
  ) {
    self.kind = kind
    self.frame = frame
    self.sink = sink
    self.golden = golden
    self.actual = actual
    self.message = message
  }
}
