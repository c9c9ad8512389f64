import Foundation
import RetakeCore
import Synchronization
import Testing

@testable import RetakeMedia

@Suite struct MuxerTests {
  /// Bytes in memory, with a disk that fails on request.
  final class Disk: Sendable {
    struct State {
      var bytes: [UInt8] = []
      var failure: Int32 = 0
      var writes = 0
    }
    let state = Mutex(State())

    var output: MediaOutput {
      MediaOutput { bytes, offset in
        self.state.withLock { state in
          state.writes += 1
          guard state.failure == 0 else { return state.failure }
          let end = Int(offset) + bytes.count
          if state.bytes.count < end {
            state.bytes += [UInt8](repeating: 0, count: end - state.bytes.count)
          }
          state.bytes.replaceSubrange(Int(offset)..<end, with: bytes)
          return 0
        }
      }
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var writes: Int { state.withLock { $0.writes } }
    func fail(_ number: Int32) { state.withLock { $0.failure = number } }
  }

  private let frame = Pictures.noise(.i420, width: 64, height: 48)

  private func encoder(_ name: String = "ffv1") throws -> MediaEncoder {
    try MediaEncoder(EncoderSettings(encoder: name, for: frame, timeBase: TimeBase(1, 1000)))
  }

  @Test(arguments: ["matroska", "mp4", "avi"])
  func `packets come back from each container as they were`(format: String) throws {
    let frames = (0..<8).map { Pictures.noise(.i420, width: 64, height: 48, seed: UInt32($0)) }
    let recording = try Recording("mpeg4", for: frames[0], format: format)
    var digests: [Digest128] = []
    for (index, frame) in frames.enumerated() {
      for packet in try recording.encoder.encode(
        frame, pts: Int64(index * 40), duration: 40)
      {
        digests.append(packet.digest)
        try recording.muxer.write(packet)
      }
    }
    try recording.finish()
    let demuxer = try MediaDemuxer(path: recording.file.path)
    var read: [Digest128] = []
    while let packet = try demuxer.nextPacket() { read.append(packet.digest) }
    #expect(read == digests)
    #expect(try decodeAll(recording.file.path).map(\.packetIndex) == Array(0..<8))
  }

  @Test func `what was flushed can be read although the file was never finished`() throws {
    let disk = Disk()
    let encoder = try encoder()
    let muxer = try MediaMuxer(to: disk.output, streams: [encoder.stream])
    for index in 0..<10 {
      for packet in try encoder.encode(frame, pts: Int64(index * 40)) { try muxer.write(packet) }
      if index == 5 {
        try muxer.flush()
        #expect(muxer.bytesWritten == Int64(disk.bytes.count))
      }
    }
    let file = try Clips.root.file("unfinished-\(UUID().uuidString).mkv")
    try Data(disk.bytes).write(to: file)
    let decoded = try decodeAll(file.path)
    #expect(decoded.count >= 6)
    #expect(decoded.allSatisfy { $0.frame.allBytes == frame.allBytes })
  }

  @Test func `a cluster ends after half a second without being asked to`() throws {
    let disk = Disk()
    let encoder = try encoder()
    let muxer = try MediaMuxer(to: disk.output, streams: [encoder.stream])
    for index in 0..<50 {
      for packet in try encoder.encode(frame, pts: Int64(index * 40)) { try muxer.write(packet) }
    }
    try muxer.finish()
    let cluster: [UInt8] = [0x1F, 0x43, 0xB6, 0x75]
    let bytes = disk.bytes
    let clusters = bytes.indices.dropLast(3).count { Array(bytes[$0..<$0 + 4]) == cluster }
    #expect((4...6).contains(clusters), "\(clusters) clusters in two seconds")
  }

  @Test(arguments: [(EIO, "Input/output error"), (ENOSPC, "No space left on device")])
  func `a failed write says the system's error and is never tried again`(
    number: Int32, text: String
  ) throws {
    let disk = Disk()
    let encoder = try encoder()
    let muxer = try MediaMuxer(to: disk.output, file: "video-00000.mkv", streams: [encoder.stream])
    for packet in try encoder.encode(frame, pts: 0) { try muxer.write(packet) }
    disk.fail(number)
    let error = #expect(throws: MediaError.self) { try muxer.flush() }
    #expect(
      error == .write(file: "video-00000.mkv", errorNumber: number, cause: text))
    let writes = disk.writes
    disk.fail(0)
    #expect(errorCode { try muxer.flush() } == "media.mux.write")
    #expect(errorCode { try muxer.finish() } == "media.mux.write")
    #expect(disk.writes == writes, "nothing is written behind a hole")
  }

  @Test func `a full disk is a typed error`() throws {
    let handle = try FileHandle(forWritingTo: URL(filePath: "/dev/full"))
    let encoder = try encoder()
    let error = #expect(throws: MediaError.self) {
      let muxer = try MediaMuxer(
        to: .descriptor(handle.fileDescriptor), streams: [encoder.stream])
      for packet in try encoder.encode(frame, pts: 0) { try muxer.write(packet) }
      try muxer.flush()
    }
    #expect(error?.code == "media.mux.write")
    #expect(error?.advice == "Free some space on the disk; df -h lists the disks")
  }

  @Test func `two tracks of one file stay apart`() throws {
    let disk = Disk()
    let encoders = [try encoder("ffv1"), try encoder("mpeg4")]
    let muxer = try MediaMuxer(to: disk.output, streams: encoders.map(\.stream))
    for index in 0..<6 {
      for (track, encoder) in encoders.enumerated() {
        for var packet in try encoder.encode(frame, pts: Int64(index * 40)) {
          packet.stream = track
          try muxer.write(packet)
        }
      }
    }
    try muxer.finish()
    let file = try Clips.root.file("two-\(UUID().uuidString).mkv")
    try Data(disk.bytes).write(to: file)
    #expect(try MediaDemuxer(path: file.path).videoStreams.map(\.codec) == ["ffv1", "mpeg4"])
    #expect(try (0..<2).map { try decodeAll(file.path, track: $0).count } == [6, 6])
  }

  @Test func `an unknown container or option is refused`() throws {
    let stream = try encoder().stream
    let disk = Disk()
    #expect(
      errorCode { _ = try MediaMuxer(format: "nonesuch", to: disk.output, streams: [stream]) }
        == "media.mux.refused")
    #expect(
      errorCode {
        _ = try MediaMuxer(
          to: disk.output, streams: [stream], options: [.init("nonesuch", "1")])
      } == "media.mux.refused")
  }
}
