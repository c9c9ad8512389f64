import Foundation
package import RetakeBuffers
package import RetakeCore
import RetakeMedia
import RetakeStore

/// The contents of a session: the object that `session info --json` prints.
package struct SessionInfo: Hashable, Sendable, Codable {
  package struct Frames: Hashable, Sendable, Codable {
    /// Total of all tracks.
    package var captured: Int
    /// Frames with a recorded cause: they fail, as they did when they were recorded.
    package var damaged: Int
    /// Frames whose pixels the recorder shed.
    package var payloadMissing: Int
  }

  package struct Track: Hashable, Sendable, Codable {
    package var track: Int
    /// The bag's topic that the track was made of; nil for other sessions.
    package var topic: String?
    /// FFmpeg's name of the codec.
    package var codec: String
    /// In pixels.
    package var width: Int
    /// In pixels.
    package var height: Int
    package var format: PixelFormat
    package var range: ColorRange
    package var matrix: ColorMatrix
    /// How light becomes a sample, by FFmpeg's names, such as `bt709`, `smpte2084` (PQ) or
    /// `arib-std-b67` (HLG); nil if the source does not say it.
    package var transfer: String?
    /// The colors of red, green and blue, such as `bt709` or `bt2020`; nil if the source does not
    /// say it.
    package var primaries: String?
    /// The source's matrix if `matrix` has no word for it and is assumed, such as `ictcp`.
    package var otherMatrix: String?
    /// Values that the stream does not specify; Retake's default is used.
    package var assumed: [String]
    /// Clockwise.
    package var rotationDegrees: Int
    /// Whether players mirror it left to right before they rotate it; nil if not.
    package var mirrored: Bool?
    package var sampleAspect: String
    package var timeBase: String
    package var frames: Int
    package var packets: Int
    /// Total size of the packets.
    package var bytes: Int64
    /// `true` for a codec that does not show whether a picture was lost; nil for others.
    package var hidesLosses: Bool?
    /// Time of the first frame, not shifted.
    package var startNanoseconds: Int64
    /// From the first frame to the last.
    package var durationNanoseconds: Int64

    /// How players show it, as a sentence without a subject; nil if as it is stored.
    package var displayText: String? {
      guard rotationDegrees != 0 || mirrored == true else { return nil }
      return DisplayTurn(isMirrored: mirrored == true, degrees: Double(rotationDegrees)).text
    }

    /// The mean over the track; `nil` for fewer than two frames.
    package var framesPerSecond: Double? {
      guard frames > 1, durationNanoseconds > 0 else { return nil }
      return Double(frames - 1) * 1e9 / Double(durationNanoseconds)
    }
  }

  package struct Sensor: Hashable, Sendable, Codable {
    package var name: String
    package var kind: String
    package var unit: String
    package var channels: [String]
    package var source: String
    package var samples: Int

    init(_ sensor: SensorTrack) {
      (name, kind, unit) = (sensor.name, sensor.kind, sensor.unit)
      (channels, source, samples) = (sensor.channels, sensor.source, sensor.sampleCount)
    }
  }

  package var name: String
  package var path: String
  /// `imported` or `recorded`.
  package var kind: String
  package var status: SessionStatus
  package var schema: Int
  package var frames: Frames
  package var tracks: [Track]
  package var events: Int
  /// nil without sensors.
  package var sensors: [Sensor]?
  /// From the first frame of any track to the last.
  package var durationNanoseconds: Int64
  /// Size of all files in the folder.
  package var bytes: Int64
  package var sessionDigest: Digest128
  /// A description of the known losses.
  package var losses: String?
  /// Places where the file's timestamps do not simply increase, and how the session handles them;
  /// only the first 200. nil without such places.
  package var times: [TimePlace]?
  /// Total number of such places; nil without such places.
  package var timeCount: Int?
  /// The name of the source that the recorder or the importer stored.
  package var source: String?
  /// Facts about the footage that a user needs, such as tracks that follow one another, frames that
  /// change their size, opacity that is not decoded and equal frames; nil for ordinary footage.
  package var notes: [String]?
  /// Wall clock at zero of the time line; nil for sessions without a date, such as imported files.
  package var startedUnixNanoseconds: Int64?
  /// The same as a date in UTC, such as `2026-05-02T09:30:07Z`.
  package var started: String?
  /// The user's note; nil without one.
  package var note: String?
}

extension SessionReader {
  /// How complete the session is, as far as its rows and the sizes of its media files show it. The
  /// media is not read: bytes that changed in place are found by `retake session check`.
  public func status() throws -> SessionStatus { try sessionStatus() }

