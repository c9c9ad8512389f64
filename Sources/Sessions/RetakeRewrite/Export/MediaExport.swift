import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Copies a track's packets unchanged to one media file, and reads the file back before it gets its
/// name.
struct MediaExport {
  let reader: SessionReader
  let report: @Sendable (SessionCheck.Progress) -> Bool

  private static let reportEvery = 16
  private static let containers = [
    "mkv": "matroska", "mp4": "mp4", "mov": "mov", "avi": "avi", "nut": "nut", "ts": "mpegts",
    "webm": "webm",
  ]

  /// Containers with additions to a block, such as opacity.
  private static let opacityContainers: Set = ["mkv", "webm"]

  func run(to path: String, track wanted: Int?) throws -> [SessionExport.Media] {
    try reader.index.requireSizes()
    let track = wanted ?? reader.index.tracks.first ?? 0
    try reader.index.requireTrack(track)
    // The original has all tracks, so it is no answer to a request for one of several.
    let isOriginal =
      self.isOriginal(path) && (wanted == nil || reader.index.tracks.count == 1)
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard isOriginal || Self.containers[suffix] != nil else {
      throw SessionError.unknownContainer(path: path, known: Self.containers.keys.sorted())
    }
    let hasOpacity = try !reader.opacityTracks(among: [track]).isEmpty
    let parts = isOriginal ? [] : try self.parts(of: track, hasOpacity: hasOpacity)
    let otherTracks = reader.index.tracks.filter { $0 != track }
    let count = try reader.index.store.counts(track: track).packets
    var files: [NewFile] = []
    let facts = try PacketFacts(
      IndexedTrack(index: reader.index, track: track), of: parts)
    // Before anything is written: the walk ends at a missing row, and the
    // rest would silently be absent.
    if !isOriginal { try checkCount(facts.packets, of: count, track: track) }
    let other = instead(of: path, track: wanted, parts)
    for part in parts { try checkCodec(part, path: path, instead: other) }
    do {
      files.append(try NewFile(parts.count > 1 ? Self.name(path, part: 1) : path))
      if isOriginal {
        try copyOriginal(to: path, files[0])
        return [SessionExport.Media(file: path, packets: count)]
      }
      var written: [SessionExport.Media] = []
      var taken = 0
      for (number, part) in parts.enumerated() {
        if number > 0 { files.append(try NewFile(Self.name(path, part: number + 1))) }
        let name = parts.count > 1 ? Self.name(path, part: number + 1) : path
        var notes: [String] = number == 0 ? leftOut(path) : []
        let packets = try telling(other, path: path) {
          let written = try remux(
            track, part, facts.endings[number], of: count,
            times: facts.lacksTimes ? try PacketTimes(reader, track, part.stream.timeBase) : nil,
            to: files[number], path: name)
          try ExportProof(
            reader: reader, track: track, file: files[number].hidden, stream: part.stream,
            description: Self.description(part.stream, path: name)
          ) { report(SessionCheck.Progress(done: count + $0, total: 2 * count)) }
          .check(written)
          taken += written.taken
          notes += try lostTurn(part.stream, in: files[number].hidden, path: name)
          return written.packets
        }
        written.append(
          SessionExport.Media(
            file: name, packets: packets, otherTracks: otherTracks,
            lacksOpacity: hasOpacity && !Self.opacityContainers.contains(suffix), notes: notes))
      }
      try checkCount(taken, of: count, track: track)
      // Only when every part has passed its check, so that no part appears alone.
      for file in files { try file.finish() }
      return written
    } catch {
      for file in files { file.discard() }
      throw FullDisk.error(error, writing: path)
    }
  }

  /// A note if the container does not store how players show the images.
  private func lostTurn(_ stream: MediaStream, in file: String, path: String) throws -> [String] {
    guard let turn = stream.turn, try MediaDemuxer(path: file).videoStream().turn != turn else {
      return []
    }
    let name = URL(fileURLWithPath: path).lastPathComponent
    let what =
      turn.isMirrored
      ? "that players \(turn.text)" : "the rotation of \(stream.rotationDegrees)°"
    return ["\(name) does not store \(what); .mov and .mp4 store it"]
  }

