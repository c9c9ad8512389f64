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

  func run(to path: String, track wanted: Int?) throws(SessionError) -> Int {
    let track = wanted ?? reader.index.tracks.first ?? 0
    try reader.index.requireTrack(track)
    let count = try fromStore { () throws(StoreError) in
      try reader.index.store.counts(track: track).packets
    }
    let file = try NewFile(path)
    do throws(SessionError) {
      if try copyOriginal(to: path, file) { return count }
      try remux(track, packets: count, to: file, path: path)
      try file.finish()
      return count
    } catch {
      file.discard()
      throw error
    }
  }

  /// An imported file goes out as it came in, where the name asks for the same container.
  ///
  /// - Returns: false when it is no such file; nothing was done then.
  private func copyOriginal(to path: String, _ file: NewFile) throws(SessionError) -> Bool {
    let names = reader.mediaFiles()
    guard names.count == 1, let name = names.first, name.hasPrefix("media/original"),
      URL(fileURLWithPath: name).pathExtension == URL(fileURLWithPath: path).pathExtension
    else { return false }
    let source = try reader.folder.file(name)
    do {
      let input = try FileHandle(forReadingFrom: URL(fileURLWithPath: source))
      defer { try? input.close() }
      while let piece = try input.read(upToCount: 1 << 20), !piece.isEmpty {
        try file.handle.write(contentsOf: piece)
      }
    } catch {
      throw .write(path: path, cause: BuildSite.text(error))
    }
    try file.finish()
    return true
  }

  private func remux(
    _ track: Int, packets count: Int, to file: NewFile, path: String
  ) throws(SessionError) {
    let stream = try stream(of: track)
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    let format = Self.containers[suffix] ?? "matroska"
    let fetcher = PacketFetcher(table: IndexedTrack(index: reader.index, track: track))
    let muxer = try fromMedia { () throws(MediaError) in
      try MediaMuxer(
        format: format, to: .descriptor(file.handle.fileDescriptor), file: path, streams: [stream])
    }
    var next = 0
    while let (packet, _) = try fetcher.packet(next) {
      var packet = packet
      packet.stream = 0
      next += 1
      // A placeholder of a trimmed session.
      guard packet.size > 0 else { continue }
      try fromMedia { () throws(MediaError) in try muxer.write(packet) }
      guard next.isMultiple(of: Self.reportEvery) else { continue }
      if !report(SessionDoctor.Progress(done: next, total: count)) { throw .interrupted }
    }
    try fromMedia { () throws(MediaError) in try muxer.finish() }
  }

  /// One description for all segments.
  private func stream(of track: Int) throws(SessionError) -> MediaStream {
    let parts = reader.index.parts[track] ?? [:]
    guard let first = parts.keys.min().flatMap({ parts[$0] }) else {
      throw .unknownTrack(session: reader.folder.path, track: track, known: reader.index.tracks)
    }
    for number in parts.keys.sorted() {
      guard let part = parts[number] else { continue }
      let isSame =
        part.codec == first.codec && part.width == first.width && part.height == first.height
        && part.extradata == first.extradata && part.timeBase == first.timeBase
      guard isSame else {
        throw .exportShapes(
          session: reader.folder.path,
          cause: "segment \(number) is \(part.codec) \(part.width)x\(part.height), the first one "
            + "\(first.codec) \(first.width)x\(first.height)")
      }
    }
    var stream = MediaStream(first)
    stream.index = 0
    return stream
  }
}
