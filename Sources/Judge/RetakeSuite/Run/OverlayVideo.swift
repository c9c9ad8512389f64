import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages

/// Writes a video of a session with the results of a run drawn over it. Each captured frame shows
/// the result that each sink received for it. If the frame did not reach a sink, it shows the
/// newest result that did, with its age.
final class OverlayVideo: RunOutput {
  /// Units per second: at every common frame rate, a frame lasts an integer number of units.
  private static let timeBase = TimeBase(1, 90_000)
  private static let containers = [
    "mkv": "matroska", "mp4": "mp4", "mov": "mov", "nut": "nut",
  ]

  /// The comment in each file: a later run may replace a video that has this comment.
  static let mark = "made by retake --overlay"

  private let path: String
  private let container: String
  private let file: WholeFile
  private let reader: SessionReader
  /// The track that is shown.
  private let track: Int
  private var places: OverlayPlaces
  private var newest: [String: Found] = [:]
  private var writer: Writer?

  private struct Found {
    var facts: [ResultFact]
    var classNames: [String]
    var timestamp: Timestamp
  }

  /// - Throws: `suite.overlay.file` for a file name from which the container cannot be
  ///   inferred.
  static func container(of path: String) throws -> String {
    let suffix = URL(fileURLWithPath: path).pathExtension.lowercased()
    guard let container = containers[suffix] else {
      let endings = containers.keys.sorted().map { "." + $0 }.joined(separator: ", ")
      throw SuiteError(
        "suite.overlay.file", "'\(path)' has no known file extension of a video",
        advice: "End its name with one of: \(endings)")
    }
    return container
  }

  /// - Throws: `suite.overlay.file`, `SuiteError.overlaySession` without a session, and what the
  ///   file throws.
  init(_ path: String, of replay: Replay, reader: SessionReader?) throws {
    container = try Self.container(of: path)
    let tracks = replay.tracks
    guard let reader, let track = tracks.values.min() else {
      throw SuiteError.overlaySession(pipeline: replay.pipeline.name)
    }
    (self.path, self.reader, self.track) = (path, reader, track)
    let shapes = reader.tracks.map {
      ($0.track, ImageShape($0))
    }
    places = OverlayPlaces(
      replay.pipeline, tracks: tracks,
      shapes: Dictionary(shapes, uniquingKeysWith: { first, _ in first }))
    // A muxer may go back to write into the head of the file, which a pipe does not allow.
    if let type = WholeFile.type(of: path), ![.typeRegular, .typeDirectory].contains(type) {
      throw ReplayError.unwritable(.overlay, path: path, cause: "it is not a regular file")
    }
    file = try WholeFile(path: path, output: .overlay)
  }

  func finished(_ frame: FinishedFrame) throws {
    guard frame.entry.id.track == track else { return }
    places.use(ImageShape(try reader.description(of: frame.entry.id)), of: track)
    for (place, outcome) in frame.result.outcomes.enumerated() {
      guard case .facts(let facts) = outcome.content else { continue }
      newest[outcome.sink] = Found(
        facts: places.placed(facts, sink: outcome.sink),
        classNames: frame.classNames.indices.contains(place) ? frame.classNames[place] : [],
        timestamp: frame.entry.timestamp)
    }
    guard !frame.entry.isPayloadMissing, frame.entry.damage == nil else { return }
    try write(try reader.frame(frame.entry.id))
  }

  private func write(_ frame: Frame) throws {
    // Sorted, so that the video is the same in every run.
    let contents = newest.keys.sorted().compactMap { sink -> OverlayContent? in
      guard let found = newest[sink] else { return nil }
      let age = frame.timestamp.nanoseconds - found.timestamp.nanoseconds
      return OverlayContent(
        facts: found.facts, classNames: found.classNames, ageNanoseconds: age > 0 ? age : nil)
    }
    let drawn = try frame.drawingIfRoom(OverlayLayout(OverlayImage(frame)).shapes(of: contents))
    do {
      try openWriter(for: drawn).write(drawn)
    } catch let error as MediaError {
      // A lack of memory is not a fault of the file that the other error names.
      if error.isOutOfMemory { throw error }
      throw unwritable(error)
    }
  }

