import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// One track of the new session while the bag is read: the media files, and the data for the rows
/// of the store.
final class BagTrack {
  /// One media file.
  struct File {
    var name: String
    var bytes: Int64
    /// The track's number of its first packet.
    var firstPacket: Int
    var form: ImageForm
    /// As a demuxer describes it, with the time base of the rows.
    var stream: MediaStream
  }

  private(set) var number: Int
  let topic: BagTopic
  let type: ImageType
  private let site: SessionFolder
  /// Subtracted from all times.
  private let origin: BagOrigin
  private(set) var files: [File] = []
  private(set) var packets = PacketList()
  private var facts = TrackFacts.none
  /// When each message was recorded, by its packet, not shifted.
  private(set) var logTimes: [Int64] = []
  /// The number of messages without pixels; `firstBad` is the error of the first of them.
  private(set) var badCount = 0
  private(set) var firstBad: BagError?
  private(set) var lateCount = 0
  private var writer: PacketFile?
  /// Messages before the first image, which begins the first file.
  private var waiting: [(message: BagMessage, error: BagError)] = []
  /// The encoding of the bag's images, for the result.
  private(set) var encoding = ""

  static let timeBase = TimeBase(1, 1_000_000_000)
  private static let fileBytesMax: Int64 = 2 << 30
  private static let waitingMax = 1_000

  init(
    number: Int, topic: BagTopic, type: ImageType, site: SessionFolder, origin: BagOrigin
  ) {
    (self.number, self.topic, self.type) = (number, topic, type)
    (self.site, self.origin) = (site, origin)
  }

  /// How colors are made of raw samples, and an order of channels that is an assumption; nil for
  /// other images.
  var colorNote: String? {
    if let mosaic = files.lazy.compactMap(\.form.mosaic).first {
      return
        "track \(number): raw samples of a sensor (\(encoding)), kept as gray; a node 'debayer' "
        + "with \"pattern\": \"\(mosaic)\" makes colors of them"
    }
    return files.lazy.compactMap(\.form.openOrder).first.map {
      "track \(number): \($0) does not say the order of its channels; they are read as blue, green, "
        + "red, as OpenCV writes them"
    }
  }

  var isEmpty: Bool { files.isEmpty && writer == nil }

  /// - Throws: `SessionError` if the media cannot be written.
  func take(_ message: BagMessage) throws {
    let (image, form): (ImageMessage, ImageForm)
    do {
      (image, form) = try parsed(message)
    } catch let error as BagError {
      return try takeBad(message, error)
    }
    if let writer, writer.form != form || writer.bytes >= Self.fileBytesMax { try closeFile() }
    if writer == nil { try openFile(form) }
    let index = packets.count
    let time = image.stampNanoseconds ?? message.logNanoseconds
    let start = origin.time(of: time)
    let packet = try packet(image, form, index: index, time: start)
    try write(
      packet, pts: image.stampNanoseconds == nil ? nil : start, time: start, message)
    guard let format = form.pixelFormat else { return }
    // The visible bytes of a raw image are its packet.
    facts.frames.append(
      DecodedFact(
        packet: index, shown: 0, pts: image.stampNanoseconds == nil ? nil : start,
        bestEffort: start, duration: 0, digest: packet.digest,
        shape: DecodedFact.Shape(width: form.width, height: form.height, format: format)))
  }

  private func parsed(_ message: BagMessage) throws -> (ImageMessage, ImageForm) {
    let image: ImageMessage
    do {
      image = try ImageMessage(message, type: type)
    } catch let error as MessageProblem {
      throw BagError.message(message.place, cause: error.text)
    }
    return (image, try ImageForm(image, place: message.place))
  }

  private func packet(
    _ image: ImageMessage, _ form: ImageForm, index: Int, time: Int64
  ) throws -> MediaPacket {
    switch image.content {
    case .raw(let raw):
      guard case .raw(let encoding) = form.codec else {
        preconditionFailure("a raw image has the form of one")
      }
      return try RawPacket.make(
        raw.data, encoding: encoding, width: raw.width, height: raw.height, step: raw.step,
        index: index, time: time)
    case .coded(_, _, let data):
      return try MediaPacket(
        index: index, pts: time, dts: time,
        flags: KeyPacket.isKey(form.codec, data) ? .key : [], bytes: [UInt8](data))
    }
  }

