import RetakeBuffers
import RetakeCore
import RetakeMedia

/// Where a recorder takes its frames from: a scene, a file, a camera.
///
/// A recorder asks from one thread, and asks for the next frame while the last one is waiting for
/// its time.
public protocol RecordingSource: Sendable {
  var description: SourceDescription { get }

  /// Starts from the beginning.
  ///
  /// - Throws: Whatever is wrong with the source, before anything is written.
  func open() throws -> any FrameStream
}

/// What a source says of itself.
public struct SourceDescription: Hashable, Sendable {
  /// For people, such as `synthetic:figures`.
  public var name: String
  /// One at least; the session's tracks have these numbers, from 0.
  public var tracks: [SourceTrack]
  /// Its frames come at their own time, whoever waits for them, and it can be opened once at a time.
  public var isLive: Bool

  public init(
    name: String, timeBase: TimeBase, framesPerSecond: Double? = nil, isLive: Bool = false
  ) {
    self.init(
      name: name, tracks: [SourceTrack(timeBase: timeBase, framesPerSecond: framesPerSecond)],
      isLive: isLive)
  }

  public init(name: String, tracks: [SourceTrack], isLive: Bool = false) {
    precondition(!tracks.isEmpty, "a source has a track")
    self.name = name
    self.tracks = tracks
    self.isLive = isLive
  }

  /// Of all tracks together; nil when it is not known of one of them.
  public var framesPerSecond: Double? {
    tracks.reduce(0) { sum, track in
      sum.flatMap { sum in track.framesPerSecond.map { sum + $0 } }
    }
  }
}

/// What a source says of one of its tracks.
public struct SourceTrack: Hashable, Sendable {
  /// Of the presentation times.
  public var timeBase: TimeBase
  /// Nominal; nil when nobody knows. The recorder holds its encoder against it.
  public var framesPerSecond: Double?
  /// Where the frames are decoded from, if they are.
  package var stream: MediaStream?

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

/// The frames of a source, one after another. One thread at a time uses it.
public protocol FrameStream: AnyObject {
  /// The next frame; nil at the end.
  ///
  /// - Throws: When the source is lost; the recorder finishes what it has. `MissedFrame` when there
  ///   was no memory for this one.
  func next() throws -> SourceFrame?

  /// The next frame, or what happened to the source meanwhile. A live source comes back from this
  /// call within half a second, so that the recorder can end.
  ///
  /// - Throws: As `next()` does, but for missed frames.
  func item() throws -> SourceItem

  /// Forgets the frames that came while nobody asked, so that the next one is new.
  func discardWaiting()

  /// The recorder asks no more.
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

/// What a source has to say.
public enum SourceItem: Sendable {
  case frame(SourceFrame)
  /// A frame that there was no memory for: it has a row, and no pixels.
  case missed(MissedFrame)
  /// Something happened to it: an event of the recorder's in the session.
  case note(kind: String, json: JSONValue)
  /// Nothing yet.
  case nothing
  case end
}

/// A frame as a source gives it.
public struct SourceFrame: Sendable {
  /// Its time stamp is where the frame lies on the source's time line.
  public var frame: Frame
  /// In the source's time base; nil when it gave none.
  public var pts: Int64?
  /// In units of the time base; 0 when unknown.
  public var duration: Int64
  /// One of the source's tracks.
  public var track: Int
  /// What it was decoded from, if it was.
  var original: OriginalPacket?

  public init(frame: Frame, pts: Int64?, duration: Int64 = 0, track: Int = 0) {
    self.frame = frame
    self.pts = pts
    self.duration = duration
    self.track = track
  }
}

/// A frame that a source had, and there was no memory for; the next one may come. A `FrameStream`
/// that gives frames alone throws it.
public struct MissedFrame: Error, Hashable, Sendable {
  /// On the source's time line; nil when it gave none.
  public var timestamp: Timestamp?
  /// In the source's time base.
  public var pts: Int64?
  /// One of the source's tracks.
  public var track: Int

  public init(timestamp: Timestamp?, pts: Int64?, track: Int = 0) {
    (self.timestamp, self.pts, self.track) = (timestamp, pts, track)
  }
}

/// When a source's frames reach the recorder.
public enum RecordingPace: String, Hashable, Sendable, Codable, CaseIterable {
  /// Each at its own time, as a camera's would; payload that the encoder has no time for is shed.
  case realtime
  /// As fast as they are encoded; nothing is shed, and the session is the same every time.
  case unpaced
}