  private func openWriter(for frame: Frame) throws -> Writer {
    if let writer { return writer }
    let made = try Writer(frame, container, file.descriptor, path)
    writer = made
    return made
  }

  private func unwritable(_ error: MediaError) -> ReplayError {
    .unwritable(.overlay, path: path, cause: error.cause ?? error.message)
  }

  func finish() throws {
    do {
      try writer?.finish()
    } catch let error as MediaError {
      throw unwritable(error)
    }
    try file.finish()
  }

  func discard() { file.discard() }

  var loss: ReplayError? { file.loss }

  /// The encoder and the container, created for the first image.
  private final class Writer {
    private let encoder: MediaEncoder
    private let muxer: MediaMuxer
    private let scalers = MediaScalers()
    private let width: Int
    private let height: Int
    private let start: Int64
    private var last = Int64(-1)
    /// The last packet, held until the time of the next one is known. Otherwise the last image of a
    /// file would have no duration, and players would leave it out.
    private var held: MediaPacket?
    private var lastDuration: Int64

    init(
      _ frame: Frame, _ container: String, _ descriptor: Int32, _ path: String
    ) throws {
      let picture = OverlayImage(frame)
      // 4:2:0 encoders need even dimensions.
      (width, height) = (picture.uprightWidth & ~1, picture.uprightHeight & ~1)
      start = frame.timestamp.nanoseconds
      // The duration for a file with a single image.
      lastDuration = Int64(OverlayVideo.timeBase.denominator) / 30
      // Two at least: the even number below one pixel is 0.
      let first = try Self.prepared(frame, scalers, max(2, width), max(2, height))
      // libx264 is not in every build of FFmpeg; mpeg4 needs no other library.
      let isH264 = MediaLibraries.hasEncoder("libx264")
      var settings = EncoderSettings(
        encoder: isH264 ? "libx264" : "mpeg4", for: first, timeBase: OverlayVideo.timeBase)
      if isH264 {
        settings.options = [.init("preset", "veryfast"), .init("crf", "18")]
      } else {
        settings.quantizer = 3
      }
      encoder = try MediaEncoder(settings)
      var stream = encoder.stream
      stream.index = 0
      muxer = try MediaMuxer(
        format: container, to: .descriptor(descriptor), file: path, streams: [stream],
        comment: OverlayVideo.mark)
    }

    private static func prepared(
      _ frame: Frame, _ scalers: MediaScalers, _ width: Int, _ height: Int
    ) throws -> Frame {
      let plain = frame.format == .i420 ? frame : try scalers.scale(frame, format: .i420)
      let upright = try plain.turnedUpright()
      guard upright.width != width || upright.height != height else { return upright }
      return try scalers.scale(upright, width: width, height: height)
    }

    func write(_ frame: Frame) throws {
      let picture = try Self.prepared(
        frame, scalers, encoder.settings.width, encoder.settings.height)
      let step = frame.timestamp.nanoseconds - start
      // A little more than a day in nanoseconds, times 90,000, does not fit into 64 bits.
      let units = (Int128(step) * 90_000 + 500_000_000) / 1_000_000_000
      // Times must rise in a container, also for frames that are closer than a unit or out of
      // order.
      last = max(last + 1, Int64(units))
      try put(try encoder.encode(picture, pts: last))
    }

    func finish() throws {
      try put(try encoder.finish())
      if var packet = held {
        packet.duration = lastDuration
        try muxer.write(packet)
      }
      try muxer.finish()
    }

    private func put(_ packets: [MediaPacket]) throws {
      for var packet in packets {
        packet.stream = 0
        packet.dts = packet.dts ?? packet.pts
        if var before = held {
          lastDuration = max(1, (packet.pts ?? 0) - (before.pts ?? 0))
          before.duration = lastDuration
          try muxer.write(before)
        }
        held = packet
      }
    }
  }
}
