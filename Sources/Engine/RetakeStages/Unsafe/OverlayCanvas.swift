package import RetakeBuffers
import RetakeCore
import RetakeMedia

extension Frame {
  /// A copy of the frame with shapes drawn over it, in a pixel format of `PixelFormat.basic`;
  /// without shapes, in any. Shapes are positioned on the upright image, and clipped at its edges.
  /// All arithmetic is the same on every machine.
  package func drawing(_ shapes: [OverlayShape]) -> Frame {
    drawn(
      on: drawnStorage(shapes)
        ?? .withoutRoom(format: format, width: width, height: height))
  }

  /// The same, but it throws if an allocation fails. A frame that is not in a basic format is
  /// converted first.
  ///
  /// - Throws: `MediaError.noMemory`.
  package func drawingIfRoom(_ shapes: [OverlayShape]) throws -> Frame {
    guard format.isBasic else {
      return try MediaScaler().scale(self, format: format.nearestBasic).drawingIfRoom(shapes)
    }
    guard let storage = drawnStorage(shapes) else {
      throw MediaError.noMemory(step: "draw over an image of \(width)x\(height)", file: nil)
    }
    return drawn(on: storage)
  }

  private func drawnStorage(_ shapes: [OverlayShape]) -> FrameStorage? {
    let picture = OverlayImage(self)
    return FrameStorage.makeIfRoom(format: format, width: width, height: height) {
      planes, strides in
      for plane in planes.indices {
        var row = 0
        // Row by row, because the strides of the two planes may differ.
        forEachRow(of: plane) { source in
          // SAFETY: the new plane has as many rows, each at least as long as the visible one.
          UnsafeMutableRawBufferPointer(rebasing: planes[plane][(row * strides[plane])...])
            .copyMemory(from: source)
          row += 1
        }
      }
      let canvas = OverlayCanvas(
        frame: self, picture: picture, planes: planes, strides: strides)
      for shape in shapes { canvas.draw(shape) }
    }
  }

  private func drawn(on storage: FrameStorage) -> Frame {
    Frame(
      id: id, timestamp: timestamp, format: format, width: width, height: height, range: range,
      matrix: matrix, rotationDegrees: rotationDegrees, isMirrored: isMirrored,
      sampleAspect: sampleAspect,
      storage: storage)
  }
}

/// Draws into planes that are not shared yet. Everything consists of filled rectangles.
private struct OverlayCanvas {
  let frame: Frame
  let picture: OverlayImage
  let planes: [UnsafeMutableRawBufferPointer]
  let strides: [Int]

  func draw(_ shape: OverlayShape) {
    let ink = Ink(shape.color, for: frame)
    switch shape.form {
    case .outline(let box, let thickness): outline(box, Double(thickness), ink)
    case .fill(let box): fill(box, ink, alpha: shape.color.alpha)
    case .text(let text, let x, let y, let scale): write(text, x, y, scale, ink)
    case .line(let points, let thickness): line(points, thickness, ink)
    }
  }

  private func outline(_ box: Box, _ thickness: Double, _ ink: Ink) {
    // The sides of a small box must not overlap, or a transparent color would cover twice.
    let across = min(thickness, box.width / 2)
    let down = min(thickness, box.height / 2)
    // The left and right side leave out the corners, which a transparent color would cover twice.
    let sides = [
      Box(x: box.x, y: box.y, width: box.width, height: down),
      Box(x: box.x, y: box.y + box.height - down, width: box.width, height: down),
      Box(x: box.x, y: box.y + down, width: across, height: box.height - 2 * down),
      Box(
        x: box.x + box.width - across, y: box.y + down, width: across,
        height: box.height - 2 * down),
    ]
    for side in sides { fill(side, ink, alpha: ink.alpha) }
  }

  private func write(_ text: String, _ x: Int, _ y: Int, _ scale: Int, _ ink: Ink) {
    for (index, letter) in text.unicodeScalars.enumerated() {
      let left = x + index * GlyphAtlas.width * scale
      for (place, level) in GlyphAtlas.coverage(of: letter).enumerated() where level > 0 {
        let (column, row) = (place % GlyphAtlas.width, place / GlyphAtlas.width)
        let pixel = Box(
          x: Double(left + column * scale), y: Double(y + row * scale), width: Double(scale),
          height: Double(scale))
        fill(pixel, ink, alpha: UInt8(Int(ink.alpha) * Int(level) / Int(GlyphAtlas.levelMax)))
      }
    }
  }