  /// Notes about data of the session that no exported media has.
  private func leftOut(_ path: String) -> [String] {
    var notes: [String] = []
    if let original = reader.mediaFiles().first, original.hasPrefix("media/original"),
      let file = try? reader.folder.file(original), let demuxer = try? MediaDemuxer(path: file)
    {
      let others = demuxer.streams.filter { $0.kind != .video }
      var names = others.contains { $0.kind == .audio } ? ["the sound"] : []
      names += others.filter { $0.kind != .audio }.map {
        "stream \($0.index) (\($0.kind.rawValue), \($0.codec))"
      }
      let copy = URL(fileURLWithPath: original).pathExtension
      if !names.isEmpty {
        let (verb, pronoun) = names.count == 1 ? ("is", "it") : ("are", "them")
        let isOne = reader.mediaFiles().count == 1
        notes.append(
          names.joined(separator: ", ") + " \(verb) left out; the "
            + (isOne ? "original has \(pronoun)" : "originals have \(pronoun)") + ": "
            + (isOne
              ? "retake session export \(reader.folder.path.shellWord) --media FILE.\(copy)"
              : reader.folder.media))
      }
    }
    let sensors = reader.sensors
    if let first = sensors.first {
      notes.append(
        "\(counted(sensors.count, "sensor")) of the session "
          + (sensors.count == 1 ? "is" : "are")
          + " left out; write each into a table: --rows samples --sensor "
          + "\(first.name.shellWord) --csv FILE")
    }
    return notes
  }

  /// Checks that all packets of the track were read: the loop ends at the first missing row.
  private func checkCount(_ taken: Int, of count: Int, track: Int) throws {
    guard taken != count else { return }
    throw StoreError.corrupt(
      path: reader.folder.database,
      cause: "only \(taken) of the \(count) packets of track \(track) follow one another")
  }

  /// `yard.mkv` becomes `yard-2.mkv`.
  private static func name(_ path: String, part: Int) -> String {
    let url = URL(fileURLWithPath: path)
    let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
    let slash = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return "\(slash)\(url.deletingPathExtension().lastPathComponent)-\(part)\(suffix)"
  }

  /// Whether the file's extension matches the session's single imported file.
  private func isOriginal(_ path: String) -> Bool {
    let names = reader.mediaFiles()
    guard names.count == 1, let name = names.first, name.hasPrefix("media/original") else {
      return false
    }
    return URL(fileURLWithPath: name).pathExtension == URL(fileURLWithPath: path).pathExtension
  }

  /// Copies an imported file unchanged.
  private func copyOriginal(to path: String, _ file: NewFile) throws {
    let source = try reader.folder.file(reader.mediaFiles()[0])
    let total = SessionBuilder.byteCount(source) ?? 0
    try SessionBuilder.requireRoom(total, at: path)
    do {
      let input = try RegularFile.handle(source, links: .followed)
      defer { try? input.close() }
      var done: Int64 = 0
      // Ends: at the end of the file, or at its initial size if it grows meanwhile.
      while done < total {
        let piece = try input.read(upToCount: 1 << 20) ?? Data()
        guard !piece.isEmpty else { break }
        try file.handle.write(contentsOf: piece)
        done += Int64(piece.count)
        try tell(done, of: 2 * total)
      }
    } catch let refusal as RegularFile.Refusal {
      throw refusal.error(ofMedia: source)
    } catch let error as SessionError {
      throw error
    } catch {
      throw SessionError.write(path, error)
    }
    // While the file still has its hidden name.
    try checkOriginal(file.hidden, bytes: total)
    try file.finish()
  }

  /// Checks that the copy has the bytes that were imported.
  private func checkOriginal(_ copy: String, bytes total: Int64) throws {
    let name = reader.mediaFiles()[0]
    let files = try reader.index.store.files()
    // Without a stored digest the copy cannot be compared.
    guard let expected = files.first(where: { $0.path == name })?.sha256 else { return }
    let digest = try mediaDigest(copy) { progress(total + $0, of: 2 * total) }
    guard digest == expected else {
      throw SessionError.originalDiffers(session: reader.folder.path, file: name)
    }
  }

  private func tell(_ bytes: Int64, of total: Int64) throws {
    guard progress(bytes, of: total) else { throw SessionError.interrupted }
  }

  /// Progress of copying an original: each byte is copied, then read again.
  private func progress(_ bytes: Int64, of total: Int64) -> Bool {
    report(
      SessionCheck.Progress(
        done: Int(bytes >> 20), total: Int(total >> 20), unit: .megabytes))
  }

  /// Asks libavformat, before anything is written, whether the container supports the codec.
  private func checkCodec(
    _ part: Part, path: String, instead: String
  ) throws {
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard !Self.holds(part, suffix) else { return }
    throw SessionError.containerCodec(path: path, codec: part.stream.codec, instead: instead)
  }

  /// Whether the container is known and may support the codec. Some containers do not list their
  /// codecs; `ExportProof` then decides.
  private static func holds(_ part: Part, _ suffix: String) -> Bool {
    guard let format = containers[suffix] else { return false }
    return MediaMuxer.holds(codec: part.stream.codec, format: format) != false
  }

  private static func description(_ stream: MediaStream, path: String) -> String {
    "\(stream.codec) in .\(URL(fileURLWithPath: path).pathExtension.lowercased())"
  }

