import RetakeBuffers
import RetakeCore
import RetakeStore

/// How the frames of a track are changed before they are encoded again.
struct FrameEdit {
  /// The time of the original that is zero in the copy.
  let originNanoseconds: Int64
  let pixels: (Frame) throws -> Frame

  private static let timeBase = TimeBase(1, 1_000_000_000)

  /// The row with its times counted from the origin.
  func row(_ row: FrameRecord) -> FrameRecord {
    var row = row
    row.ptsNanoseconds &-= originNanoseconds
    row.arrivalNanoseconds &-= originNanoseconds
    // Not shifted in the units of the original, which cannot represent each origin.
    row.pts = row.pts.map { _ in row.ptsNanoseconds }
    return row
  }

  func part(_ part: SegmentTrackRecord) -> SegmentTrackRecord {
    var part = part
    part.timeBase = Self.timeBase
    return part
  }
}
