import RetakeBuffers
import RetakeGraph

/// The samples of a frame of 8 bits, plane by plane, to be changed in place.
struct SamplePlanes {
  /// One plane, with all of its channels.
  struct Plane {
    var samples: [UInt8]
    let index: Int
    let rowBytes: Int
    let rows: Int
    /// Interleaved samples of one pixel.
    let channels: Int
    /// The sample value that brightness keeps.
    let black: Int
    /// Pixels for each sample.
    let step: (across: Int, down: Int)

    /// Whether the channel of a place in a row is opacity, which no perturbation changes.
    func isOpacity(_ place: Int) -> Bool { channels == 4 && place % 4 == 3 }

    /// - Parameter gain: In 1/100,000.
    mutating func scale(_ gain: Int) {
      let table = (0...255).map { level -> UInt8 in
        let product = (level - black) * gain + 50_000
        // A shift of the quotient toward minus infinity, so that all halves are rounded up.
        let quotient = product >= 0 ? product / 100_000 : -((-product + 99_999) / 100_000)
        return UInt8(min(max(black + quotient, 0), 255))
      }
      for place in samples.indices where !isOpacity(place) {
        samples[place] = table[Int(samples[place])]
      }
    }
  }

  private(set) var planes: [Plane]
  private(set) var isChanged = false

  init(of frame: Frame) {
    let format = frame.format
    let isLimited = frame.range == .limited && !format.isRGB
    planes = (0..<format.planeCount).map { plane in
      let isChroma = format.isYUV && plane > 0
      let channels =
        switch format {
        case .rgb, .bgr: 3
        case .bgra, .rgba: 4
        case .nv12: plane + 1
        default: 1
        }
      return Plane(
        samples: frame.bytes(of: plane), index: plane,
        rowBytes: format.rowBytes(plane: plane, width: frame.width),
        rows: format.rowCount(plane: plane, height: frame.height), channels: channels,
        black: isChroma ? 128 : isLimited ? 16 : 0, step: isChroma ? format.chromaStep : (1, 1))
    }
  }

  mutating func change(_ body: (inout Plane) -> Void) {
    for index in planes.indices { body(&planes[index]) }
    isChanged = true
  }

  /// A frame with these samples, and the properties of another frame of their format.
  func frame(like frame: Frame, _ context: StageContext) -> Frame {
    var made = context.makeFrame(like: frame)
    for plane in planes {
      made.forEachRow(of: plane.index) { row, bytes in
        let start = row * plane.rowBytes
        bytes.copyBytes(from: plane.samples[start..<start + plane.rowBytes])
      }
    }
    return made.finish()
  }

  /// The frame as I420, I422 or I444: the formats of JPEG. Not for RGB.
  func planar(_ frame: Frame) -> Frame {
    guard frame.format == .nv12 || frame.format == .gray else { return frame }
    let count =
      PixelFormat.i420.rowBytes(plane: 1, width: frame.width)
      * PixelFormat.i420.rowCount(plane: 1, height: frame.height)
    let chroma =
      frame.format == .gray
      ? [[UInt8](repeating: 128, count: count), [UInt8](repeating: 128, count: count)]
      : (0...1).map { channel in
        stride(from: channel, to: 2 * count, by: 2).map { planes[1].samples[$0] }
      }
    return Frame(
      format: .i420, width: frame.width, height: frame.height, range: .full,
      planes: [planes[0].samples] + chroma)
  }

  /// The samples of another image, in this layout; the opacity stays.
  func taking(_ other: SamplePlanes) -> SamplePlanes {
    var made = self
    made.isChanged = true
    if planes.count == 2, other.planes.count == 3 {
      made.planes[0].samples = other.planes[0].samples
      for place in other.planes[1].samples.indices {
        made.planes[1].samples[2 * place] = other.planes[1].samples[place]
        made.planes[1].samples[2 * place + 1] = other.planes[2].samples[place]
      }
      return made
    }
    for index in planes.indices {
      guard planes[index].channels == 4 else {
        made.planes[index].samples = other.planes[index].samples
        continue
      }
      for place in planes[index].samples.indices where !planes[index].isOpacity(place) {
        made.planes[index].samples[place] = other.planes[index].samples[place]
      }
    }
    return made
  }
}
