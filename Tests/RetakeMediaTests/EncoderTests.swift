import Foundation
import RetakeBuffers
import RetakeCore
import Testing

@testable import RetakeMedia

@Suite struct EncoderTests {
  @Test(arguments: [PixelFormat.i420, .i422, .i444, .gray])
  func `a lossless track comes back from the file exactly`(format: PixelFormat) throws {
    let frames = (0..<12).map {
      Pictures.noise(format, width: 101, height: 67, range: .limited, seed: UInt32($0 + 1))
    }
    let recording = try Recording("ffv1", for: frames[0])
    for (index, frame) in frames.enumerated() { try recording.add(frame, pts: Int64(index * 40)) }
    try recording.finish()
    let decoded = try decodeAll(recording.file.path)
    #expect(decoded.map { $0.frame.allBytes } == frames.map(\.allBytes))
    #expect(decoded.map(\.pts) == frames.indices.map { Int64($0 * 40) })
    #expect(decoded.allSatisfy { $0.frame.range == .limited })
  }

  @Test(arguments: [PixelFormat.i420, .i422, .i444, .gray])
  func `a lossless track of the smallest pictures comes back exactly`(format: PixelFormat) throws {
    let sizes = [1, 2, 3, 5, 7, 9, 23]
    for (width, height) in sizes.flatMap({ width in sizes.map { (width, $0) } }) {
      let frame = Pictures.noise(format, width: width, height: height, range: .limited)
      var settings = EncoderSettings(encoder: "ffv1", for: frame, timeBase: TimeBase(1, 25))
      settings.keyFrameInterval = 1
      settings.options = [.init("level", "3"), .init("slicecrc", "1")]
      let encoder = try MediaEncoder(settings)
      let decoder = try MediaDecoder(stream: encoder.stream)
      let packets = try encoder.encode(frame, pts: 0) + (try encoder.finish())
      let decoded = try packets.flatMap { try decoder.decode($0) } + (try decoder.decode(nil))
      #expect(decoded.map { $0.frame.allBytes } == [frame.allBytes], "\(width)x\(height)")
    }
  }

  @Test(arguments: MediaLibraries.recordingEncoders)
  func `every frame gives its packet at once, and key frames come in time`(name: String) throws {
    let frame = Pictures.noise(.i420, width: 96, height: 64, range: .limited)
    var settings = EncoderSettings(encoder: name, for: frame, timeBase: TimeBase(1, 25))
    settings.frameRate = FrameRate(25, 1)
    settings.keyFrameInterval = 10
    let encoder = try MediaEncoder(settings)
    var packets: [MediaPacket] = []
    for index in 0..<25 {
      let new = try encoder.encode(
        Pictures.noise(.i420, width: 96, height: 64, range: .limited, seed: UInt32(index)),
        pts: Int64(index), isKey: index == 13)
      #expect(new.count == 1, "packet \(index) is not held back")
      packets += new
    }
    #expect(try encoder.finish().isEmpty)
    #expect(packets.map(\.pts) == (0..<25).map { Int64($0) })
    #expect(packets.map(\.index) == Array(0..<25))
    let keys = packets.indices.filter { packets[$0].flags.contains(.key) }
    #expect(keys.first == 0)
    #expect(keys.contains(13) == (name != "ffv1"), "ffv1 keeps to its interval")
    #expect(zip(keys, keys.dropFirst() + [25]).allSatisfy { $1 - $0 <= 10 })
  }

  @Test func `the same frames give the same packets and the same file`() throws {
    let name = try #require(MediaLibraries.recordingEncoders.first)
    let files = try (0..<2).map { _ in
      let frames = (0..<10).map { Pictures.noise(.i420, width: 96, height: 64, seed: UInt32($0)) }
      let recording = try Recording(name, for: frames[0])
      for (index, frame) in frames.enumerated() { try recording.add(frame, pts: Int64(index * 33)) }
      try recording.finish()
      return try Data(contentsOf: recording.file)
    }
    #expect(files[0].count > 1000)
    #expect(files[0] == files[1])
  }