  // MARK: Messages without an image

  /// The frame gets a row with the cause, and its packet has the message as it is in the bag.
  private func takeBad(_ message: BagMessage, _ error: BagError) throws {
    badCount += 1
    firstBad = firstBad ?? error
    guard writer != nil || !files.isEmpty else {
      // Bounded: a topic without any image keeps no more of them.
      if waiting.count < Self.waitingMax { waiting.append((message, error)) }
      return
    }
    try writeBad(message, error)
  }

  private func writeBad(_ message: BagMessage, _ error: BagError) throws {
    if writer == nil, let form = files.last?.form { try openFile(form) }
    let (index, time) = (packets.count, origin.time(of: message.logNanoseconds))
    // A packet without bytes would end a decoder.
    let packet = try MediaPacket(
      index: index, pts: time, dts: time, flags: .corrupt,
      bytes: message.bytes.isEmpty ? [0] : [UInt8](message.bytes))
    facts.refused.append((packet: index, code: error.code, after: facts.frames.count))
    try write(packet, pts: nil, time: time, message, flags: .corrupt)
  }

  // MARK: Media files

  private func write(
    _ packet: MediaPacket, pts: Int64?, time: Int64, _ message: BagMessage,
    flags: PacketRecord.Flags? = nil
  ) throws {
    guard let writer else { preconditionFailure("a packet is written to an open file") }
    let offset = try writer.write(packet, at: time)
    packets.append(
      PacketRecord(
        track: number, index: packet.index, segment: files.count, ordinal: writer.count - 1,
        // A decoder without a time would guess; the time of recording is the better guess.
        pts: pts, dts: time, duration: 0,
        flags: flags ?? (packet.flags.contains(.key) ? .key : []), size: packet.size,
        digest: packet.digest, offset: offset))
    if let last = logTimes.last, message.logNanoseconds < last { lateCount += 1 }
    logTimes.append(message.logNanoseconds)
  }

  /// Changes the number of the track, with its media files and its packets.
  ///
  /// - Throws: `SessionError` if a file cannot be renamed.
  func renumber(_ number: Int) throws {
    try closeFile()
    guard number != self.number else { return }
    self.number = number
    for place in files.indices {
      let (old, new) = (files[place].name, fileName(place))
      do {
        try FileManager.default.moveItem(
          atPath: site.path + "/" + old, toPath: site.path + "/" + new)
      } catch {
        throw SessionError.write(site.path + "/" + new, error)
      }
      files[place].name = new
    }
    var renumbered = PacketList()
    for var packet in packets {
      packet.track = number
      renumbered.append(packet)
    }
    packets = renumbered
  }

  private func fileName(_ place: Int) -> String {
    let digits = String(place)
    return "media/video-" + (number == 0 ? "" : "t\(number)-")
      + String(repeating: "0", count: max(0, 5 - digits.count)) + digits + ".nut"
  }

  private func openFile(_ form: ImageForm) throws {
    let name = fileName(files.count)
    if encoding.isEmpty { encoding = form.name }
    writer = try PacketFile(site.path + "/" + name, name: name, form: form, first: packets.count)
    let before = waiting
    waiting = []
    for (message, error) in before { try writeBad(message, error) }
  }

  private func closeFile() throws {
    guard let writer else { return }
    self.writer = nil
    var stream = try writer.finish()
    stream.timeBase = Self.timeBase
    files.append(
      File(
        name: writer.name, bytes: writer.bytes, firstPacket: writer.first, form: writer.form,
        stream: stream))
  }

  // MARK: Rows

  /// Closes the last file and makes the rows.
  ///
  /// - Throws: `SessionError`; the decoder's own if no image can be decoded.
  func finish(
    report: @escaping @Sendable (ImportProgress) -> Bool
  ) throws -> TrackRows {
    try closeFile()
    guard let first = files.first else { throw SessionError.noFrames(file: site.path) }
    guard first.form.pixelFormat == nil else { return rawRows() }
    var views: [Int: SegmentView] = [:]
    for (place, file) in files.enumerated() {
      let media = try MediaFile(path: site.path + "/" + file.name)
      views[place] = SegmentView(file: media, stream: file.stream)
    }
    return try TrackIndexing(
      track: number, stream: first.stream, views: views, packets: packets,
      memory: ImageMemory(), report: report
    ).run()
  }

