package import RetakeBuffers
import RetakeMedia

extension Frame {
  /// Applies the mirror and the rotation, so that the image is as displayed; I420 only.
  ///
  /// - Throws: `MediaError.noMemory`.
  package func turnedUpright() throws -> Frame {
    precondition(format == .i420, "only I420 is turned")
    guard rotationDegrees != 0 || isMirrored else { return self }
    let picture = OverlayImage(self)
    let isOnItsSide = rotationDegrees % 180 == 90
    let storage = FrameStorage.makeIfRoom(
      format: format, width: picture.uprightWidth, height: picture.uprightHeight
    ) { planes, strides in
      for plane in planes.indices {
        let across = format.rowBytes(plane: plane, width: width)
        let down = format.rowCount(plane: plane, height: height)
        let (base, stride) = (self.storage.planes[plane].base, self.storage.planes[plane].stride)
        for y in 0..<(isOnItsSide ? across : down) {
          for x in 0..<(isOnItsSide ? down : across) {
            let (turned, row) =
              switch rotationDegrees {
              case 90: (y, down - 1 - x)
              case 180: (across - 1 - x, down - 1 - y)
              case 270: (across - 1 - y, x)
              default: (x, y)
              }
            let column = isMirrored ? across - 1 - turned : turned
            // SAFETY: column is below `across` and row below `down`, which the source's plane has;
            // x and y are in the new plane, which has the same sides, swapped for a quarter turn.
            planes[plane][y * strides[plane] + x] = base[row * stride + column]
          }
        }
      }
    }
    // The pointers above do not keep the storage: Swift may release it after its last use.
    withExtendedLifetime(self.storage) {}
    guard let storage else { throw MediaError.noMemory(step: "turn an image", file: nil) }
    // Without rotation and mirror, because the pixels are upright now.
    return Frame(
      id: id, timestamp: timestamp, format: format, width: picture.uprightWidth,
      height: picture.uprightHeight, range: range, matrix: matrix,
      sampleAspect: isOnItsSide
        ? SampleAspect(sampleAspect.denominator, sampleAspect.numerator) : sampleAspect,
      storage: storage)
  }
}
