import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Lossless presets store every pixel format: the decoder returns the format that the index names.
@Suite struct PresetFormatTests {
  /// Values of all bits of the format.
  private static func frame(
    _ format: PixelFormat, width: Int = 56, height: Int = 40
  ) -> Frame {
    let most = UInt32(1) << UInt32(format.bitsPerSample) - 1
    let planes = (0..<format.planeCount).map { plane -> [UInt8] in
      let row = format.rowBytes(plane: plane, width: width)
      let bytes = row * format.rowCount(plane: plane, height: height)
      let samples = (0..<(format.isDeep ? bytes / 2 : bytes)).map {
        (UInt32($0) &* 2_053 &+ UInt32(plane) &* 811) & most
      }
      guard format.isDeep else { return samples.map { UInt8($0) } }
      return samples.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
    }
    return Frame(
      format: format, width: width, height: height, range: .limited, planes: planes)
  }

  /// Encoded and decoded again; nil if the preset refuses the format.
  private static func stored(_ frame: Frame, _ preset: RecordingPreset) throws -> Frame? {
    let encoder = FrameEncoder(preset: preset, timeBase: TimeBase(1, 30))
    let encoded: EncodedFrame
    do {
      encoded = try encoder.encode(frame, wantsKey: true, hasTime: true)
    } catch {
      guard error.facts.code == "media.encode.format" else { throw error }
      return nil
    }
    let decoder = try MediaDecoder(stream: encoded.epoch.stream, memory: ImageMemory())
    let frames = try decoder.decode(encoded.packet)
    let decoded = try #require(frames.first?.frame)
    #expect(PixelFormat(ffmpegName: encoded.epoch.stream.pixelFormatName) == decoded.format)
    #expect(decoded.format == preset.format(for: frame.format))
    #expect(encoded.sight?.digest == decoded.pixelDigest)
    return decoded
  }