  /// Each packet of raw images is an entry, and its pixels are known without a decoder.
  private func rawRows() -> TrackRows {
    let timeline = FrameRanking(
      track: number, timeBase: Self.timeBase, durationNanoseconds: Self.frameNanoseconds
    ).rank(facts, packets: packets)
    var rows = TrackRows(track: number, packets: packets, facts: facts, timeline: timeline)
    for place in 0..<rows.frameCount {
      rows.settle(place, entry: rows.packet(ofFrame: place), cause: nil)
    }
    return rows
  }

  /// The duration of a frame without a known duration.
  private static let frameNanoseconds: Int64 = 40_000_000
}

/// A NUT file with the packets of one track, while it is written.
///
/// NUT keeps the bytes of every codec as they are; Matroska rewrites the bytes of H.264, and does
/// not know some formats of raw images.
private final class PacketFile {
  let name: String
  let form: ImageForm
  let first: Int
  private(set) var count = 0
  private let path: String
  private let handle: FileHandle
  private let muxer: MediaMuxer
  private var (lastNanoseconds, lastMilliseconds): (Int64, Int64) = (0, -1)
  private var firstDigest: Digest128?
  private var firstPlace: (offset: Int64, size: Int)?

  /// Containers do not accept longer jumps; the rows have the true times.
  private static let leapMilliseconds: Int64 = 10_000

  init(_ path: String, name: String, form: ImageForm, first: Int) throws {
    guard FileManager.default.createFile(atPath: path, contents: nil),
      let handle = FileHandle(forUpdatingAtPath: path)
    else { throw SessionError.write(path, POSIXError.last) }
    (self.path, self.name, self.form, self.first, self.handle) = (path, name, form, first, handle)
    let format = form.pixelFormat
    // A container needs a size, although packets of video have it inside. For JPEG it must be the
    // true size: FFmpeg reads an image of less than three quarters of the height as half of an
    // interlaced image.
    let stream = MediaStream(
      video: form.codec.name, width: form.width > 0 ? form.width : 16,
      height: form.height > 0 ? form.height : 16,
      pixelFormatName: format?.ffmpegName ?? "", range: .full,
      matrix: format?.isYUV == true ? .assumed(height: form.height) : .identity,
      timeBase: .milliseconds)
    muxer = try MediaMuxer(
      format: "nut", to: .descriptor(handle.fileDescriptor), file: path, streams: [stream])
  }

  var bytes: Int64 { muxer.position }

  /// - Returns: the position of the packet's bytes in the file.
  func write(_ packet: MediaPacket, at nanoseconds: Int64) throws -> Int64 {
    let (step, overflow) = nanoseconds.subtractingReportingOverflow(lastNanoseconds)
    let wanted = overflow ? Self.leapMilliseconds : step / 1_000_000
    // At least 1 ms: messages may have equal times, and muxers require rising times.
    lastMilliseconds =
      lastMilliseconds < 0 ? 0 : lastMilliseconds + max(1, min(wanted, Self.leapMilliseconds))
    lastNanoseconds = nanoseconds
    var copy = packet
    (copy.stream, copy.pts, copy.dts) = (0, lastMilliseconds, lastMilliseconds)
    try muxer.write(copy)
    count += 1
    // A frame of NUT ends with its bytes.
    let offset = muxer.position - Int64(packet.size)
    if firstPlace == nil { (firstPlace, firstDigest) = ((offset, packet.size), packet.digest) }
    return offset
  }

  /// Closes the file and reads its description back.
  ///
  /// - Throws: `SessionError.write` if the first packet is not where it should be.
  func finish() throws -> MediaStream {
    try muxer.finish()
    let stream = try MediaDemuxer(path: path).videoStream()
    let digest = try firstPlace.map { place in
      try MediaFile(path: path).packet(
        index: 0, pts: nil, dts: nil, flags: [], offset: place.offset, size: place.size
      ).digest
    }
    guard digest == firstDigest else {
      throw SessionError.write(path: path, cause: "the file has other bytes than were written")
    }
    try? handle.close()
    return stream
  }
}