  /// The command that writes the same media to a container that supports it.
  private func instead(
    of path: String, track: Int?, _ parts: [Part]
  ) -> String {
    let url = URL(fileURLWithPath: path)
    let first = reader.mediaFiles().first
    let own = first.map { URL(fileURLWithPath: $0).pathExtension }
    let isOriginal = first?.hasPrefix("media/original.") == true
    // An original is copied as it is, unless it is one track of several. Matroska has no raw images
    // of some formats.
    let isCopy = isOriginal && (track == nil || reader.index.tracks.count == 1)
    let others = [own, "mkv", "nut"].compactMap(\.self)
    let holders =
      (isCopy ? [own] : []).compactMap(\.self)
      + others.filter { suffix in parts.allSatisfy { Self.holds($0, suffix) } }
    let suffix = holders.first { $0 != url.pathExtension.lowercased() } ?? "mkv"
    let slash = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    let file = "\(slash)\(url.deletingPathExtension().lastPathComponent).\(suffix)"
    return "retake session export \(reader.folder.path.shellWord) --media \(file.shellWord)"
      + (track.map { " --track \($0)" } ?? "")
  }

  /// Adds the command that avoids the problem to errors of the container.
  private func telling<Value>(
    _ instead: String, path: String, _ body: () throws -> Value
  ) throws -> Value {
    do {
      return try body()
    } catch MediaError.muxer(let format, let file, let cause) {
      var facts = MediaError.muxer(format: format, file: file, cause: cause).facts
      let isAppended = reader.mediaFiles().first?.hasPrefix("media/original-") == true
      facts.advice = isAppended ? transcoding(path) : "Use another container: \(instead)"
      throw facts
    } catch SessionError.exportDiffers(_, let form, let cause, _) {
      throw SessionError.exportDiffers(path: path, form: form, cause: cause, instead: instead)
    }
  }

  /// The commands for appended files whose times go back where they meet, because the frames that
  /// `--overlap once` left out are in the packets.
  private func transcoding(_ path: String) -> String {
    let folder = URL(fileURLWithPath: reader.folder.path)
    let name = folder.lastPathComponent + "-export"
    let copy = folder.deletingLastPathComponent().appending(path: name).path
    let file = path.dropLast(URL(fileURLWithPath: path).pathExtension.count) + "mkv"
    return "Make a copy whose packets have the times of their frames: retake session transcode "
      + "\(reader.folder.path.shellWord) --as \(name.shellWord) && retake session export "
      + "\(copy.shellWord) --media \(String(file).shellWord)"
  }

  /// Consecutive segments that fit into one file.
  fileprivate struct Part {
    var stream: MediaStream
    var segments: Set<Int>
  }

  private func remux(
    _ track: Int, _ part: Part, _ ending: PartEnding, of count: Int, times: PacketTimes?,
    to file: NewFile, path: String
  ) throws -> WrittenPart {
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard let format = Self.containers[suffix] else {
      throw SessionError.unknownContainer(path: path, known: Self.containers.keys.sorted())
    }
    let table = IndexedTrack(index: reader.index, track: track)
    let fetcher = PacketFetcher(table: table)
    let muxer = try MediaMuxer(
      format: format, to: .descriptor(file.handle.fileDescriptor), file: path,
      streams: [part.stream])
    var written = WrittenPart()
    var next = 0
    while let record = try table.packet(next) {
      defer { next += 1 }
      guard part.segments.contains(record.segment) else { continue }
      written.numbers = (written.numbers?.lowerBound ?? next)...next
      written.taken += 1
      // A packet without bytes represents a damaged frame and is not written.
      guard record.size > 0, var packet = try fetcher.packet(next)?.packet else { continue }
      packet.stream = 0
      times?.fill(&packet, next)
      if next == ending.packet { packet.duration = ending.duration }
      try muxer.write(packet)
      written.packets += 1
      if record.flags.contains(.discard) { written.hidden += 1 }
      guard next.isMultiple(of: Self.reportEvery) else { continue }
      if !report(SessionCheck.Progress(done: next, total: 2 * count)) {
        throw SessionError.interrupted
      }
    }
    try muxer.finish()
    return written
  }

