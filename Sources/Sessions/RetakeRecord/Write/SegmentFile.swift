import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// One media file while it is written. Only the writer's thread uses it.
final class SegmentFile {
  let index: Int
  let path: String
  /// Relative to the session's folder.
  let file: String
  let epoch: StreamEpoch
  let startedNanoseconds: Int64
  /// Of the new file; nil if the sink makes no file.
  let identity: [UInt64]?
  private let sink: any SegmentSink
  private let muxer: MediaMuxer
  /// Offset of the end of the last commit.
  private var committedBytes: Int64 = 0
  private(set) var packetCount = 0

  /// Creates the file and writes its header.
  init(
    index: Int, track: Int, folder: String, epoch: StreamEpoch, startedNanoseconds: Int64,
    makeSink: (String) -> SinkResult
  ) throws(SegmentFailed) {
    file = Self.name(index: index, track: track)
    path = folder + "/" + file
    self.index = index
    self.epoch = epoch
    self.startedNanoseconds = startedNanoseconds
    switch makeSink(path) {
    case .failed(let number):
      throw SegmentFailed(.init(step: .open, file: file, errorNumber: number))
    case .sink(let sink): self.sink = sink
    }
    identity = FileSystem.identity(of: path)
    var stream = epoch.stream
    stream.index = 0
    // Only in the file: the row of the stream keeps the source's time base.
    stream.timeBase = ContainerTimeline.timeBase
    do {
      muxer = try MediaMuxer(to: sink.output, file: path, streams: [stream])
    } catch {
      sink.close()
      try? FileManager.default.removeItem(atPath: path)
      throw SegmentFailed(error, file: file)
    }
    // Without this a loss of power could remove the new file's name, and with it all committed
    // bytes of the file.
    let number = FileSystem.synchronizeFolder(folder + "/media")
    guard number == 0 else {
      abandon(keeping: .nothing)
      throw SegmentFailed(.init(step: .synchronize, file: file, errorNumber: number))
    }
  }

  /// `media/video-00000.mkv` belongs to track 0, `media/video-t2-00001.mkv` to track 2. Recovery
  /// from the media reads the track from the name.
  static func name(index: Int, track: Int) -> String {
    let digits = String(index)
    let padding = String(repeating: "0", count: max(0, 5 - digits.count))
    return "media/video-" + (track == 0 ? "" : "t\(track)-") + padding + digits + ".mkv"
  }

  var bytes: Int64 { muxer.bytesWritten }

  /// Passes a packet to the container, which may buffer it until the next commit.
  func write(_ packet: MediaPacket) throws(SegmentFailed) {
    try media { try muxer.write(packet) }
    packetCount += 1
  }

  /// Closes the cluster and makes all bytes durable.
  ///
  /// - Returns: the offsets of the packets' bytes, found by their checksums.
  func synchronize(placing packets: [PacketRecord]) throws(SegmentFailed) -> [Int64?] {
    try media { try muxer.flush() }
    // After the flush: the open cluster is in the muxer's memory until then.
    let number = sink.synchronize()
    guard number == 0 else {
      throw SegmentFailed(.init(step: .synchronize, file: file, errorNumber: number))
    }
    // libavformat does not report where it writes a packet's bytes, so they are looked up.
    let places = PacketPlaces(path: path, from: committedBytes).find(packets)
    committedBytes = muxer.bytesWritten
    return places
  }

  /// Ends the container and makes the file durable. It is the last write to the file.
  func finish() throws(SegmentFailed) {
    defer { sink.close() }
    try media { try muxer.finish() }
    let number = sink.synchronize()
    guard number == 0 else {
      throw SegmentFailed(.init(step: .synchronize, file: file, errorNumber: number))
    }
  }

  /// The part of a failed file that is kept.
  enum Remains {
    /// No commit refers to the file.
    case nothing
    /// The space of uncommitted bytes is freed, because the database needs it on a full disk.
    case committedBytes
    /// A file that could not be written or synced is not modified again.
    case allBytes
  }

  /// Closes a file that failed. Its committed part stays readable.
  func abandon(keeping remains: Remains) {
    if case .committedBytes = remains { sink.truncate(to: committedBytes) }
    sink.close()
    if case .nothing = remains { try? FileManager.default.removeItem(atPath: path) }
  }

  private func media(_ body: () throws -> Void) throws(SegmentFailed) {
    do { try body() } catch { throw SegmentFailed(error, file: file) }
  }
}

/// Finds the packets in a file that was just written. Each follows the last one after a few bytes.
struct PacketPlaces {
  let path: String
  /// No packet begins before this offset.
  let from: Int64

  /// Upper bound of the cluster and block headers between two packets.
  private static let gapBytesMax = 256
  /// Upper bound of the headers before the first packet.
  private static let headerBytesMax = 1 << 16

  /// - Returns: nil for a packet whose bytes were not found unchanged; it must then be demuxed to
  ///   read it.
  func find(_ packets: [PacketRecord]) -> [Int64?] {
    guard let file = try? MediaFile(path: path) else { return packets.map { _ in nil } }
    var next = from
    // Only a file's first packet comes after the headers, which contain the codec's extradata.
    var gap = from == 0 ? Self.headerBytesMax : Self.gapBytesMax
    return packets.map { packet in
      guard let place = place(of: packet, in: file, from: next, gap: gap) else {
        // The packet after it follows its bytes, which are there, and its headers.
        next += Int64(packet.size)
        gap = min(gap + Self.gapBytesMax, Self.headerBytesMax)
        return nil
      }
      next = place + Int64(packet.size)
      gap = Self.gapBytesMax
      return place
    }
  }

  /// Tries the few candidates in order; the checksum decides.
  ///
  /// - Parameter gap: Upper bound of the headers before the packet.
  private func place(
    of packet: PacketRecord, in file: MediaFile, from start: Int64, gap: Int
  ) -> Int64? {
    let window = min(Int64(gap + packet.size), file.size - start)
    guard packet.size > 0, window >= packet.size,
      let bytes = read(file, at: start, size: Int(window))?.bytes
    else { return nil }
    for offset in 0...(Int(window) - packet.size) {
      let end = offset + packet.size
      // The cheap test first: the checksum reads all of the packet for each candidate.
      if couldBegin(bytes, at: offset, size: packet.size),
        Digest128(of: bytes[offset..<end]) == packet.digest
      {
        return start + Int64(offset)
      }
    }
    return nil
  }

  /// In Matroska the block's flags come right before the data: 0x80 for a key block, otherwise 0.
  private func couldBegin(_ bytes: [UInt8], at offset: Int, size: Int) -> Bool {
    offset > 0 && bytes[offset - 1] & 0x7F == 0
  }

  private func read(_ file: MediaFile, at offset: Int64, size: Int) -> MediaPacket? {
    try? file.packet(index: 0, pts: nil, dts: nil, flags: [], offset: offset, size: size)
  }
}
