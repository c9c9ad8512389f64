import RetakeBuffers
import RetakeCore
import RetakeGraph

package let anyContext = StageContext(frame: FrameID(track: 0, sequence: 0), timestamp: .zero)

/// A frame whose samples are a function of plane, row and byte.
package func frame(
  _ format: PixelFormat, _ width: Int, _ height: Int, range: ColorRange = .full,
  at milliseconds: Int = 0, _ sample: (_ plane: Int, _ y: Int, _ x: Int) -> Int
) -> Frame {
  let planes = (0..<format.planeCount).map { plane in
    (0..<format.rowCount(plane: plane, height: height)).flatMap { y in
      (0..<format.rowBytes(plane: plane, width: width)).map { UInt8(sample(plane, y, $0)) }
    }
  }
  return Frame(
    timestamp: Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000), format: format,
    width: width, height: height, range: range, planes: planes)
}

/// A GRAY8 frame from rows of levels.
package func gray(_ rows: [[UInt8]]) -> Frame {
  Frame(format: .gray, width: rows[0].count, height: rows.count, planes: [Array(rows.joined())])
}

/// A dark GRAY8 frame with bright rectangles.
package func dark(
  _ width: Int, _ height: Int, bright rectangles: [(x: Int, y: Int, width: Int, height: Int)],
  level: Int = 200
) -> Frame {
  frame(.gray, width, height) { _, y, x in
    rectangles.contains {
      ($0.x..<$0.x + $0.width).contains(x) && ($0.y..<$0.y + $0.height).contains(y)
    } ? level : 50
  }
}

/// A square that moves by two pixels a frame, on noise.
package func movingSquare(
  _ id: FrameID, _ format: PixelFormat, _ width: Int, _ height: Int
) -> Frame {
  let planes = (0..<format.planeCount).map { plane -> [UInt8] in
    let width = format.rowBytes(plane: plane, width: width)
    let height = format.rowCount(plane: plane, height: height)
    return (0..<height * width).map { place in
      let (x, y) = (place % width, place / width)
      let isSquare = abs(x - (id.sequence * 2) % width) < 6 && abs(y - height / 2) < 6
      var hash = UInt32(truncatingIfNeeded: place &* 31 &+ id.sequence &* 7_919 &+ plane)
      hash = (hash ^ (hash >> 13)) &* 0x5bd1_e995
      let value = isSquare ? 200 : UInt8(90 + hash >> 29)
      // The upper byte of a word has the bits beyond 8.
      guard format.isDeep, !place.isMultiple(of: 2) else { return value }
      return value & UInt8(1 << (format.bitsPerSample - 8) - 1)
    }
  }
  return Frame(
    id: id, format: format, width: width, height: height, range: .limited, planes: planes)
}

/// Whether two frames use the same memory at the same position.
package func share(_ one: Frame, _ other: Frame) -> Bool {
  one.storage.planes[0].base == other.storage.planes[0].base
}