  @Test(
    .enabled(if: RecordingPreset.available.contains(.h264), "this FFmpeg has no encoder libx264"))
  func `h264 stores what its decoder gives, and refuses every other format`() throws {
    var refused: [String] = []
    for format in PixelFormat.allCases {
      let frame = Self.frame(format)
      guard let stored = try Self.stored(frame, .h264) else {
        refused.append(format.rawValue)
        continue
      }
      let isColor = format.isRGB
      #expect((RecordingPreset.h264.loss(of: format) == nil) == !isColor, "\(format)")
      if !isColor { #expect(stored.bytes(of: 0) == frame.bytes(of: 0), "\(format)") }
      if format.layout == .gray {
        let neutral: [UInt8] = format.isDeep ? [0, 2] : [128]
        for plane in 1...2 { #expect(Set(stored.bytes(of: plane)) == Set(neutral), "\(format)") }
      } else if stored.format == format {
        #expect(stored.pixelDigest == frame.pixelDigest, "\(format)")
      }
    }
    let kept = [
      "I420", "I422", "I444", "NV12", "GRAY8", "RGB24", "BGR24", "BGRA", "RGBA", "GRAY10",
      "I420P10", "I422P10", "I444P10",
    ]
    #expect(
      Set(refused) == Set(PixelFormat.allCases.map(\.rawValue)).subtracting(kept), "\(refused)")
  }

  @Test func `ffv1 keeps every sample, or refuses the format`() throws {
    var refused: [String] = []
    for format in PixelFormat.allCases {
      let frame = Self.frame(format)
      guard let stored = try Self.stored(frame, .ffv1) else {
        refused.append(format.rawValue)
        continue
      }
      #expect(RecordingPreset.ffv1.loss(of: format) == nil)
      if [.rgb, .bgr, .rgba].contains(format) {
        let (old, new) = (frame.bytes(of: 0), stored.bytes(of: 0))
        // Red, green and blue; then the opacity.
        let places = format == .rgb ? [2, 1, 0] : format == .bgr ? [0, 1, 2] : [2, 1, 0, 3]
        let moved = (0..<frame.width * frame.height).flatMap { pixel in
          places.map { new[4 * pixel + $0] }
        }
        #expect(moved == old, "\(format)")
      } else if format == .nv12 {
        #expect(stored.format == .i420 && stored.bytes(of: 0) == frame.bytes(of: 0))
      } else {
        #expect(stored.pixelDigest == frame.pixelDigest, "\(format)")
      }
    }
    // The encoder of FFmpeg 7 takes all formats.
    let refusals = [
      [], ["GRAY14", "I422AP12", "I444AP12"], ["GRAY14", "I422AP12", "I444AP12", "GBRAP16"],
    ]
    #expect(refusals.contains(refused), "\(refused)")
  }

  @Test(arguments: [PixelFormat.i411, .i410, .i420, .i422, .i440])
  func `ffv1 keeps the last chroma of every size`(format: PixelFormat) throws {
    for width in 46...55 {
      for height in [36, 37, 38, 40] {
        let frame = Self.frame(format, width: width, height: height)
        let stored = try Self.stored(frame, .ffv1)
        #expect(stored?.pixelDigest == frame.pixelDigest, "\(width)x\(height)")
      }
    }
  }

  @Test(
    .enabled(if: RecordingPreset.available.contains(.h264), "this FFmpeg has no encoder libx264"),
    arguments: [PixelFormat.rgb, .rgba, .bgra])
  func `a recording says what a lossless preset does not keep`(format: PixelFormat) throws {
    let folder = try TemporaryFolder()
    let reports = Reports()
    let result = try record(Scene(4, format: format), options: .test(folder, preset: .h264)) {
      reports.add($0)
    }
    let notes = try #require(result.progress.notes)
    try #require(notes.count == 1)
    #expect(notes[0].contains("\(format.rawValue) as I444"))
    #expect(notes[0].contains("opacity") == (format != .rgb))
    #expect(reports.all.last?.notes == notes)
  }

  @Test(arguments: [(RecordingPreset.ffv1, PixelFormat.rgba), (.h264, .i420), (.mpeg4, .rgb)])
  func `a recording that keeps what its preset promises has no notes`(
    preset: RecordingPreset, format: PixelFormat
  ) throws {
    guard RecordingPreset.available.contains(preset) else { return }
    let folder = try TemporaryFolder()
    let result = try record(Scene(4, format: format), options: .test(folder, preset: preset))
    #expect(result.progress.notes == nil)
  }

  @Test(
    .enabled(if: RecordingPreset.available.contains(.h264), "this FFmpeg has no encoder libx264"),
    arguments: [
      (PixelFormat.i420, 63, 41, "width and height"), (.i420, 64, 41, "width and height"),
      (.nv12, 63, 42, "width and height"), (.gray, 63, 42, "width and height"),
      (.i422, 63, 41, "width"),
    ])
  func `h264 of an odd size is one clear error, and leaves nothing`(
    format: PixelFormat, width: Int, height: Int, sides: String
  ) throws {
    let folder = try TemporaryFolder()
    let shots = (0..<2).map {
      Scene.Shot(width: width, height: height, format: format, pts: Int64($0))
    }
    let error = #expect(throws: MediaError.self) {
      _ = try record(Scene(shots), options: .test(folder, preset: .h264))
    }
    #expect(error?.code == "media.encode.size")
    #expect(error?.message.contains("\(width)x\(height); its \(sides) must be even") == true)
    #expect(error?.advice?.contains("--preset ffv1") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("yard").path))
    for preset in [RecordingPreset.ffv1, .mpeg4] {
      let other = try TemporaryFolder()
      let result = try record(Scene(shots), options: .test(other, preset: preset))
      #expect(result.status == .clean)
    }
  }

  @Test(
    .enabled(if: RecordingPreset.available.contains(.h264), "this FFmpeg has no encoder libx264"))
  func `sides that chroma does not halve may be odd`() throws {
    for (format, width, height) in [(PixelFormat.i422, 64, 41), (.i444, 63, 41), (.rgb, 63, 41)] {
      let shots = [Scene.Shot(width: width, height: height, format: format, pts: 0)]
      let folder = try TemporaryFolder()
      let result = try record(Scene(shots), options: .test(folder, preset: .h264))
      #expect(result.status == .clean, "\(format)")
      let frame = try SessionReader(opening: result.folder.path).frame(
        FrameID(track: 0, sequence: 0))
      #expect((frame.width, frame.height) == (width, height))
    }
  }

  @Test(
    .enabled(if: RecordingPreset.available.contains(.h264), "this FFmpeg has no encoder libx264"))
  func `gray of 10 bits is recorded with h264, and read again`() throws {
    let folder = try TemporaryFolder()
    let scene = Scene(3, format: .gray(bits: 10))
    let result = try record(scene, options: .test(folder, preset: .h264))
    #expect(result.status == .clean && result.progress.notes == nil)
    let reader = try SessionReader(opening: result.folder.path)
    #expect(reader.tracks.first?.format == .i420(bits: 10))
    for sequence in 0..<3 {
      let id = FrameID(track: 0, sequence: sequence)
      #expect(try reader.frame(id).bytes(of: 0) == scene.frame(id).bytes(of: 0))
    }
  }
}
