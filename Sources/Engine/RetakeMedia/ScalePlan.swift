import CFFmpeg
import RetakeBuffers

/// All inputs of a scaling. Equal plans produce equal pixels for equal images.
struct ScalePlan: Hashable {
  struct Side: Hashable {
    var width: Int
    var height: Int
    var format: AVPixelFormat
    var range: ColorRange
    var matrix: ColorMatrix

    static func == (left: Side, right: Side) -> Bool {
      left.width == right.width && left.height == right.height
        && left.format.rawValue == right.format.rawValue && left.range == right.range
        && left.matrix == right.matrix
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(width)
      hasher.combine(height)
      hasher.combine(format.rawValue)
      hasher.combine(range)
      hasher.combine(matrix)
    }
  }

  var source: Side
  var destination: Side
  var algorithm: MediaScaler.Algorithm
}
