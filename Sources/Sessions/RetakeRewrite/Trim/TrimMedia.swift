import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Writes the media files of a trimmed session, one for each stretch of packets.
struct TrimMedia {
  let site: SessionFolder
  let track: Int

  /// A finished file, and its packets as a demuxer returns them.
  struct Piece {
    var name: String
    var bytes: Int64
    var packets: [PacketRecord]
  }

  func name(_ segment: Int, format: String = "matroska") -> String {
    let digits = String(segment)
    let number = String(repeating: "0", count: max(0, 5 - digits.count)) + digits
    let prefix = track == 0 ? "video-" : "video-t\(track)-"
    return "media/\(prefix)\(number)" + (format == "nut" ? ".nut" : ".mkv")
  }

  /// How a container is used to store packets. Some change the bytes, or reject irregular times.
  private struct Form {
    var format: String
    /// Use consecutive milliseconds instead of the packets' own times.
    var countsTimes: Bool
  }

  // The packets' own times first, for other programs; a container may reject these times, or change
  // the bytes.
  private static let forms = [
    Form(format: "matroska", countsTimes: false), Form(format: "matroska", countsTimes: true),
    Form(format: "nut", countsTimes: true),
  ]

  /// Copies packets unchanged to a file.
  ///
  /// - Parameters:
  ///   - origin: The pts that is time 0 in the file.
  ///   - fetch: Reads a packet by its number.
  /// - Returns: nil when no available container preserves their bytes.
  func copy(
    _ records: [PacketRecord], stream: MediaStream, segment: Int, origin: Int64,
    fetch: (Int) throws -> MediaPacket
  ) throws -> Piece? {
    for form in Self.forms {
      let name = name(segment, format: form.format)
      do {
        let file = try MuxedFile(
          site.path + "/" + name, format: form.format, stream: Self.timed(stream, form: form))
        for (place, record) in records.enumerated() {
          let packet = try fetch(record.index)
          try file.write(Self.timed(packet, form: form, place: place, origin: origin))
        }
        try file.finish()
        let piece = try read(name)
        // A muxer may succeed and store other bytes, so the file is read back.
        if piece.packets.map(\.digest) == records.map(\.digest) { return piece }
      } catch let error as MediaError
        where error.code != "media.mux.write" && !error.isAboutMemory
      {
        // If a container rejects the packets, try the next one. A full disk ends the trim.
      }
      try? FileManager.default.removeItem(atPath: site.path + "/" + name)
    }
    return nil
  }

  /// Encodes frames without loss, each packet independently.
  ///
  /// - Parameters:
  ///   - origin: The time, in nanoseconds, that is 0 in the file.
  ///   - next: Returns the next frame; nil at the end. All frames have the same shape.
  /// - Returns: the file, and the stream that decoders need.
  func encode(
    first: Frame, color: ColorLabels, segment: Int, origin: Int64,
    next: () throws -> Frame?
  ) throws -> (piece: Piece, stream: MediaStream) {
    let encoder = try Self.encoder(for: first, color)
    let name = name(segment)
    var stream = encoder.stream
    stream.index = 0
    let file = try MuxedFile(site.path + "/" + name, format: "matroska", stream: stream)
    var frame: Frame? = first
    var last: Int64 = -1
    while let current = frame {
      // Frames may have equal times, and the muxer demands rising times.
      last = max(last + 1, (current.timestamp.nanoseconds &- origin) / 1_000_000)
      for packet in try encoder.encode(current, pts: last, isKey: true) {
        try file.write(Self.alone(packet))
      }
      frame = try next()
    }
    for packet in try encoder.finish() { try file.write(Self.alone(packet)) }
    try file.finish()
    return (try read(name), stream)
  }

  private static func alone(_ packet: MediaPacket) -> MediaPacket {
    var packet = packet
    packet.stream = 0
    packet.dts = packet.dts ?? packet.pts
    return packet
  }

  private static func encoder(
    for frame: Frame, _ color: ColorLabels
  ) throws -> MediaEncoder {
    var settings = EncoderSettings(encoder: "ffv1", for: frame, timeBase: .milliseconds)
    settings.color = color
    settings.keyFrameInterval = 1
    // Checksums in each slice, so that the decoder notices damage (RFC 9043).
    settings.options = [.init("level", "3"), .init("slicecrc", "1")]
    if let encoder = try? MediaEncoder(settings) { return encoder }
    // FFV1 does not support every format; PNG supports RGB.
    settings.encoder = "png"
    settings.options = []
    do {
      return try MediaEncoder(settings)
    } catch is MediaError {
      throw SessionError.noLossless(format: frame.format.rawValue)
    }
  }

  private static func timed(_ stream: MediaStream, form: Form) -> MediaStream {
    var stream = stream
    stream.index = 0
    if form.countsTimes { stream.timeBase = .milliseconds }
    return stream
  }

  private static func timed(
    _ packet: MediaPacket, form: Form, place: Int, origin: Int64
  ) -> MediaPacket {
    var packet = packet
    packet.stream = 0
    if form.countsTimes {
      (packet.pts, packet.dts, packet.duration) = (Int64(place), Int64(place), 1)
    } else {
      // Wraps: a session may have any pts, and the rows keep the true times.
      packet.pts = packet.pts.map { $0 &- origin }
      packet.dts = packet.dts.map { $0 &- origin }
    }
    return packet
  }

  /// Reads the written file back, with the position of every packet.
  private func read(_ name: String) throws -> Piece {
    let path = site.path + "/" + name
    let (file, stream) = try (MediaFile(path: path), MediaDemuxer(path: path).videoStream())
    let findings = try PacketIndexer(file: file, streams: [stream]) { _ in true }.run()
    return Piece(
      name: name, bytes: file.size, packets: findings.packets[stream.index].map(Array.init) ?? [])
  }
}

/// A file with one stream, while it is written.
final class MuxedFile {
  private let handle: FileHandle
  private let muxer: MediaMuxer

  init(_ path: String, format: String, stream: MediaStream) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forUpdatingAtPath: path)
    else { throw SessionError.write(path, POSIXError.last) }
    self.handle = handle
    muxer = try MediaMuxer(
      format: format, to: .descriptor(handle.fileDescriptor), file: path, streams: [stream])
  }

  func write(_ packet: MediaPacket) throws {
    try muxer.write(packet)
  }

  func finish() throws {
    try muxer.finish()
  }
}
