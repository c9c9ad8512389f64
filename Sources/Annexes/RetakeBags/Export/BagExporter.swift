import Foundation
import RetakeCore
package import RetakeSession

/// Options of an export as MCAP.
package struct BagExportOptions: Hashable, Sendable {
  /// How frames are written.
  package enum Codec: String, Hashable, Sendable, CaseIterable {
    /// A JPEG for each frame, as sensor_msgs/msg/CompressedImage. Packets that are JPEG stay as
    /// they are.
    case jpeg
    /// Annex B without B frames, one frame in a message, as foxglove_msgs/msg/CompressedVideo.
    case h264
  }

  package var codec: Codec
  /// The tracks whose frames are written; `nil` for all.
  package var tracks: [Int]?
  /// Folders of goldens, or of runs that `retake replay --output` wrote.
  package var goldens: [String]
  /// The live run whose results and decisions are written; `nil` for the newest.
  package var run: Int?

  package init(
    codec: Codec = .jpeg, tracks: [Int]? = nil, goldens: [String] = [], run: Int? = nil
  ) {
    (self.codec, self.tracks, self.goldens, self.run) = (codec, tracks, goldens, run)
  }
}

/// Writes frames, sensors, events, results, goldens and decisions of a session into one MCAP file,
/// for Foxglove and other programs.
///
/// The log time of a message is virtual: the arrival of the frame or sample, or the time of the
/// decision, on the session's time line. It is counted from the date at which the time line began,
/// if the session knows that date.
package struct BagExporter: Sendable {
  /// A topic that was written.
  package struct Topic: Hashable, Sendable, Codable {
    package var topic: String
    package var type: String
    package var messages: Int
  }

  private let folder: SessionFolder
  private let options: BagExportOptions
  private let report: @Sendable (SessionCheck.Progress) -> Bool

  /// - Parameter report: Called with the number of messages so far; returning false stops the
  ///   export.
  package init(
    of path: String, options: BagExportOptions = BagExportOptions(),
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    (folder, self.options, self.report) = (SessionFolder(path: path), options, report)
  }

  /// Writes the file under a hidden name, reads it back, and renames it.
  ///
  /// - Throws: `SessionError`, or `BagError`. After an error no file remains.
  @discardableResult
  package func run(to path: String) throws -> [Topic] {
    let target = URL(fileURLWithPath: path)
    guard !FileManager.default.fileExists(atPath: target.path) else {
      throw SessionError.fileExists(path: path)
    }
    guard let file = PendingFile(for: path, ending: ".mcap") else {
      throw SessionError.write(path, POSIXError.last)
    }
    do {
      let topics = try write(to: file.handle, path: path)
      try check(file.hidden, topics, path: path)
      try file.finish(replacing: false)
      return topics
    } catch {
      file.discard()
      throw FullDisk.error(error, writing: target.path)
    }
  }

  private func write(to handle: FileHandle, path: String) throws -> [Topic] {
    let reader = try SessionReader(opening: folder.path)
    try reader.requireWholeRows()
    let store = reader.index.store
    let start = try store.meta(SessionDate.fact)
    let clock = ExportClock(start: start.flatMap { Int64($0) } ?? 0)
    let writer = try MCAPWriter(handle, path: path)
    var sources: [any ExportSource] = []
    let topics = BagTopics.names(try store.meta(BagTopics.fact))
    for track in options.tracks ?? reader.tracks.map(\.track) {
      sources.append(
        try ExportFrameSource(
          reader, track: track, topic: topics[track] ?? "/camera/\(track)", codec: options.codec,
          clock: clock, writer: writer))
    }
    var names: [String: Int] = [:]
    for golden in options.goldens {
      let name = URL(fileURLWithPath: golden).lastPathComponent
      names[name, default: 0] += 1
      let number = names[name] ?? 1
      sources += try GoldenSource.all(
        golden, named: number == 1 ? name : "\(name)-\(number)", reader: reader, clock: clock,
        writer: writer)
    }
    sources += try SensorSource.all(reader, clock: clock, writer: writer)
    sources += try EventSource.all(reader, clock: clock, writer: writer)
    sources += try LiveRunSource.all(reader, run: options.run, clock: clock, writer: writer)
    try merge(sources, writer)
    try writer.finish()
    return writer.topics.filter { $0.messages > 0 }
  }

  /// In the order of time, as players like to read.
  private func merge(_ sources: [any ExportSource], _ writer: MCAPWriter) throws {
    var done = 0
    while true {
      var first: (any ExportSource)?
      for source in sources {
        guard let time = source.nextTime else { continue }
        if first?.nextTime.map({ time < $0 }) ?? true { first = source }
      }
      guard let source = first else { return }
      try source.write(to: writer)
      done += 1
      guard done % 16 != 0 || report(SessionCheck.Progress(done: done, total: 0)) else {
        throw SessionError.interrupted
      }
    }
  }

  private func check(_ file: String, _ topics: [Topic], path: String) throws {
    let bag = try MCAPBag(file, origin: path)
    var (count, losses) = (0, LossList())
    try bag.read(position: { _ in }) { item in
      switch item {
      case .message: count += 1
      case .loss(let error): losses.add(error)
      }
    }
    let written = topics.reduce(0) { $0 + $1.messages }
    guard losses.isEmpty, count == written else {
      throw BagError.exportDiffers(
        path: path,
        cause: losses.texts.first ?? "\(count) of \(counted(written, "message")) "
          + "\(count == 1 ? "is" : "are") there")
    }
  }
}
