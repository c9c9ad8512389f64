import Foundation
import RetakeBuffers
import RetakeMedia
import Testing

@testable import RetakePreview

/// SDL's color conversion is one setting of the process, so one test runs at a time.
@Suite(.serialized) struct SDLTests {}

extension SDLTests {
  /// The window's colors compared with FFmpeg's scaler, on flat fields: each renderer interpolates
  /// chroma between fields in its own way.
  @Suite struct PixelTests {
    /// The tolerance of a sample in levels: SDL's own conversion computes in units of 1/64.
    static let levelsMax = 4

    struct Kind: CustomTestStringConvertible, Sendable {
      var format: PixelFormat
      var range: ColorRange
      var matrix: ColorMatrix

      var testDescription: String { "\(format.rawValue) \(range.rawValue) \(matrix.rawValue)" }
    }

    static let kinds: [Kind] = PixelFormat.basic.flatMap { format -> [Kind] in
      let ranges: [ColorRange] = format.isYUV || format == .gray ? [.limited, .full] : [.full]
      let matrices: [ColorMatrix] = format.isYUV ? [.bt601, .bt709, .bt2020] : [.identity]
      return ranges.flatMap { range in
        matrices.map { Kind(format: format, range: range, matrix: $0) }
      }
    }

    @Test(arguments: kinds)
    func `a canvas shows the colors that swscale gives`(kind: Kind) throws {
      let frame = Fields.frame(kind.format, range: kind.range, matrix: kind.matrix)
      let seen = try Shown.picture(of: frame)
      let wanted = try MediaScaler().scale(Fields.colored(frame), format: .bgra)
      #expect(Fields.difference(seen, wanted) <= Self.levelsMax)
    }

    @Test func `a conversion that SDL does not have would be seen`() throws {
      var frame = Fields.frame(.i420, range: .full, matrix: .bt709)
      let wanted = try MediaScaler().scale(frame, format: .bgra)
      frame.matrix = .bt601
      #expect(Fields.difference(try Shown.picture(of: frame), wanted) > 3 * Self.levelsMax)
    }

    @Test(arguments: [0, 90, 180, 270])
    func `a picture is turned as its metadata says`(degrees: Int) throws {
      var frame = Corners.frame(width: 48, height: 32)
      frame.rotationDegrees = degrees
      let (width, height) = degrees % 180 == 0 ? (48, 32) : (32, 48)
      let seen = try Shown.picture(of: frame, width: width, height: height)
      #expect(Corners.clockwise(seen) == Corners.turned(by: degrees))
    }

    @Test(arguments: [0, 90, 180, 270])
    func `a mirrored picture is mirrored before it is turned`(degrees: Int) throws {
      var frame = Corners.frame(width: 48, height: 32)
      (frame.rotationDegrees, frame.isMirrored) = (degrees, true)
      let (width, height) = degrees % 180 == 0 ? (48, 32) : (32, 48)
      let seen = try Shown.picture(of: frame, width: width, height: height)
      #expect(Corners.clockwise(seen) == Corners.turned(by: degrees, isMirrored: true))
    }

    @Test(arguments: [SampleAspect(2, 1), SampleAspect(1, 2), SampleAspect(4, 3)])
    func `pixels that are not square have their own width`(aspect: SampleAspect) throws {
      var frame = Corners.frame(width: 48, height: 48)
      frame.sampleAspect = aspect
      let seen = try Shown.picture(of: frame, width: 96, height: 96)
      let fit = ImageFit(frame, in: CanvasRect(0, 0, 96, 96))
      let ratio = Double(fit.shown.width) / Double(fit.shown.height)
      #expect(abs(ratio - Double(aspect.numerator) / Double(aspect.denominator)) < 0.03)
      #expect(Corners.clockwise(seen, in: fit.shown) == Corners.turned(by: 0))
      // The rest of the window stays black.
      let outside = fit.shown.x > 0 ? (0, 48) : (48, 0)
      #expect(Corners.color(of: seen, at: outside) == [0, 0, 0])
    }

    @Test(arguments: [PixelFormat.i420, .nv12, .gray, .rgb, .i422, .i444])
    func `odd sizes are shown whole`(format: PixelFormat) throws {
      let frame = try MediaScaler().scale(
        Corners.frame(width: 48, height: 32), width: 37, height: 23, format: format)
      let seen = try Shown.picture(of: frame)
      #expect((seen.width, seen.height) == (37, 23))
      let wanted = try MediaScaler().scale(frame, format: .bgra)
      for corner in [(2, 2), (34, 2), (34, 20), (2, 20)] {
        let (one, other) = (
          Corners.color(of: seen, at: corner), Corners.color(of: wanted, at: corner)
        )
        #expect(zip(one, other).allSatisfy { abs(Int($0) - Int($1)) <= Self.levelsMax })
      }
    }
  }

}

/// Sixteen flat fields of 16x16 pixels each.
enum Fields {
  static let side = 64

