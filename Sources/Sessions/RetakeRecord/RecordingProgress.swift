package import RetakeCore
public import RetakeSession
import RetakeStore

/// The progress of a recording: counts of the rows that were written, and will survive a crash of
/// the process.
///
/// A `Recorder` reports one after each commit (see `RecorderOptions.commitInterval`), and a last
/// one with `closed`. The counts are totals from the beginning of the recording up to the commit. A
/// report also comes without a new commit while another program has locked the database
/// (`databaseHolder`), and once for a ring that is too small (`ringIsShort`). Each report is a line
/// of `retake record --json`.
///
/// ```swift
/// let recorder = try Recorder(source, options: RecorderOptions(name: "yard")) { progress in
///   show("\(progress.frames.recorded) of \(progress.frames.captured) frames have pixels")
///   if let holder = progress.databaseHolder { show("waiting for \(holder)") }
/// }
/// ```
///
/// Only `pipeline` and `rate` describe the time of the report and not the commit.
public struct RecordingProgress: Hashable, Sendable, Codable {
  /// The frames that reached the recorder, by outcome: `captured` is the sum of `recorded` and of
  /// all numbers in `missing`.
  public struct Frames: Hashable, Sendable, Codable {
    /// Frames that reached the recorder. Each has a row in the session, with or without pixels.
    public var captured = 0
    /// Frames whose pixels are in the session's media.
    public var recorded = 0
    /// Frames without pixels, by cause, such as `record.shed.encoder`: docs/recording.md lists the
    /// causes. Causes that did not occur are absent.
    public var missing: [String: Int] = [:]

    mutating func count(hasPixels: Bool, cause: String?) {
      captured += 1
      if hasPixels {
        recorded += 1
      } else {
        missing[cause ?? RecordCause.encodeFailed, default: 0] += 1
      }
    }
  }

  /// Frames that reached the recorder and have no row, because the database could not be written;
  /// `frames` does not count them. `nil` if there are none.
  public var unwritten: Int?

  /// Progress of one of several tracks.
  package struct Track: Hashable, Sendable, Codable {
    /// The number of the session's track.
    package var track: Int
    /// The counts of this track alone.
    package var frames = Frames()
    /// Digest of this track's frames, computed like `packetDigest`.
    package var packetDigest = Digest128.zero

    init(track: Int) {
      self.track = track
    }
  }

  package var v = 1
  /// The number of the database's last commit; each commit increases it by one.
  package var commit = 0
  /// When the commit was made, on the session's time line.
  public var timeNanoseconds: Int64 = 0
  /// Totals of all tracks.
  public var frames = Frames()
  /// One for each track, by number; `nil` if there is only one track.
  package var tracks: [Track]?
  /// Sequence of the last frame in the commit, on that frame's own track; −1 before the first one.
  package var lastSequence = -1
  /// When that frame reached the recorder, on the session's time line; 0 before the first one.
  package var lastArrivalNanoseconds: Int64 = 0
  /// Rows of the session's table of events: changes of the device, notes of the app, and events of
  /// the source and the recorder. The events of a live pipeline are not among them.
  public var events = 0
  /// Media files that frames were committed to, of all tracks.
  package var segments = 0
  /// Bytes of the encoded frames, without the bytes of their containers.
  public var mediaBytes: Int64 = 0
  /// XXH3-128 over (sequence, packet hash) of every frame with pixels so far. A reader of the
  /// session can compute it again. With several tracks it covers only the first track.
  package var packetDigest = Digest128.zero
  /// Rates over the last 16 commits, about five seconds of a camera; `nil` before the second
  /// commit.
  package var rate: RecordingRate?
  /// Frames that left the pre-trigger ring before it was written; they are not part of the session.
  /// 0 without a ring.
  package var passed = 0
  /// True once, before anything is written: the pre-trigger ring's memory does not hold the
  /// requested time.
  package var ringIsShort: Bool?
  /// Notes on data of the source that the session lacks or changes, such as colors that a preset
  /// rounds; `nil` without such data.
  package var notes: [String]?
  /// The progress of the live pipeline; `nil` without a pipeline.
  public var pipeline: PipelineProgress?
  /// The counts of a recording with a shadow pipeline, and its moments; `nil` without one.
  package var shadow: ShadowProgress?
  /// The program that has locked the session's database while rows wait for it, such as `python3
  /// (process 4711)`; `nil` while no row waits.
  package var databaseHolder: String?
  /// `true` in the last report of a recording whose session was closed.
  public var closed = false
  /// The session's name, after it is finished.
  public var session: String?
  /// The session's folder, after it is finished.
  public var path: String?
  /// The session's status, after it is finished.
  public var status: SessionStatus?

  package init() {}

  mutating func count(_ frame: FrameRecord, hasPixels: Bool) {
    frames.count(hasPixels: hasPixels, cause: frame.cause)
    tracks?[frame.track].frames.count(hasPixels: hasPixels, cause: frame.cause)
    lastSequence = frame.sequence
    lastArrivalNanoseconds = frame.arrivalNanoseconds
  }

  mutating func setPacketDigest(_ digest: Digest128, track: Int) {
    if track == 0 { packetDigest = digest }
    tracks?[track].packetDigest = digest
  }
}