  /// A new part begins where the codec or the frame size changes.
  private func parts(of track: Int, hasOpacity: Bool) throws -> [Part] {
    let descriptions = reader.index.parts[track] ?? [:]
    var parts: [Part] = []
    var before: SegmentTrackRecord?
    // Sorted, so that parts follow each other in the order of the track.
    for number in descriptions.keys.sorted() {
      guard let description = descriptions[number] else { continue }
      defer { before = description }
      if let before, description.fitsBehind(before), !parts.isEmpty {
        parts[parts.count - 1].segments.insert(number)
      } else {
        var stream = MediaStream(description)
        stream.index = 0
        stream.color = reader.color(of: track)
        stream.isMirrored = reader.tracks.contains { $0.track == track && $0.isMirrored }
        stream.hasOpacity = hasOpacity
        parts.append(Part(stream: stream, segments: [number]))
      }
    }
    guard !parts.isEmpty else {
      throw SessionError.unknownTrack(
        session: reader.folder.path, track: track, known: reader.index.tracks)
    }
    return parts
  }
}

/// The packets that were written to one file of an export.
struct WrittenPart: Hashable {
  /// The packets of the session's track, from the first to the last; nil when there are no packets.
  var numbers: ClosedRange<Int>?
  /// Packets of the session's track that belong to this file, with and without bytes.
  var taken = 0
  /// Packets that were written; packets without bytes are not.
  var packets = 0
  /// Packets that only decoders need: an edit list in the original hides their frames.
  var hidden = 0
}

/// Facts about a track's packets, collected before any of them is copied.
private struct PacketFacts {
  /// One per part.
  private(set) var endings: [PartEnding]
  /// Whether some packet has no time.
  private(set) var lacksTimes = false
  /// Number of packets up to the first missing row.
  private(set) var packets = 0

  init(
    _ table: IndexedTrack, of parts: [MediaExport.Part]
  ) throws {
    endings = parts.map { PartEnding(timeBase: $0.stream.timeBase) }
    guard !parts.isEmpty else { return }
    var places: [Int: Int] = [:]
    for (place, part) in parts.enumerated() {
      for segment in part.segments { places[segment] = place }
    }
    var next = 0
    while let record = try table.packet(next) {
      defer { next += 1 }
      packets += 1
      guard record.size > 0 else { continue }
      if record.pts == nil { lacksTimes = true }
      if let place = places[record.segment] { endings[place].add(record) }
    }
  }
}

/// The times of packets, for files in which some packets have no time, as in MPEG program streams
/// and in ASF: the session knows the times of their frames.
private struct PacketTimes {
  private var times: [Int: Int64] = [:]

  /// Number of frames that are read at once.
  private static let batchRows = 4_096

  init(_ reader: SessionReader, _ track: Int, _ timeBase: TimeBase) throws {
    var start = 0
    // Ends: each round reads some frames, or finds no more.
    while true {
      let frames = try reader.index.store.wholeFrames(
        track: track, sequences: start..<start + Self.batchRows)
      for frame in frames {
        guard let packet = frame.packet, times[packet] == nil else { continue }
        let ticks = divideToNearest(
          Int128(frame.ptsNanoseconds) * Int128(timeBase.denominator),
          by: Int128(timeBase.numerator) * 1_000_000_000)
        times[packet] = Int64(clamping: ticks)
      }
      guard !frames.isEmpty else { return }
      start += Self.batchRows
    }
  }

  /// All packets get the session's times, because the file's times may begin elsewhere. The muxer
  /// finds the order of decoding.
  func fill(_ packet: inout MediaPacket, _ number: Int) {
    // A packet without a frame is decoded and not shown, so the time of the packet before fits.
    guard let time = times[number] ?? (packet.pts == nil ? times[number - 1] ?? 0 : nil) else {
      return
    }
    (packet.pts, packet.dts) = (time, nil)
  }
}

/// The last packet of a part in presentation order, if its duration is unknown.
///
/// An MP4 whose first frame is not at time zero has an edit list, which ends where the last frame
/// ends. A last frame without a duration would not be shown at all.
private struct PartEnding {
  private(set) var packet: Int?
  private var last: Int64?
  private var before: Int64?
  private let timeBase: TimeBase

  init(timeBase: TimeBase) { self.timeBase = timeBase }

  /// Adds the part's next packet with bytes.
  mutating func add(_ record: PacketRecord) {
    guard let pts = record.pts else { return }
    if let shown = last, pts <= shown {
      // Packets come in decoding order, so the second latest time may follow the latest.
      if pts < shown { before = max(before ?? pts, pts) }
      return
    }
    (before, last) = (last, pts)
    packet = record.duration > 0 ? nil : record.index
  }

  var duration: Int64 {
    if let last, let before { return max(1, last &- before) }
    // A single frame: the duration of a frame at 25 frames per second.
    return max(1, Int64(timeBase.denominator) / (25 * Int64(timeBase.numerator)))
  }
}

extension SegmentTrackRecord {
  /// Whether both fit into the same media file.
  fileprivate func fitsBehind(_ other: SegmentTrackRecord) -> Bool {
    codec == other.codec && width == other.width && height == other.height
      && extradata == other.extradata && timeBase == other.timeBase
  }
}