  static func frame(
    _ format: PixelFormat, range: ColorRange, matrix: ColorMatrix
  ) -> Frame {
    let storage = FrameStorage.make(format: format, width: side, height: side) { planes, strides in
      for plane in 0..<format.planeCount {
        let rows = format.rowCount(plane: plane, height: side)
        let rowBytes = format.rowBytes(plane: plane, width: side)
        for y in 0..<rows {
          for x in 0..<rowBytes {
            let field = (y * 4 / rows) * 4 + x * 4 / rowBytes
            planes[plane][y * strides[plane] + x] = level(
              format, plane: plane, byte: x, field: field, range: range)
          }
        }
      }
    }
    return Frame(
      format: format, width: side, height: side, range: range, matrix: matrix, storage: storage)
  }

  private static func level(
    _ format: PixelFormat, plane: Int, byte x: Int, field: Int, range: ColorRange
  ) -> UInt8 {
    switch format {
    case .bgra, .rgba: return x % 4 == 3 ? 255 : UInt8((field * 53 + x % 4 * 91) % 256)
    case .rgb: return UInt8((field * 53 + x % 3 * 91) % 256)
    default: break
    }
    let isChroma = plane > 0
    let (low, high) =
      range == .full ? (0, 255) : (16, isChroma ? 240 : 235)
    if !isChroma { return UInt8(low + (high - low) * field / 15) }
    let second = plane == 2 || format == .nv12 && x % 2 == 1
    let steps = [0, 1, 2, 3].map { 128 + ($0 - 2) * 40 + ($0 == 2 ? 0 : 20) }
    return UInt8(max(low, min(high, second ? steps[(field * 7 + 1) / 3 % 4] : steps[field % 4])))
  }

  /// A limited gray frame with neutral chroma: without chroma, the scaler treats gray as full
  /// range.
  static func colored(_ frame: Frame) -> Frame {
    guard frame.format == .gray else { return frame }
    let chroma = [UInt8](repeating: 128, count: side / 2 * side / 2)
    var result = Frame(
      format: .i420, width: side, height: side, range: frame.range,
      planes: [frame.bytes(of: 0), chroma, chroma])
    result.matrix = .bt601
    return result
  }

  /// The largest color difference in the middle of a field.
  static func difference(_ one: Frame, _ other: Frame) -> Int {
    let (a, b) = (one.bytes(of: 0), other.bytes(of: 0))
    var most = 0
    for row in 0..<4 {
      for column in 0..<4 {
        let pixel = ((row * 16 + 8) * side + column * 16 + 8) * 4
        for color in 0..<3 {
          most = max(most, abs(Int(a[pixel + color]) - Int(b[pixel + color])))
        }
      }
    }
    return most
  }
}

enum Shown {
  /// The frame on a canvas in memory, at the size at which a person sees it.
  static func picture(of frame: Frame, width: Int? = nil, height: Int? = nil) throws -> Frame {
    try picture(
      of: frame, on: Canvas.memory(width: width ?? frame.width, height: height ?? frame.height))
  }

  /// The frame as the canvas shows it, read back from there.
  static func picture(of frame: Frame, on canvas: Canvas, _ grading: Grading? = nil) throws -> Frame
  {
    let picture = try canvas.painter.makeImage(grading)
    canvas.painter.clear(.black)
    try picture.upload(picture.converted(frame))
    try picture.draw(ImageFit(frame, in: canvas.area))
    return try canvas.painter.picture()
  }
}

/// Four quarters: red, green, blue and white, clockwise from the top left.
enum Corners {
  static let colors: [[UInt8]] = [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255]]

  static func frame(width: Int, height: Int) -> Frame {
    let pixels = (0..<height).flatMap { y in
      (0..<width).flatMap { x -> [UInt8] in
        let quarter = y < height / 2 ? (x < width / 2 ? 0 : 1) : (x < width / 2 ? 3 : 2)
        return colors[quarter]
      }
    }
    return Frame(format: .rgb, width: width, height: height, planes: [pixels])
  }

  /// The colors clockwise from the top left after a rotation.
  static func turned(by degrees: Int, isMirrored: Bool = false) -> [[UInt8]] {
    // Mirrored, the two at the top and the two at the bottom change places.
    let colors = isMirrored ? [1, 0, 3, 2].map { Self.colors[$0] } : Self.colors
    return (0..<4).map { colors[($0 - degrees / 90 + 4) % 4] }
  }

  static func clockwise(_ picture: Frame, in rect: CanvasRect? = nil) -> [[UInt8]] {
    let rect = rect ?? CanvasRect(0, 0, picture.width, picture.height)
    return [(1, 1), (3, 1), (3, 3), (1, 3)].map {
      color(of: picture, at: (rect.x + rect.width * $0.0 / 4, rect.y + rect.height * $0.1 / 4))
    }
  }

  /// Red, green and blue.
  static func color(of picture: Frame, at place: (Int, Int)) -> [UInt8] {
    let bytes = picture.bytes(of: 0)
    let pixel = (place.1 * picture.width + place.0) * 4
    return [bytes[pixel + 2], bytes[pixel + 1], bytes[pixel]]
  }
}