  /// Draws a square of the line's thickness at each pixel along the longer side.
  private func line(_ points: [OverlayShape.Point], _ thickness: Int, _ ink: Ink) {
    for (from, to) in zip(points, points.dropFirst()) {
      let length = max(abs(to.x - from.x), abs(to.y - from.y))
      guard length.isFinite else { continue }
      // Bounds the loop, because a point may be anywhere.
      let steps = max(1, Int(min(length, 65_536).rounded(.up)))
      for step in 0...steps {
        let share = Double(step) / Double(steps)
        let dot = Box(
          x: (from.x + (to.x - from.x) * share).rounded(),
          y: (from.y + (to.y - from.y) * share).rounded(), width: Double(thickness),
          height: Double(thickness))
        fill(dot, ink, alpha: ink.alpha)
      }
    }
  }

  /// - Parameter box: On the upright image; its edges are rounded to pixels.
  private func fill(_ box: Box, _ ink: Ink, alpha: UInt8) {
    let stored = picture.stored(box)
    guard let columns = Self.span(stored.x, stored.width, side: frame.width),
      let rows = Self.span(stored.y, stored.height, side: frame.height), alpha > 0
    else { return }
    for plane in planes.indices { fill(plane, columns, rows, ink, Int(alpha)) }
  }

  private func fill(
    _ plane: Int, _ columns: Range<Int>, _ rows: Range<Int>, _ ink: Ink, _ alpha: Int
  ) {
    let across = frame.format.pixelsAcross(plane: plane)
    let down = frame.format.pixelsDown(plane: plane)
    let samples = ink.samples[plane]
    let limit = frame.format.rowBytes(plane: plane, width: frame.width)
    for row in rows.lowerBound / down...(rows.upperBound - 1) / down {
      let tall = Self.overlap(rows, row * down, down)
      for column in columns.lowerBound / across...(columns.upperBound - 1) / across {
        let wide = Self.overlap(columns, column * across, across)
        // A chroma sample that the shape covers in part gets that part of its color.
        let share = alpha * wide * tall / (across * down)
        for (index, sample) in samples.enumerated() {
          let place = column * samples.count + index
          guard place < limit else { continue }
          // SAFETY: the row is below the plane's number of rows and the place inside the row's
          // visible bytes, since the spans are inside the image.
          let offset = row * strides[plane] + place
          let old = Int(planes[plane][offset])
          planes[plane][offset] = UInt8((old * (255 - share) + Int(sample) * share + 127) / 255)
        }
      }
    }
  }

  /// The pixels of a side that are inside the image; `nil` if it is entirely outside.
  private static func span(_ start: Double, _ length: Double, side: Int) -> Range<Int>? {
    // All comparisons are false for NaN.
    guard length > 0, start < Double(side), start + length > 0 else { return nil }
    let first = Int(max(0, start).rounded())
    let end = Int(min(Double(side), start + length).rounded())
    return first < end ? first..<end : nil
  }

  /// Number of the `count` pixels from `start` on that are in the range.
  private static func overlap(_ range: Range<Int>, _ start: Int, _ count: Int) -> Int {
    min(range.upperBound, start + count) - max(range.lowerBound, start)
  }
}

/// A color in the samples of a frame's format, by plane.
private struct Ink {
  let alpha: UInt8
  let samples: [[UInt8]]

  init(_ color: OverlayColor, for frame: Frame) {
    alpha = color.alpha
    let (red, green, blue) = (Double(color.red), Double(color.green), Double(color.blue))
    // ITU-R BT.601, BT.709 and BT.2020: the weights of red and blue in luma.
    let shares: (red: Double, blue: Double) =
      switch frame.matrix {
      case .bt601, .identity: (0.299, 0.114)
      case .bt709: (0.2126, 0.0722)
      case .bt2020: (0.2627, 0.0593)
      }
    let luma = shares.red * red + (1 - shares.red - shares.blue) * green + shares.blue * blue
    let isFull = frame.range == .full
    let y = Self.byte(isFull ? luma : 16 + luma * 219 / 255)
    let chroma = isFull ? 1 : 224.0 / 255
    let u = Self.byte(128 + (blue - luma) / (2 * (1 - shares.blue)) * chroma)
    let v = Self.byte(128 + (red - luma) / (2 * (1 - shares.red)) * chroma)
    samples =
      switch frame.format {
      case .gray: [[y]]
      case .i420, .i422, .i444: [[y], [u], [v]]
      case .nv12: [[y], [u, v]]
      case .rgb: [[color.red, color.green, color.blue]]
      case .bgra: [[color.blue, color.green, color.red, 255]]
      case .rgba: [[color.red, color.green, color.blue, 255]]
      default: preconditionFailure("other formats are converted before they are drawn on")
      }
  }

  private static func byte(_ value: Double) -> UInt8 { UInt8(max(0, min(255, value.rounded()))) }
}

extension PixelFormat {
  /// Number of horizontally adjacent pixels per sample of a plane.
  fileprivate func pixelsAcross(plane: Int) -> Int {
    plane == 0 ? 1 : chromaStep.across
  }

  /// Number of vertically adjacent pixels per sample of a plane.
  fileprivate func pixelsDown(plane: Int) -> Int {
    plane == 0 ? 1 : chromaStep.down
  }
}
