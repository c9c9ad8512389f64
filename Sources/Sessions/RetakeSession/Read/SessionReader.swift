import Foundation
public import RetakeBuffers
public import RetakeCore
import RetakeMedia
package import RetakeSensors
package import RetakeStore

/// A session, opened for reading. It never writes to the session's folder.
///
/// Safe to use from any thread. Every packet is checked against its checksum before it is decoded,
/// and a frame does not depend on earlier reads.
///
/// ```swift
/// let session = try SessionReader(opening: "Recordings/yard")
/// for track in session.tracks {
///   let rows = try session.entries(of: track.track, sequences: 0..<track.frameCount)
///   for row in rows where row.damage == nil && !row.isPayloadMissing {
///     print(row.id, try session.frame(row.id).digest)
///   }
/// }
/// ```
public final class SessionReader: FrameReader {
  /// The session's folder, with its absolute path.
  public let folder: SessionFolder
  /// The options that the reader was opened with.
  let options: ReadOptions
  /// In ascending order of their number, which is the stream's number in an imported file.
  public let tracks: [TrackDescription]
  package let index: SessionIndex
  /// The sensors that were recorded with the session.
  package let samples: SampleTable
  let memory: ImageMemory
  let pool: RunPool
  /// The processes that decode; `nil` if this process decodes.
  let processes: PictureProcesses?
  private let chains: [Int: ChainPlan]
  let checked = CheckedPackets()
  private let trust: RowTrust
  private let varyingTracks: Set<Int>

  /// How rows are verified before the first of them is returned.
  package enum RowTrust {
    /// All rows must equal the rows of the last commit; otherwise reading throws an error.
    case checked
    /// Not at all: for code that looks for damage, or has already checked the rows.
    case asTheyAre
  }

  /// Before a frame, an event or a digest is returned, the rows are compared with the digest that
  /// the last commit stored. A missing, added or altered row is an error then.
  ///
  /// - Throws: `SessionError`: not a session, a newer or damaged database.
  public convenience init(opening path: String, options: ReadOptions = ReadOptions()) throws {
    try self.init(SessionFolder(path: path), options: options, trust: .checked)
  }

  package convenience init(
    _ folder: SessionFolder, options: ReadOptions, trust: RowTrust = .asTheyAre
  ) throws {
    try self.init(
      folder, options: options, trust: trust,
      processes: PictureProcesses.ofReaders.withLock { $0 })
  }

  /// - Parameters:
  ///   - start: Starts the processes that decode; `nil` if this process decodes.
  ///   - arena: Where decoders write; `nil` = as `ImageMemory` does.
  init(
    _ folder: SessionFolder, options: ReadOptions, trust: RowTrust,
    processes start: PictureProcesses.Start?, arena: FrameArena? = nil
  ) throws {
    self.folder = folder
    self.trust = trust
    self.options = options
    let store = try Self.open(folder)
    index = try SessionIndex(folder: folder, store: store)
    // An altered row may cause another error, such as an unsupported format. Report the row
    // instead.
    if !Self.isReadable(index), trust == .checked {
      try store.requireWhole()
    }
    let isChecked = trust == .checked
    samples = try SampleTable(store) { if isChecked { try store.requireWhole() } }
    memory = ImageMemory(
      preparation: options.poisonsMemory ? .poisoned : .asItIs, arena: arena)
    let idleMax = start == nil ? .max : PictureProcesses.idleRunsMax
    pool = RunPool(countMax: min(options.idleDecodersMax, idleMax))
    processes = start.map {
      PictureProcesses(folder, poisons: options.poisonsMemory, start: $0)
    }
    varyingTracks = Set(
      index.parts.filter { _, parts in Set(parts.values.map(SegmentImages.init)).count > 1 }.keys)
    var descriptions: [TrackDescription] = []
    var chains: [Int: ChainPlan] = [:]
    // Numbered over all tracks, so that no two tracks share a chain.
    var next = 0
    for track in index.tracks {
      descriptions.append(try Self.description(of: track, in: index))
      let plan = try ChainPlan(
        track: track, first: next, framesPerChain: options.framesPerChain, store: store)
      chains[track] = plan
      next += plan.count
    }
    tracks = descriptions
    self.chains = chains
  }

