import Foundation
public import RetakeBuffers
public import RetakeCore
import RetakeMedia
import RetakeStore

extension SessionReader {
  /// The exact frame, whatever was read before; fast in ascending order.
  ///
  /// - Throws: `SessionError.mediaMismatch` when the media's bytes differ from the indexed bytes,
  ///   `.unknownFrame`, `.noPixels` for a frame whose row has a cause, `.undecodable`, and
  ///   `.pixelMismatch` when the pixels do not match the stored digest.
  public func frame(_ id: FrameID) throws -> Frame { try pixels(of: id) }

  func pixels(of id: FrameID) throws -> Frame {
    try index.requireTrack(id.track)
    try requireWholeRows()
    return try pool.withRoom(track: id.track, frameBytes: frameBytes(of: id.track)) {
      try namingDamage { try read(id) }
    }
  }

  /// Visible bytes of the track's largest frame, according to the index.
  func frameBytes(of track: Int) -> Int {
    tracks.first { $0.track == track }?.frameBytes ?? 0
  }

  /// Decoding one frame also reads packets of others. The error names the frame that is damaged.
  func namingDamage<Result>(
    _ body: () throws -> Result
  ) throws -> Result {
    do {
      return try body()
    } catch SessionError.mediaMismatch(let file, let track, let packet, _, let cause) {
      throw SessionError.mediaMismatch(
        file: file, track: track, packet: packet, frame: index.frame(ofPacket: packet, of: track),
        cause: cause)
    }
  }

  private func read(_ id: FrameID) throws -> Frame {
    guard let record = try index.frame(id) else {
      throw SessionError.unknownFrame(session: folder.path, frame: id)
    }
    let picture = try picture(of: record, id: id)
    var decoded = try decode(picture, of: id)
    if options.verifiesPixels, let hash = record.pixelHash,
      decoded.frame.pixelDigest != hash
    {
      // The decoder may have come from other frames. A new one decides whether
      // the media is at fault.
      decoded = try again(picture, of: id, first: decoded, hash: hash)
    }
    if !decoded.run.position.isSpent { pool.put(decoded.run) }
    var frame = decoded.frame
    // Memory is planned with the sizes in the index.
    guard frame.visibleBytes <= frameBytes(of: id.track) else {
      throw SessionError.undecodable(
        session: folder.path, frame: id,
        cause: "it is \(frame.width)x\(frame.height), larger than any frame in the index")
    }
    frame.id = id
    frame.timestamp = Timestamp(nanoseconds: record.ptsNanoseconds)
    return frame
  }

  /// - Throws: `SessionError.noPixels` for a frame without a packet or with a cause.
  func picture(
    of record: FrameRecord, id: FrameID
  ) throws -> FrameRun.Picture {
    guard let packet = record.packet, record.cause == nil else {
      throw SessionError.noPixels(session: folder.path, frame: id, cause: record.cause ?? "shed")
    }
    let entry: Int
    // A recording that was never closed has no entries. Its key packets begin stretches that do not
    // depend on earlier packets (`MissingPixels`).
    if let known = record.entry {
      entry = known
    } else {
      entry = try index.store.keyPacket(track: id.track, atOrBefore: packet)
    }
    return FrameRun.Picture(
      packet: packet, shown: record.shown, entry: entry)
  }

  private struct Decoded {
    var frame: Frame
    var run: any PictureRun
    /// Whether the run began for this frame.
    var isFresh: Bool
  }

  private func decode(
    _ picture: FrameRun.Picture, of id: FrameID
  ) throws -> Decoded {
    try processes?.requireKept(picture, of: id)
    // A run that does not return the picture is not put back; a new decoder begins at the entry.
    if let run = pool.take(track: id.track, picture: picture, sequence: id.sequence),
      let frame = try run.decode(picture, id: id)
    {
      return Decoded(frame: frame, run: run, isFresh: false)
    }
    return try decodeAlone(picture, of: id, threads: threads(of: id.track))
  }

  private func decodeAlone(
    _ picture: FrameRun.Picture, of id: FrameID, threads: Int
  ) throws -> Decoded {
    let run = try makeRun(from: picture.entry, of: id.track, threads: threads)
    do {
      if let frame = try run.decode(picture, id: id) {
        return Decoded(frame: frame, run: run, isFresh: true)
      }
    } catch let error where threads > 1 && error.isAboutMemory {
      // One thread needs the least memory.
    }
    guard threads == 1 else { return try decodeAlone(picture, of: id, threads: 1) }
    throw noFrame(picture, of: id)
  }

  /// Threads of one decoder. Several chains are decoded at the same time, so only the decoders of
  /// long chains have threads of their own.
  private func threads(of track: Int) -> Int {
    chainsAreLong(in: track) ? options.decoderThreads : 1
  }

  /// A new decoder that begins at a packet.
  ///
  /// - Throws: An error if the process that decodes cannot be started.
  func makeRun(from packet: Int, of track: Int, threads: Int = 1) throws -> any PictureRun {
    guard let processes else { return ownRun(from: packet, of: track, threads: threads) }
    return try RemoteRun(
      track: track, from: packet, threads: threads, in: processes, memory: memory)
  }

  /// A new decoder in this process.
  func ownRun(from packet: Int, of track: Int, threads: Int) -> FrameRun {
    let table = IndexedTrack(index: index, track: track)
    return FrameRun(
      track: track, index: index,
      run: DecodeRun(
        fetcher: PacketFetcher(table: table), from: packet, memory: memory,
        threads: threads))
  }

  /// The error of a decoder that received all packets of a frame and did not return it.
  func noFrame(_ picture: FrameRun.Picture, of id: FrameID) -> SessionError {
    .undecodable(
      session: folder.path, frame: id,
      cause: "packet \(picture.packet), decoded from packet \(picture.entry), returns no frame")
  }

  /// The pixels do not match the stored digest: tries again with a new decoder.
  private func again(
    _ picture: FrameRun.Picture, of id: FrameID, first: Decoded, hash: Digest128
  ) throws -> Decoded {
    let threads = threads(of: id.track)
    if first.isFresh, threads == 1 {
      throw SessionError.pixelMismatch(session: folder.path, frame: id)
    }
    // With one thread: a frame thread of FFmpeg may return an image before another one finds an
    // error in it.
    let second = try decodeAlone(picture, of: id, threads: 1)
    if second.frame.pixelDigest == hash { return second }
    throw SessionError.pixelMismatch(session: folder.path, frame: id)
  }
}
