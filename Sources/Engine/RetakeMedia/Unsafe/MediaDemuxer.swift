import CFFmpeg
import RetakeCore

/// Splits a container into packets, in the container's order.
///
/// Only formats that contain their own media are opened, and only from a file: never a playlist or
/// the network. It may move between threads, but only one thread at a time uses it.
package final class MediaDemuxer: @unchecked Sendable {
  // SAFETY: @unchecked because the context is a pointer. It is made here, used by one thread at a
  // time by the rule above, and freed once, in deinit.
  package let path: String
  /// FFmpeg's name of the container, such as `mov,mp4,m4a,3gp,3g2,mj2`.
  package let format: String
  package let streams: [MediaStream]
  /// Number of bytes that the container's index refers to and the truncated file does not have.
  package let missingBytes: Int64
  private let fileBytes: Int64
  /// False for formats without times, for which FFmpeg computes some from the order of decoding.
  private let hasTimes: Bool
  private(set) var context: UnsafeMutablePointer<AVFormatContext>?
  private var counts: [Int]

  /// Opens a file and analyses its streams.
  ///
  /// - Throws: `MediaError`, with one case for each way in which a file can be unsuitable.
  package init(path: String) throws {
    _ = FFmpeg.quiet
    let file = try MediaFile(path: path)
    let context = try Self.open(file)
    self.context = context
    self.path = path
    format = String(cString: context.pointee.iformat.pointee.name)
    streams = try Self.timed(Self.streams(of: context), format: format, in: file)
    counts = streams.map { _ in 0 }
    hasTimes = !ContainerFormats.untimed.contains(format)
    fileBytes = file.size
    missingBytes = max(0, Self.indexedEnd(context) - file.size)
  }

  deinit {
    avformat_close_input(&context)
  }

  private var isMovie: Bool { format.split(separator: ",").contains("mov") }

  /// All video streams except attached pictures.
  package var videoStreams: [MediaStream] {
    streams.filter { $0.kind == .video && !$0.isAttachedPicture }
  }

  /// The video stream with the container's index `track`, or the first one.
  ///
  /// - Throws: `MediaError.noVideo` or `.noTrack`, or that the index was cut short before it says
  ///   how the video is coded.
  package func videoStream(_ track: Int? = nil) throws -> MediaStream {
    if isMovie, videoStreams.allSatisfy({ $0.codec == "none" && $0.fourCharacters == nil }) {
      try ContainerFormats.refuseCutIndex(path)
    }
    guard let first = videoStreams.first else { throw MediaError.noVideo(file: path) }
    guard let track else { return first }
    guard let stream = videoStreams.first(where: { $0.index == track }) else {
      throw MediaError.noTrack(file: path, track: track, videoTracks: videoStreams.map(\.index))
    }
    return stream
  }

  /// Rejects streams of which libavformat returns only the packets that are not encrypted, without
  /// an error for the others.
  ///
  /// - Throws: `MediaError.encrypted`.
  package func requireWhole(_ streams: [MediaStream]) throws {
    guard isMovie else { return }
    let descriptions = try SampleDescriptions(of: try MediaFile(path: path))
    for stream in streams where descriptions.mixesEncryption(track: stream.index) {
      throw MediaError.encrypted(file: path)
    }
  }

  /// The next packet of any stream; nil at the end. Packets of a format without times have none.
  ///
  /// After an error, the next call continues after the damage, or throws again; the caller decides
  /// how often to try.
  /// - Throws: `MediaError.read`.
  package func nextPacket() throws -> MediaPacket? {
    let payload = try PacketPayload()
    // SAFETY: the packet is fresh; its bytes are counted references of the library.
    let result = av_read_frame(context, payload.pointer)
    if result == retake_error_end { return nil }
    guard result >= 0 else {
      throw MediaError.of(result, "read a packet", file: path) { .read(file: path, cause: $0) }
    }
    let stream = Int(payload.pointer.pointee.stream_index)
    // A container without a header may reveal a stream late; it has no description and is not used.
    while counts.count <= stream { counts.append(0) }
    defer { counts[stream] += 1 }
    var packet = MediaPacket(payload, index: counts[stream])
    // Those of the first pictures of MPEG-1 and MPEG-2 are wrong, and all others are only counted.
    if !hasTimes { (packet.pts, packet.dts) = (nil, nil) }
    // FFmpeg silently shortens the last packet of a truncated file.
    if missingBytes > 0, let offset = packet.offset, offset &+ Int64(packet.size) >= fileBytes {
      packet.flags.insert(.corrupt)
    }
    return packet
  }

  /// The description of a stream that is not among `streams`, because the file revealed it only
  /// while it was read: another program of a transport stream, for example.
  package func lateStream(_ index: Int) -> MediaStream? {
    // SAFETY: the library keeps `nb_streams` streams; everything of this one is copied.
    guard index >= streams.count, let context, index < Int(context.pointee.nb_streams),
      let stream = context.pointee.streams[index]
    else { return nil }
    return MediaStream(stream, of: context)
  }

  /// The container's own number of a stream; in a transport stream its packet identifier.
  package func number(of index: Int) -> Int? {
    // SAFETY: the library keeps `nb_streams` streams.
    guard let context, 0..<Int(context.pointee.nb_streams) ~= index else { return nil }
    return context.pointee.streams[index].map { Int($0.pointee.id) }
  }

  /// A text that the container stores about the file, or about one of its streams, such as
  /// `timecode`; nil without it.
  package func tag(_ name: String, of stream: Int? = nil) -> String? {
    guard let context else { return nil }
    var texts = context.pointee.metadata
    if let stream {
      guard streams.indices.contains(stream) else { return nil }
      // SAFETY: the library keeps at least the streams that it had when the file was opened.
      texts = context.pointee.streams[stream]?.pointee.metadata
    }
    // SAFETY: the entry belongs to the context, and its text is copied.
    return av_dict_get(texts, name, nil, 0).map { String(cString: $0.pointee.value) }
  }

  /// Skips the packets of all other streams, as far as the container supports it.
  package func select(_ selected: Set<Int>) {
    for index in streams.indices {
      context?.pointee.streams[index]?.pointee.discard =
        selected.contains(index) ? AVDISCARD_DEFAULT : AVDISCARD_ALL
    }
  }

  /// Seeks to the last key packet at or before `timestamp` (in the stream's time base). Packets are
  /// numbered from 0 again.
  ///
  /// - Throws: `MediaError.read`.
  package func seek(stream: Int, timestamp: Int64) throws {
    try checkSeek(
      av_seek_frame(context, Int32(clamping: stream), timestamp, retake_seek_backward))
  }

  /// Seeks to a byte of the file, if the container supports it. Packets are numbered from 0 again.
  ///
  /// - Throws: `MediaError.read`.
  package func seek(byte: Int64) throws {
    try checkSeek(av_seek_frame(context, -1, byte, retake_seek_byte))
  }

  /// Starts again at the first packet, exactly as after opening.
  ///
  /// - Throws: The errors of the initializer.
  package func reopen() throws {
    // Before the old context is closed, so that an error leaves the demuxer as it is.
    let fresh = try Self.open(try MediaFile(path: path))
    avformat_close_input(&context)
    context = fresh
    counts = streams.map { _ in 0 }
  }

  private func checkSeek(_ result: Int32) throws {
    guard result >= 0 else { throw MediaError.read(file: path, cause: FFmpeg.text(result)) }
    counts = streams.map { _ in 0 }
  }

  /// End of the last packet in the index; 0 for containers without an index.
  private static func indexedEnd(_ context: UnsafeMutablePointer<AVFormatContext>) -> Int64 {
    // SAFETY: the streams belong to the context, and the library checks the entry's number.
    (0..<Int(context.pointee.nb_streams)).reduce(0) { end, index in
      let stream = context.pointee.streams[index]
      return (0..<avformat_index_get_entries_count(stream)).reduce(end) { end, number in
        guard let entry = avformat_index_get_entry(stream, number)?.pointee else { return end }
        return max(end, entry.pos &+ Int64(entry.size))
      }
    }
  }

  private static func streams(
    of context: UnsafeMutablePointer<AVFormatContext>
  ) -> [MediaStream] {
    // SAFETY: the streams belong to the context, and everything is copied.
    (0..<Int(context.pointee.nb_streams)).map {
      MediaStream(FFmpeg.required(context.pointee.streams[$0]), of: context)
    }
  }

  /// Streams of a format without times say whether they name their rate.
  private static func timed(
    _ streams: [MediaStream], format: String, in file: MediaFile
  ) throws -> [MediaStream] {
    guard ContainerFormats.untimed.contains(format) else { return streams }
    // FFmpeg does not tell an assumed rate from a known one. An assumed one follows the option.
    var other: UnsafeMutablePointer<AVFormatContext>? = try open(file, rate: "24")
    defer { avformat_close_input(&other) }
    let others = other.map { Self.streams(of: $0) } ?? []
    var timed = streams
    for place in timed.indices where timed[place].kind == .video {
      let isSame =
        others.indices.contains(place)
        && others[place].averageFrameRate == timed[place].averageFrameRate
      timed[place].timing = isSame ? .rateInStream : .rateAssumed
    }
    return timed
  }

  /// - Parameter rate: The rate that FFmpeg assumes for a stream without times that names no rate.
  private static func open(
    _ file: MediaFile, rate: String? = nil
  ) throws -> UnsafeMutablePointer<AVFormatContext> {
    try ContainerFormats.refuseForeign(file)
    // The protocol is also part of the URL below, so that a file named like one, as `http:x`, is
    // opened as a file.
    var options = OptionDictionary([
      "format_whitelist": ContainerFormats.whitelist, "protocol_whitelist": "file",
      "max_streams": String(ContainerFormats.streamsMax),
    ])
    // SAFETY: the dictionary copies both strings.
    if let rate { av_dict_set(&options.pointer, "framerate", rate, 0) }
    let format = try ContainerFormats.known(file).flatMap { av_find_input_format($0) }
    var context: UnsafeMutablePointer<AVFormatContext>?
    // SAFETY: the format is a constant of the library; on failure the library frees the context and
    // leaves nil.
    let opened = avformat_open_input(&context, "file:" + file.path, format, &options.pointer)
    guard opened >= 0, let result = context else {
      throw try ContainerFormats.refusal(of: file, error: opened)
    }
    do {
      try ContainerFormats.refuseOpened(
        file, format: String(cString: result.pointee.iformat.pointee.name))
    } catch let error as MediaError {
      avformat_close_input(&context)
      throw error
    }
    let found = avformat_find_stream_info(result, nil)
    guard found >= 0 else {
      avformat_close_input(&context)
      throw MediaError.damaged(file: file.path, cause: FFmpeg.text(found))
    }
    return result
  }
}