  /// The colors that the source of a track declared; empty for a track that does not exist.
  package func color(of track: Int) -> ColorLabels {
    tracks.first { $0.track == track }?.color ?? ColorLabels()
  }

  /// Whether the images of a track differ in format, size or turn, as in appended files.
  package func imagesVary(in track: Int) -> Bool { varyingTracks.contains(track) }

  /// The track's description, with the format, the size and the turn of the frame's own segment.
  /// A frame without a packet has the description at the track's beginning.
  package func description(of id: FrameID) throws -> TrackDescription {
    guard var description = tracks.first(where: { $0.track == id.track }) else {
      throw SessionError.unknownTrack(session: folder.path, track: id.track, known: index.tracks)
    }
    guard imagesVary(in: id.track), let packet = try index.frame(id)?.packet,
      let segment = try index.packet(track: id.track, index: packet)?.segment,
      let part = index.parts[id.track]?[segment],
      let format = PixelFormat(ffmpegName: part.pixelFormat)
    else { return description }
    (description.format, description.rotationDegrees) = (format, part.rotationDegrees)
    (description.width, description.height) = (part.width, part.height)
    return description
  }

  /// Checks all rows once; later calls get the same result.
  package func requireWholeRows() throws {
    guard trust == .checked else { return }
    try index.store.requireWhole()
  }

  package static func open(_ folder: SessionFolder) throws -> StoreReader {
    var isFolder: ObjCBool = false
    // Without permission, the files below would look as if they did not exist.
    if access(folder.database, F_OK) != 0, errno == EACCES {
      throw ErrorFacts(
        "session.open.unreadable", "the session cannot be read", cause: POSIXError.last.systemText,
        at: folder.path, advice: SessionFolder.wayToRead(folder.path))
    }
    guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder) else {
      throw SessionError.notSession(path: folder.path, cause: "there is no such folder")
    }
    guard isFolder.boolValue else {
      throw SessionError.notSession(
        path: folder.path, cause: "it is a file, not a session's folder")
    }
    guard FileManager.default.fileExists(atPath: folder.database) else {
      // Media without a database can be indexed again; the advice for the two cases differs.
      guard folder.mediaOnDisk.isEmpty else { throw SessionError.noDatabase(path: folder.path) }
      throw SessionError.notSession(path: folder.path, cause: "it has no session.sqlite")
    }
    if LargeFilePointer(file: folder.database, links: .refused) != nil {
      throw SessionError.pointer(file: folder.database)
    }
    return try StoreReader(opening: folder.database)
  }

  private static func isReadable(_ index: SessionIndex) -> Bool {
    !index.parts.isEmpty
      && index.parts.values.allSatisfy { parts in
        parts.values.allSatisfy { PixelFormat(ffmpegName: $0.pixelFormat) != nil }
      }
  }

  private static func description(
    of track: Int, in index: SessionIndex
  ) throws -> TrackDescription {
    guard let parts = index.parts[track], let first = parts.keys.min(), let part = parts[first]
    else {
      throw SessionError.unknownTrack(session: index.folder.path, track: track, known: index.tracks)
    }
    let stream = MediaStream(part)
    guard let format = PixelFormat(ffmpegName: part.pixelFormat) else {
      throw MediaError.pixelFormat(format: part.pixelFormat, file: nil)
    }
    let counts = try index.store.counts(track: track)
    var description = TrackDescription(
      track: track, timeBase: part.timeBase, format: format, width: part.width,
      height: part.height, range: stream.range,
      matrix: format.isYUV ? stream.matrix : .identity, rotationDegrees: part.rotationDegrees,
      sampleAspect: stream.sampleAspect, frameCount: counts.frames)
    let colors = try index.store.meta(ColorFacts.fact)
    description.color = ColorFacts(stored: colors)[track]
    description.isMirrored = index.mirrored.contains(track)
    // A track's size may change between segments, and memory is planned for the largest frame.
    for part in parts.values {
      guard let format = PixelFormat(ffmpegName: part.pixelFormat) else { continue }
      description.noteFrame(format, width: part.width, height: part.height)
    }
    return description
  }

  /// The index rows of a track, in ascending order of their sequence.
  public func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    try index.requireTrack(track)
    try requireWholeRows()
    let frames = try index.store.wholeFrames(track: track, sequences: sequences)
    let packets = try index.store.packetFacts(track: track, sequences: sequences)
    return frames.map { frame in
      let packet = packets[frame.sequence]
      var entry = FrameEntry(
        id: FrameID(track: track, sequence: frame.sequence), pts: frame.pts,
        timestamp: Timestamp(nanoseconds: frame.ptsNanoseconds),
        arrival: Timestamp(nanoseconds: frame.arrivalNanoseconds),
        // A frame without a packet was shed: its payload is missing, and its media is not damaged.
        damage: frame.packet == nil ? nil : frame.cause, isPayloadMissing: frame.packet == nil,
        packetDigest: packet?.digest)
      entry.isKey = packet?.isKey
      return entry
    }
  }

  /// Self-contained stretches of a track are separate chains, so that several threads can decode
  /// one track.
  public func chain(of id: FrameID) -> Int {
    guard let plan = chains[id.track] else { return 0 }
    // With memory for only one decoder, separate chains would make it start again repeatedly.
    guard pool.hasRoomForTwo(track: id.track, frameBytes: frameBytes(of: id.track)) else {
      return plan.first
    }
    return plan.chain(of: id.sequence)
  }

  /// Whether the chains of a track have many frames, so that the next chain is rarely decoded
  /// before the current one ends.
  func chainsAreLong(in track: Int) -> Bool {
    guard let plan = chains[track], let frames = tracks.first(where: { $0.track == track }) else {
      return false
    }
    return frames.frameCount >= 2 * (options.framesPerChain ?? 0) * plan.count
  }

  /// One digest of everything that the session contains.
  public func sessionDigest() throws -> Digest128 {
    try requireWholeRows()
    return try index.store.digest()
  }

  /// The events of the session, in the order in which they were recorded.
  public func events() throws -> [SessionEvent] {
    try requireWholeRows()
    return try index.store.events().map {
      SessionEvent(
        ordinal: $0.ordinal, timestamp: Timestamp(nanoseconds: $0.timeNanoseconds),
        track: $0.track, source: $0.source, kind: $0.kind, json: $0.json)
    }
  }
}

