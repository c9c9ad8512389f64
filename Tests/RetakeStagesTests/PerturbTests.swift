import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeStages

/// The stage `perturb`: the arithmetic of each perturbation, on every format that it accepts.
@Suite struct PerturbTests {
  private func apply(
    _ frame: Frame, sequence: Int = 0, _ change: (inout PerturbOptions) -> Void
  ) throws -> Frame {
    var options = PerturbOptions()
    change(&options)
    return try Perturb(options: options).process(
      frame, StageContext(frame: FrameID(track: 0, sequence: sequence), timestamp: .zero))
  }

  private func gray(_ samples: [UInt8], width: Int, range: ColorRange = .full) -> Frame {
    Frame(
      format: .gray, width: width, height: samples.count / width, range: range, planes: [samples])
  }

  /// Samples that rise and fall in every plane.
  private func wavy(_ format: PixelFormat, width: Int = 33, height: Int = 21) -> Frame {
    Frame(
      format: format, width: width, height: height,
      planes: (0..<format.planeCount).map { plane in
        let row = format.rowBytes(plane: plane, width: width)
        return (0..<row * format.rowCount(plane: plane, height: height)).map {
          UInt8(60 + ($0 % row * 3 + $0 / row * 2 + plane * 20) % 130)
        }
      })
  }

  @Test func `without a perturbation a frame is passed through`() throws {
    for format in PixelFormat.basic {
      let frame = wavy(format)
      #expect(try apply(frame) { _ in }.digest == frame.digest)
    }
  }

  @Test func `brightness scales the distance from black, rounded half up`() throws {
    let samples: [UInt8] = [0, 5, 16, 100, 200, 255]
    func levels(_ percent: Double, _ range: ColorRange) throws -> [UInt8] {
      try apply(gray(samples, width: 6, range: range)) { $0.brightness = percent }.bytes(of: 0)
    }
    #expect(try levels(50, .full) == [0, 8, 24, 150, 255, 255])
    #expect(try levels(-50, .full) == [0, 3, 8, 50, 100, 128])
    // Black is 16: 16 + (100 - 16) * 0.5 = 58; 16 + (5 - 16) * 0.5 = 10.5.
    #expect(try levels(-50, .limited) == [8, 11, 16, 58, 108, 136])
    #expect(try levels(-100, .limited) == [16, 16, 16, 16, 16, 16])
    #expect(try levels(0.5, .full) == [0, 5, 16, 101, 201, 255])
  }

  @Test func `chroma keeps its neutral value, and opacity stays`() throws {
    let yuv = Frame(
      format: .i420, width: 2, height: 2, planes: [[100, 100, 100, 100], [128], [28]])
    let darker = try apply(yuv) { $0.brightness = -50 }
    #expect(darker.bytes(of: 1) == [128] && darker.bytes(of: 2) == [78])
    let colors = Frame(format: .rgba, width: 1, height: 1, planes: [[10, 20, 30, 40]])
    #expect(try apply(colors) { $0.brightness = 100 }.bytes(of: 0) == [20, 40, 60, 40])
    let all = try apply(colors) { ($0.noise, $0.blur, $0.jpeg) = (40, 2, 1) }
    #expect(all.bytes(of: 0)[3] == 40)
  }

  @Test func `noise has its deviation, and depends on seed and frame alone`() throws {
    let flat = gray([UInt8](repeating: 128, count: 256 * 256), width: 256)
    func noisy(_ sigma: Double, seed: Int = 1, sequence: Int = 0) throws -> [UInt8] {
      try apply(flat, sequence: sequence) { ($0.noise, $0.seed) = (sigma, seed) }.bytes(of: 0)
    }
    for sigma in [1.0, 5, 20] {
      let errors = try noisy(sigma).map { Double($0) - 128 }
      let mean = errors.reduce(0, +) / Double(errors.count)
      let deviation = (errors.reduce(0) { $0 + $1 * $1 } / Double(errors.count)).squareRoot()
      // 65,536 draws: the mean's own deviation is sigma / 256. Rounding to levels adds 1/12.
      #expect(abs(mean) < sigma / 50)
      #expect(abs(deviation - (sigma * sigma + 1.0 / 12).squareRoot()) < sigma / 50)
    }
    let first = try noisy(5)
    #expect(try noisy(5) == first)
    #expect(try noisy(5, seed: 2) != first && noisy(5, sequence: 1) != first)
    // Rows and columns have draws of their own.
    #expect(first[0..<256] != first[256..<512])
    // The bits are the same on every machine.
    #expect(first.prefix(12) == [126, 126, 130, 128, 131, 130, 123, 122, 129, 126, 138, 133])
  }

  @Test func `a blur keeps the sum, and spreads a point as a Gaussian does`() throws {
    #expect(
      try apply(gray([UInt8](repeating: 77, count: 600), width: 30)) { $0.blur = 4 }.bytes(of: 0)
        == [UInt8](repeating: 77, count: 600))
    var line = [UInt8](repeating: 0, count: 41 * 41)
    for row in 0..<41 { line[row * 41 + 20] = 255 }
    for sigma in [0.6, 1.5, 4] {
      let made = try apply(gray(line, width: 41)) { $0.blur = sigma }.bytes(of: 0)
      let row = made[20 * 41..<21 * 41].map(Double.init)
      let weights = (0..<41).map { exp(-pow(Double($0) - 20, 2) / (2 * sigma * sigma)) }
      let sum = weights.reduce(0, +)
      for x in 0..<41 { #expect(abs(row[x] - 255 * weights[x] / sum) <= 1.2, "\(sigma) \(x)") }
      #expect(row == row.reversed())
    }
  }

  @Test(arguments: PixelFormat.basic)
  func `JPEG of a lower quality has a larger error, in every format`(_ format: PixelFormat) throws {
    for (width, height) in [(64, 48), (33, 21), (1, 1)] {
      let frame = wavy(format, width: width, height: height)
      func error(_ quality: Int) throws -> Int {
        let made = try apply(frame) { $0.jpeg = quality }
        #expect(made.format == format && made.width == width && made.height == height)
        return (0..<format.planeCount).reduce(0) { sum, plane in
          zip(frame.bytes(of: plane), made.bytes(of: plane))
            .reduce(sum) { $0 + abs(Int($1.0) - Int($1.1)) }
        }
      }
      let (fine, coarse) = (try error(95), try error(5))
      if width > 1 { #expect(fine < coarse, "\(width)x\(height)") }
      #expect(try error(5) == coarse)
    }
  }

  @Test func `options out of their range are refused`() {
    for change: (inout PerturbOptions) -> Void in [
      { $0.noise = 65 }, { $0.blur = -1 }, { $0.brightness = -101 }, { $0.jpeg = 101 },
    ] {
      var options = PerturbOptions()
      change(&options)
      #expect(throws: OptionError.self) { try Perturb(options: options) }
    }
  }
}
