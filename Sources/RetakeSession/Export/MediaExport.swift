import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Puts a track's packets into one media file, unchanged.
struct MediaExport {
  let reader: SessionReader
  let report: @Sendable (SessionDoctor.Progress) -> Bool

  private static let reportEvery = 256
  private static let containers = [
    "mkv": "matroska", "mp4": "mp4", "mov": "mov", "avi": "avi", "nut": "nut", "ts": "mpegts",
    "webm": "webm",
  ]

  func run(to path: String, track wanted: Int?) throws(SessionError) -> [SessionExport.Media] {
    let track = wanted ?? reader.index.tracks.first ?? 0
    try reader.index.requireTrack(track)
    let isOriginal = self.isOriginal(path)
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard isOriginal || Self.containers[suffix] != nil else {
      throw .unknownContainer(path: path, known: Self.containers.keys.sorted())
    }
    let parts = try self.parts(of: track)
    let count = try fromStore { () throws(StoreError) in
      try reader.index.store.counts(track: track).packets
    }
    var files: [NewFile] = []
    do throws(SessionError) {
      files.append(try NewFile(parts.count > 1 ? Self.name(path, part: 1) : path))
      if isOriginal {
        try copyOriginal(to: path, files[0])
        return [SessionExport.Media(file: path, packets: count)]
      }
      var written: [SessionExport.Media] = []
      for (number, part) in parts.enumerated() {
        if number > 0 { files.append(try NewFile(Self.name(path, part: number + 1))) }
        let name = parts.count > 1 ? Self.name(path, part: number + 1) : path
        let packets = try remux(track, part, of: count, to: files[number], path: name)
        written.append(SessionExport.Media(file: name, packets: packets))
      }
      for file in files { try file.finish() }
      return written
    } catch {
      for file in files { file.discard() }
      throw error
    }
  }

  /// `yard.mkv` becomes `yard-2.mkv`.
  private static func name(_ path: String, part: Int) -> String {
    let url = URL(fileURLWithPath: path)
    let suffix = url.pathExtension.isEmpty ? "" : "." + url.pathExtension
    let slash = path.lastIndex(of: "/").map { path[...$0] } ?? ""
    return "\(slash)\(url.deletingPathExtension().lastPathComponent)-\(part)\(suffix)"
  }

  /// Whether the file's name asks for the container that the session's one imported file has.
  private func isOriginal(_ path: String) -> Bool {
    let names = reader.mediaFiles()
    guard names.count == 1, let name = names.first, name.hasPrefix("media/original") else {
      return false
    }
    return URL(fileURLWithPath: name).pathExtension == URL(fileURLWithPath: path).pathExtension
  }

  /// An imported file goes out as it came in.
  private func copyOriginal(to path: String, _ file: NewFile) throws(SessionError) {
    let source = try reader.folder.file(reader.mediaFiles()[0])
    do {
      let input = try RegularFile.handle(source, links: .followed)
      defer { try? input.close() }
      while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty {
        try file.handle.write(contentsOf: piece)
      }
    } catch {
      throw .write(path: path, cause: BuildSite.text(error))
    }
    try file.finish()
  }

  /// Segments one after another that fit into one file.
  private struct Part {
    var stream: MediaStream
    var segments: Set<Int>
  }

  private func remux(
    _ track: Int, _ part: Part, of count: Int, to file: NewFile, path: String
  ) throws(SessionError) -> Int {
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard let format = Self.containers[suffix] else {
      throw .unknownContainer(path: path, known: Self.containers.keys.sorted())
    }
    let table = IndexedTrack(index: reader.index, track: track)
    let fetcher = PacketFetcher(table: table)
    let muxer = try fromMedia { () throws(MediaError) in
      try MediaMuxer(
        format: format, to: .descriptor(file.handle.fileDescriptor), file: path,
        streams: [part.stream])
    }
    var written = 0
    var next = 0
    while let record = try table.packet(next) {
      defer { next += 1 }
      guard part.segments.contains(record.segment), record.size > 0,
        var packet = try fetcher.packet(next)?.packet
      else { continue }
      packet.stream = 0
      try fromMedia { () throws(MediaError) in try muxer.write(packet) }
      written += 1
      guard next.isMultiple(of: Self.reportEvery) else { continue }
      if !report(SessionDoctor.Progress(done: next, total: count)) { throw .interrupted }
    }
    try fromMedia { () throws(MediaError) in try muxer.finish() }
    return written
  }

  /// A new part begins where another codec or shape does.
  private func parts(of track: Int) throws(SessionError) -> [Part] {
    let descriptions = reader.index.parts[track] ?? [:]
    var parts: [Part] = []
    var before: SegmentTrackRecord?
    for number in descriptions.keys.sorted() {
      guard let description = descriptions[number] else { continue }
      defer { before = description }
      if let before, description.fitsBehind(before), !parts.isEmpty {
        parts[parts.count - 1].segments.insert(number)
      } else {
        var stream = MediaStream(description)
        stream.index = 0
        parts.append(Part(stream: stream, segments: [number]))
      }
    }
    guard !parts.isEmpty else {
      throw .unknownTrack(session: reader.folder.path, track: track, known: reader.index.tracks)
    }
    return parts
  }
}

extension SegmentTrackRecord {
  /// In the same media file.
  fileprivate func fitsBehind(_ other: SegmentTrackRecord) -> Bool {
    codec == other.codec && width == other.width && height == other.height
      && extradata == other.extradata && timeBase == other.timeBase
  }
}
