import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// Files that are recorded while memory is missing at times.
@Suite struct MissedFrameTests {
  /// A decoder without memory for some of its packets.
  private final class Forgetful: PictureDecoding {
    private let decoder: MediaDecoder
    private let missing: ClosedRange<Int>

    init(_ decoder: MediaDecoder, missing: ClosedRange<Int>) {
      (self.decoder, self.missing) = (decoder, missing)
    }

    func decode(_ packet: MediaPacket?) throws -> [DecodedFrame] {
      if let packet, missing.contains(packet.index) {
        throw MediaError.noMemory(step: "decode an image", file: nil)
      }
      return try decoder.decode(packet)
    }
  }

  private func record(
    missing: ClosedRange<Int>, in folder: TemporaryFolder
  ) throws -> RecordingResult {
    let path = folder.file("clip.avi").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30",
        "-frames:v", "150", "-pix_fmt", "yuvj420p", "-c:v", "mjpeg", path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let source = try MediaFileSource(path: path) {
      Forgetful(try MediaDecoder(stream: $0, file: $1), missing: missing)
    }
    return try Recorder(source, options: .test(folder), machine: .still()).run()
  }

  @Test func `a frame of a file that there is no memory for has its row, with its time and cause`()
    throws
  {
    let folder = try TemporaryFolder()
    let result = try record(missing: 40...44, in: folder)
    #expect(result.failure == nil && result.isClosed && result.status == .lossy)
    let frames = result.progress.frames
    #expect(frames.captured == 150 && frames.recorded == 145)
    #expect(frames.missing == ["record.shed.memory": 5])
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.pts) == (0..<150).map { Int64($0) })
    #expect(rows.all.filter { $0.cause != nil }.map(\.sequence) == Array(40...44))
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().isHealthy)
  }

  /// A scene without memory for some of its images.
  private struct ForgetfulScene: FrameReader {
    let missing: ClosedRange<Int>
    let frames = 150

    var tracks: [TrackDescription] {
      [
        TrackDescription(
          track: 0, timeBase: TimeBase(1, 1_000), format: .i420, width: 64, height: 48,
          frameCount: frames)
      ]
    }

    func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
      sequences.clamped(to: 0..<frames).map {
        FrameEntry(
          id: FrameID(track: 0, sequence: $0), pts: Int64($0) * 40,
          timestamp: Timestamp(nanoseconds: Int64($0) * 40_000_000))
      }
    }

    func chain(of id: FrameID) -> Int { id.sequence }

    func frame(_ id: FrameID) throws -> Frame {
      guard !missing.contains(id.sequence) else {
        throw MediaError.noMemory(step: "draw an image", file: nil)
      }
      let level = UInt8(id.sequence)
      return Frame(
        id: id, format: .i420, width: 64, height: 48, range: .limited,
        planes: [64 * 48, 32 * 24, 32 * 24].map { [UInt8](repeating: level, count: $0) })
    }
  }

  @Test(arguments: [(40...44, true), (10...149, false)])
  func `a picture of a scene that there is no memory for has its row, and many end the recording`(
    missing: ClosedRange<Int>, isWhole: Bool
  ) throws {
    let folder = try TemporaryFolder()
    let source = try ReaderSource(ForgetfulScene(missing: missing), name: "scene")
    let result = try Recorder(source, options: .test(folder), machine: .still()).run()
    #expect(result.isClosed)
    #expect((result.failure == nil) == isWhole, "\(result.failure as Any)")
    let frames = result.progress.frames
    #expect(frames.recorded == (isWhole ? 145 : 10))
    #expect(frames.missing == ["record.shed.memory": isWhole ? 5 : 99])
  }

  @Test func `a file that there is no memory for any more ends the recording with its cause`()
    throws
  {
    let folder = try TemporaryFolder()
    let result = try record(missing: 10...149, in: folder)
    #expect(result.failure?.code == "record.source.lost" && result.isClosed)
    #expect(result.failure?.cause?.contains("no memory") == true, "\(result.failure as Any)")
    #expect(result.progress.frames.recorded == 10)
    #expect(result.progress.frames.missing["record.shed.memory"] == 99)
  }
}