  package func sessionStatus() throws -> SessionStatus {
    try index.store.status(in: folder, faults: mediaFaults())
  }

  /// Looks at each media file.
  func mediaFaults() -> [MediaSizeFault] {
    MediaSizeFault.all(of: index.mediaSizes, in: folder)
  }

  /// The known losses: what the recorder or the importer stored, and media files that are missing
  /// or have another size.
  func losses(_ faults: [MediaSizeFault]) throws -> String? {
    let texts = [try index.store.meta("losses")].compactMap(\.self) + faults.map(\.text)
    return texts.isEmpty ? nil : texts.joined(separator: "; ")
  }

  /// The media files that the database names, relative to the folder, in segment order.
  package func mediaFiles() -> [String] {
    var files: [String] = []
    var known: Set<String> = []
    for number in index.segments.keys.sorted() {
      if let file = index.segments[number]?.file, known.insert(file).inserted {
        files.append(file)
      }
    }
    return files
  }

  /// Everything about the session that is known without decoding it.
  package func info() throws -> SessionInfo {
    let store = index.store
    var (frames, parts) = (
      SessionInfo.Frames(captured: 0, damaged: 0, payloadMissing: 0), [SessionInfo.Track]()
    )
    var times: [Int64] = []
    let topics = BagTopics.names(try store.meta(BagTopics.fact))
    for track in tracks {
      let counts = try store.counts(track: track.track)
      frames.captured += counts.frames
      frames.payloadMissing += counts.shed
      // A frame that was shed has a cause, too; it counts once, as missing.
      frames.damaged += max(0, counts.damaged - counts.shed)
      times += [counts.firstNanoseconds, counts.lastNanoseconds].compactMap(\.self)
      parts.append(part(track, counts, topic: topics[track.track]))
    }
    let (kind, source) = (try store.meta("kind"), try store.meta("source"))
    let started = try SessionDate.started(in: store)
    let places = try store.meta(TimePlaces.fact).flatMap { TimePlaces(stored: $0) }
    let notes = try footageNotes()
    let faults = mediaFaults()
    return SessionInfo(
      name: folder.name, path: folder.path, kind: kind ?? "recorded",
      status: try status(of: frames, faults),
      schema: Int(try store.meta("schema") ?? "") ?? 0, frames: frames, tracks: parts,
      events: try store.eventCount(),
      sensors: sensors.isEmpty ? nil : sensors.map { .init($0) },
      durationNanoseconds: (times.max() ?? 0) - (times.min() ?? 0),
      bytes: SessionBuilder.byteCount(ofFolder: folder.path), sessionDigest: try store.digest(),
      losses: try losses(faults), times: places?.places, timeCount: places?.count, source: source,
      notes: notes.isEmpty ? nil : notes,
      startedUnixNanoseconds: started, started: started.map(SessionDate.text),
      note: try SessionNote.text(in: store))
  }

  /// An earlier version may have called a session clean whose frames it had not decoded.
  private func status(
    of frames: SessionInfo.Frames, _ faults: [MediaSizeFault]
  ) throws -> SessionStatus {
    let stored = try index.store.status(in: folder, faults: faults)
    let standing = SessionStanding(
      damagedFrames: frames.damaged, missingFrames: frames.payloadMissing)
    return stored == .clean ? standing.status : stored
  }

  private func part(
    _ track: TrackDescription, _ counts: StoreReader.TrackCounts, topic: String?
  ) -> SessionInfo.Track {
    let row = index.parts[track.track].flatMap { parts in
      parts.keys.min().flatMap { parts[$0] }
    }
    let assumed = [row?.range == nil ? "range" : nil, row?.matrix == nil ? "matrix" : nil]
    let start = counts.firstNanoseconds ?? 0
    return SessionInfo.Track(
      track: track.track, topic: topic, codec: row?.codecName ?? "", width: track.width,
      height: track.height,
      format: track.format, range: track.range, matrix: track.matrix,
      transfer: track.color.transfer, primaries: track.color.primaries,
      otherMatrix: track.color.otherMatrix, assumed: assumed.compactMap(\.self),
      rotationDegrees: track.rotationDegrees, mirrored: track.isMirrored ? true : nil,
      sampleAspect: "\(track.sampleAspect.numerator)/\(track.sampleAspect.denominator)",
      timeBase: "\(track.timeBase)", frames: counts.frames, packets: counts.packets,
      bytes: counts.packetBytes,
      hidesLosses: StreamEvidence.isSilent(row?.codecName ?? "") ? true : nil,
      startNanoseconds: start,
      durationNanoseconds: (counts.lastNanoseconds ?? start) &- start)
  }
}
