package import RetakeBuffers
import RetakeGraph
import RetakeMedia

extension Frame {
  /// Applies the mirror and the rotation, so that the image is as displayed.
  ///
  /// - Throws: `MediaError.noMemory`.
  package func turnedUpright() throws -> Frame {
    precondition(format.isTurnable, "a quarter turn needs another format")
    let (shape, place) = (ImageShape(self), SampleTurn(self))
    guard !shape.turn.isNone else { return self }
    let storage = FrameStorage.makeIfRoom(
      format: format, width: place.width, height: place.height
    ) { planes, strides in
      for plane in planes.indices {
        guard let base = planes[plane].baseAddress else { continue }
        place.write(plane, to: base, stride: strides[plane])
      }
    }
    guard let storage else { throw MediaError.noMemory(step: "turn an image", file: nil) }
    // Without rotation and mirror, because the pixels are upright now.
    return Frame(
      id: id, timestamp: timestamp, format: format, width: place.width, height: place.height,
      range: range, matrix: matrix, sampleAspect: place.sampleAspect, storage: storage)
  }

  /// Writes the samples as displayed into a frame of the turned size.
  func writeUpright(to made: inout WritableFrame) {
    let place = SampleTurn(self)
    for plane in 0..<format.planeCount {
      made.withPlane(plane) { bytes, stride in
        guard let base = bytes.baseAddress else { return }
        place.write(plane, to: base, stride: stride)
      }
    }
  }

  /// As displayed.
  var uprightAspect: SampleAspect { SampleTurn(self).sampleAspect }
}

extension PixelFormat {
  /// Whether an image on its side has the same format: chroma has as many columns as rows.
  var isTurnable: Bool { chromaStep.across == chromaStep.down }

  /// Bytes of the smallest part of a plane's row that belongs together: a sample, a pair of chroma,
  /// or a packed pixel.
  fileprivate func unitBytes(plane: Int) -> Int {
    // One column has one of them.
    rowBytes(plane: plane, width: 1)
  }
}

/// Where the samples of a frame are as displayed.
private struct SampleTurn {
  private let frame: Frame
  private let turn: ImageTurn

  init(_ frame: Frame) {
    self.frame = frame
    turn = ImageShape(frame).turn
  }

  var width: Int { turn.isOnItsSide ? frame.height : frame.width }
  var height: Int { turn.isOnItsSide ? frame.width : frame.height }

  var sampleAspect: SampleAspect {
    let aspect = frame.sampleAspect
    return turn.isOnItsSide ? SampleAspect(aspect.denominator, aspect.numerator) : aspect
  }

  func write(_ plane: Int, to target: UnsafeMutableRawPointer, stride: Int) {
    switch frame.format.unitBytes(plane: plane) {
    case 1: write(plane, UInt8.self, to: target, stride: stride)
    case 2: write(plane, UInt16.self, to: target, stride: stride)
    case 3: write(plane, (UInt8, UInt8, UInt8).self, to: target, stride: stride)
    default: write(plane, UInt32.self, to: target, stride: stride)
    }
    // The pointers above do not keep the storage: Swift may release it after its last use.
    withExtendedLifetime(frame.storage) {}
  }

  private func write<Unit: BitwiseCopyable>(
    _ plane: Int, _ type: Unit.Type, to target: UnsafeMutableRawPointer, stride: Int
  ) {
    let unit = MemoryLayout<Unit>.size
    let across = frame.format.rowBytes(plane: plane, width: frame.width) / unit
    let down = frame.format.rowCount(plane: plane, height: frame.height)
    let source = frame.storage.planes[plane]
    for y in 0..<(turn.isOnItsSide ? across : down) {
      for x in 0..<(turn.isOnItsSide ? down : across) {
        let (turned, row) =
          switch turn.degrees {
          case 90: (y, down - 1 - x)
          case 180: (across - 1 - x, down - 1 - y)
          case 270: (across - 1 - y, x)
          default: (x, y)
          }
        let column = turn.isMirrored ? across - 1 - turned : turned
        // SAFETY: column is below `across` and row below `down`, which the source's plane has; x and
        // y are in the new plane, which has the same sides, swapped for a quarter turn.
        let value = UnsafeRawPointer(source.base).loadUnaligned(
          fromByteOffset: row * source.stride + column * unit, as: Unit.self)
        target.storeBytes(of: value, toByteOffset: y * stride + x * unit, as: Unit.self)
      }
    }
  }
}
