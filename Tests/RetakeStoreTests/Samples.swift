import Foundation
import RetakeCore
import RetakeTestSupport

@testable import RetakeStore

/// A small session's rows: one segment, one track, `count` packets, as many frames, one event.
struct Sample {
  var count = 10

  var segment: SegmentRecord {
    SegmentRecord(index: 0, file: "media/original.mp4", isClosed: true, bytes: 4_000)
  }

  var track: SegmentTrackRecord {
    SegmentTrackRecord(
      segment: 0, track: 0, streamIndex: 0, codec: "h264", profile: 100, extradata: [1, 2, 3],
      width: 64, height: 48, pixelFormat: "yuv420p", range: "limited", rotationDegrees: 90,
      aspectNumerator: 4, aspectDenominator: 3, timeBase: TimeBase(1, 30), delay: 2)
  }

  var packets: [PacketRecord] {
    (0..<count).map { index in
      PacketRecord(
        track: 0, index: index, segment: 0, ordinal: index, pts: Int64(index),
        dts: index == 0 ? nil : Int64(index) - 1, duration: 1, flags: index == 0 ? [.key] : [],
        size: 100 + index, digest: Digest128(of: "packet \(index)"),
        offset: index == 3 ? nil : Int64(48 + 120 * index), sideData: index == 4 ? [9] : nil)
    }
  }

  var frames: [FrameRecord] {
    (0..<count).map { index in
      FrameRecord(
        track: 0, sequence: index, pts: index == 2 ? nil : Int64(index),
        ptsNanoseconds: Int64(index) * 33_333_333 - 7,
        arrivalNanoseconds: Int64(index) * 33_333_333, packet: index, entry: 0,
        pixelHash: Digest128(of: "pixels \(index)"), cause: index == 5 ? "decode.refused" : nil,
        assumed: index == 2 ? [.ptsFromDuration, .arrival] : [.arrival])
    }
  }

  var event: EventRecord {
    EventRecord(ordinal: 0, timeNanoseconds: -5, track: 0, source: "device", kind: "thermal")
  }

  var file: FileRecord {
    FileRecord(path: "media/original.mp4", role: "media", sha256: [UInt8](repeating: 7, count: 32))
  }

  func append(to writer: StoreWriter) {
    writer.append([segment])
    writer.append([track])
    writer.append(packets)
    writer.append(frames)
    writer.append([event])
    writer.append([file])
  }

  /// Writes and closes a database with these rows.
  @discardableResult
  func write(_ path: String, durability: StoreWriter.Durability = .building) throws
    -> StoreWriter.Commit
  {
    let writer = try StoreWriter(creating: path, durability: durability)
    append(to: writer)
    return try writer.close()
  }
}

/// Runs SQL without the store.
func sqlite(_ path: String, _ sql: String) throws {
  let result = try runCommand("sqlite3", arguments: [path, sql])
  guard result.status == 0 else { throw SQLFailed(message: result.stderr) }
}

/// The error's code, or `nil` if the body throws no error.
func code(_ body: () throws -> some Any) -> String? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? any CodedError)?.code ?? "\(error)"
  }
}

struct SQLFailed: Error {
  var message: String
}