  @Test func `a full-range track says so in the file`() throws {
    let frame = Pictures.noise(.i420, width: 64, height: 48, range: .full)
    for name in ["mjpeg", "ffv1"] {
      let recording = try Recording(name, for: frame)
      try recording.add(frame, pts: 0)
      try recording.finish()
      let stream = try MediaDemuxer(path: recording.file.path).videoStream()
      #expect((stream.range, stream.rangeAssumed) == (.full, false))
      #expect((stream.matrix, stream.matrixAssumed) == (.bt601, false))
    }
  }

  @Test func `what an encoder cannot do is refused by name`() throws {
    func code(_ change: (inout EncoderSettings) -> Void) -> String? {
      var settings = EncoderSettings(
        encoder: "ffv1", width: 32, height: 32, format: .i420, timeBase: TimeBase(1, 25))
      change(&settings)
      return errorCode { _ = try MediaEncoder(settings) }
    }
    #expect(code { $0.encoder = "nonesuch" } == "media.encode.noEncoder")
    #expect(code { $0.format = .nv12 } == "media.encode.format")
    #expect(code { $0.options = [.init("nonesuch", "1")] } == "media.encode.option")
    #expect(code { $0.options = [.init("coder", "nonesuch")] } == "media.encode.refused")
    #expect(code { _ in } == nil)
  }

  @Test(.enabled(if: MediaLibraries.hasEncoder("libx264"), "this FFmpeg has no encoder libx264"))
  func `x264 is told before which sizes it takes`() throws {
    func code(_ width: Int, _ height: Int, _ format: PixelFormat) -> String? {
      errorCode {
        _ = try MediaEncoder(
          EncoderSettings(
            encoder: "libx264", width: width, height: height, format: format,
            timeBase: TimeBase(1, 25)))
      }
    }
    #expect(code(63, 42, .i420) == "media.encode.size")
    #expect(code(64, 41, .i420(bits: 10)) == "media.encode.size")
    #expect(code(63, 41, .i422) == "media.encode.size")
    #expect(code(64, 41, .i422) == nil && code(63, 41, .i444) == nil && code(64, 42, .i420) == nil)
  }

  @Test func `a frame of another size is refused`() throws {
    let settings = EncoderSettings(
      encoder: "ffv1", width: 32, height: 32, format: .i420, timeBase: TimeBase(1, 25))
    let encoder = try MediaEncoder(settings)
    let frame = Pictures.noise(.i420, width: 34, height: 32)
    #expect(errorCode { _ = try encoder.encode(frame, pts: 0) } == "media.encode.format")
  }

  @Test func `the libraries say their versions and encoders`() {
    #expect(MediaLibraries.versions.count == 5)
    #expect(MediaLibraries.fingerprint.contains(#/, libavcodec \d+\.\d+\.\d+, /#))
    #expect(MediaLibraries.hasEncoder("ffv1") && !MediaLibraries.hasEncoder("nonesuch"))
    #expect(MediaLibraries.hasDecoder(codec: "h264") && !MediaLibraries.hasDecoder(codec: "none"))
  }
}

/// An encoder and a muxer that write to a file of the test.
final class Recording {
  let file: URL
  let encoder: MediaEncoder
  let muxer: MediaMuxer
  private let handle: FileHandle

  init(_ name: String, for frame: Frame, format: String = "matroska") throws {
    file = try Clips.root.write("", to: "recording-\(UUID().uuidString).\(format)")
    handle = try FileHandle(forWritingTo: file)
    encoder = try MediaEncoder(
      EncoderSettings(encoder: name, for: frame, timeBase: TimeBase(1, 1000)))
    muxer = try MediaMuxer(
      format: format, to: .descriptor(handle.fileDescriptor), file: file.path,
      streams: [encoder.stream])
  }

  func add(_ frame: Frame, pts: Int64) throws {
    for packet in try encoder.encode(frame, pts: pts, duration: 40) { try muxer.write(packet) }
  }

  func finish() throws {
    for packet in try encoder.finish() { try muxer.write(packet) }
    try muxer.finish()
    try handle.close()
  }
}