/// Properties of images that stay the same within a segment.
private struct SegmentImages: Hashable {
  var width: Int
  var height: Int
  var format: String
  var rotationDegrees: Int

  init(_ part: SegmentTrackRecord) {
    (width, height, format) = (part.width, part.height, part.pixelFormat)
    rotationDegrees = part.rotationDegrees
  }
}

extension SessionReader {
  /// The sensors that were recorded with the session, in the order of their numbers.
  public var sensors: [SensorTrack] { samples.sensors }

  /// The session's sensor samples, or `nil` if the session has no sensors.
  public var sensorReader: (any SensorReader)? { samples.sensors.isEmpty ? nil : samples }

  /// The events whose source is the device, by time, then by ordinal.
  ///
  /// - Throws: `DeviceEventError` for an event with unknown contents; `SessionError`.
  public func deviceEvents() throws -> [TimedDeviceEvent] {
    try events().filter { $0.source == DeviceEvent.source }
      .map { try $0.deviceEvent(session: folder.path) }
      .sorted { ($0.timestamp, $0.ordinal) < ($1.timestamp, $1.ordinal) }
  }
}

extension SessionEvent {
  fileprivate func deviceEvent(session: String) throws -> TimedDeviceEvent {
    do {
      return TimedDeviceEvent(
        ordinal: ordinal, timestamp: timestamp,
        event: try DeviceEvent(kind: kind, text: json))
    } catch let error as DeviceEventError {
      throw error.placed(ordinal: ordinal, session: session)
    }
  }
}

/// An event that was recorded with a session, such as one of the device or a command of the user.
public struct SessionEvent: Hashable, Sendable {
  /// The index in the session, without gaps.
  public var ordinal: Int
  /// On the session's time line, not shifted.
  public var timestamp: Timestamp
  /// `nil` for an event that concerns all tracks.
  public var track: Int?
  /// `device`, `recorder`, `recover`, or a name of an app's own.
  public var source: String
  /// The kind of the event, such as `thermal`. docs/formats/session.md lists the kinds of each
  /// source.
  public var kind: String
  /// A JSON object, as a string.
  public var json: String
}

extension SessionReader: MemoryKeepingReader {
  package func keepMemory(forFrames count: Int) { memory.keepWaiting(atMost: count) }
}
