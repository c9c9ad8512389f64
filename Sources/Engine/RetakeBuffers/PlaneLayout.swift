/// The layout of planes in new memory and in a cache: rows at multiples of
/// `FrameStorage.alignment`, without gaps between planes. In bytes, by plane.
package struct PlaneLayout: Sendable {
  package private(set) var strides: [Int] = []
  package private(set) var offsets: [Int] = []
  /// The size of all planes together.
  package private(set) var count = 0

  package init(format: PixelFormat, width: Int, height: Int) {
    let alignment = FrameStorage.alignment
    for plane in 0..<format.planeCount {
      let stride =
        (format.rowBytes(plane: plane, width: width) + alignment - 1) / alignment * alignment
      strides.append(stride)
      offsets.append(count)
      count += stride * format.rowCount(plane: plane, height: height)
    }
  }
}
