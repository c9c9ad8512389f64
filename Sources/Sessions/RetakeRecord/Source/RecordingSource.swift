public import RetakeBuffers
public import RetakeCore
package import RetakeMedia

/// A source of frames for a recorder: a scene, a file, a camera.
///
/// A recorder uses one thread, and requests the next frame while the last one waits for its time.
public protocol RecordingSource: Sendable {
  /// Known before `open()`, and always the same: a recorder makes the session's tracks of it, and
  /// names the session after it if the options have no name.
  var description: SourceDescription { get }

  /// Starts from the beginning.
  ///
  /// - Throws: Any error of the source, before anything is written.
  func open() throws -> any FrameStream
}

/// Describes a source.
public struct SourceDescription: Hashable, Sendable {
  /// Human-readable, such as `synthetic:figures`.
  public var name: String
  /// At least one; the session's tracks have these numbers, from 0.
  public var tracks: [SourceTrack]
  /// Whether frames arrive at their own time, whether or not they are requested. A live source can
  /// be opened only once at a time.
  public var isLive: Bool

  /// A source with one track. `framesPerSecond` is the track's nominal rate; nil when unknown.
  public init(
    name: String, timeBase: TimeBase, framesPerSecond: Double? = nil, isLive: Bool = false
  ) {
    self.init(
      name: name, tracks: [SourceTrack(timeBase: timeBase, framesPerSecond: framesPerSecond)],
      isLive: isLive)
  }

  /// `tracks` must have at least one element, or the process ends.
  public init(name: String, tracks: [SourceTrack], isLive: Bool = false) {
    precondition(!tracks.isEmpty, "a source has a track")
    self.name = name
    self.tracks = tracks
    self.isLive = isLive
  }

  /// Total of all tracks; nil when the rate of one of them is unknown.
  package var framesPerSecond: Double? {
    tracks.reduce(0) { sum, track in
      sum.flatMap { sum in track.framesPerSecond.map { sum + $0 } }
    }
  }
}

/// Describes one track of a source.
public struct SourceTrack: Hashable, Sendable {
  /// Time base of the presentation times.
  public var timeBase: TimeBase
  /// Nominal rate; nil when unknown. The recorder checks its encoder against it.
  public var framesPerSecond: Double?
  /// The stream that the frames are decoded from, if any.
  package var stream: MediaStream?

  /// A track of an app's or a reader's frames. They have no packets, so the preset `copy` refuses
  /// them.
  public init(timeBase: TimeBase, framesPerSecond: Double? = nil) {
    self.timeBase = timeBase
    self.framesPerSecond = framesPerSecond
  }

  package init(_ stream: MediaStream) {
    self.init(
      timeBase: stream.timeBase, framesPerSecond: stream.averageFrameRate?.framesPerSecond)
    self.stream = stream
  }
}

/// The frames of a source, one after another. Only one thread at a time uses it.
public protocol FrameStream: AnyObject {
  /// The next frame; nil at the end.
  ///
  /// - Throws: When the source is lost; the recorder then finishes what it has. `MissedFrame` when
  ///   there was not enough memory for this frame.
  func next() throws -> SourceFrame?

  /// The next frame, or what happened to the source in the meantime. A live source returns from
  /// this call within half a second, so that the recorder can end.
  ///
  /// - Throws: As `next()` does, except for missed frames.
  func item() throws -> SourceItem

  /// Discards the frames that arrived since the last request, so that the next one is new.
  func discardWaiting()

  /// The recorder makes no further requests.
  func close()
}

extension FrameStream {
  public func item() throws -> SourceItem {
    do {
      return try next().map(SourceItem.frame) ?? .end
    } catch let missed as MissedFrame {
      return .missed(missed)
    }
  }

  public func discardWaiting() {}
  public func close() {}
}

/// What a source returns.
public enum SourceItem: Sendable {
  case frame(SourceFrame)
  /// A frame that could not be decoded, or that there was not enough memory for: it has a row, but
  /// no pixels.
  case missed(MissedFrame)
  /// A state change of the source, recorded as an event of the recorder.
  case note(kind: String, json: JSONValue)
  /// No frame yet.
  case nothing
  case end
}

/// A frame as a source returns it.
public struct SourceFrame: Sendable {
  /// Its timestamp is on the source's time line.
  public var frame: Frame
  /// In the source's time base; nil when the source gave none.
  public var pts: Int64?
  /// In units of the time base; 0 when unknown.
  public var duration: Int64
  /// The number of the source's track.
  public var track: Int
  /// The packet that it was decoded from, if any.
  var original: OriginalPacket?
  /// Why the pixels cannot be trusted, as the cause in the frame's row.
  var cause: String?

  /// `frame` needs no ID of its own, because the recorder numbers frames. `pts` and `duration` are
  /// in the time base of the track.
  public init(frame: Frame, pts: Int64?, duration: Int64 = 0, track: Int = 0) {
    self.frame = frame
    self.pts = pts
    self.duration = duration
    self.track = track
  }
}

/// A frame that was lost for lack of memory, or because it could not be decoded; later frames may
/// follow. A `FrameStream` throws it if it returns only frames.
public struct MissedFrame: Error, Hashable, Sendable {
  /// On the source's time line; nil when unknown.
  public var timestamp: Timestamp?
  /// In the source's time base.
  public var pts: Int64?
  /// The number of the source's track.
  public var track: Int
  /// The cause in the frame's row.
  var cause = RecordCause.shedMemory

  /// Thrown by `FrameStream.next()`. The recorder gives the frame a row without pixels, with the
  /// cause `record.shed.memory`.
  public init(timestamp: Timestamp?, pts: Int64?, track: Int = 0) {
    (self.timestamp, self.pts, self.track) = (timestamp, pts, track)
  }

  /// A packet that gave no picture.
  init(refused packet: MediaPacket, _ error: MediaError, of stream: MediaStream, track: Int = 0) {
    self.init(
      timestamp: packet.pts.flatMap { Timestamp(pts: $0, timeBase: stream.timeBase) },
      pts: packet.pts, track: track)
    cause = error.isOutOfMemory ? RecordCause.shedMemory : error.code
  }

  var isAboutMemory: Bool { cause == RecordCause.shedMemory }
}

/// Whether frames reach the recorder at their own times.
public enum RecordingPace: String, Hashable, Sendable, Codable, CaseIterable {
  /// Each at its own time, as from a camera; payload that the encoder has no time for is shed.
  case realtime
  /// As fast as they are encoded; nothing is shed, and the session is reproducible.
  case unpaced
}
