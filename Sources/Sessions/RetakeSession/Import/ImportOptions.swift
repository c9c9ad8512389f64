/// Options of an import.
public struct ImportOptions: Hashable, Sendable {
  /// Whether frames that repeat the end of the previous chapter are kept.
  public enum Overlap: String, Hashable, Sendable, CaseIterable {
    /// Each presentation is a frame; a note names them.
    case keep
    /// The second copies are left out.
    case once
  }

  let file: String
  let appending: [String]
  let overlap: Overlap
  let name: String?
  let into: String
  let tracks: [Int]
  let link: Bool
  let sensors: [String]
  let times: String?
  let hasTelemetry: Bool
  let hasSound: Bool

  /// All files, in the order of the recording.
  var files: [String] { [file] + appending }

  /// By default, copies the file into a session in `Recordings`, with all of its video tracks.
  /// The file is first checked when the import runs.
  ///
  /// - Parameters:
  ///   - file: The path of the media file. Symbolic links are followed.
  ///   - appending: The files that continue the recording, in their order: chapters of an action
  ///     camera, for example. Their frames, sound and telemetry are moved to the end of the file before.
  ///   - overlap: Whether frames that repeat the end of the previous file are kept.
  ///   - name: The session's name, which has to be safe for a folder; `nil` uses the file's name
  ///     without its extension, made safe.
  ///   - into: The parent folder of the session's folder.
  ///   - tracks: The file's own stream numbers; empty selects all video tracks.
  ///   - link: Link to the file instead of copying it.
  ///   - sensors: Files of samples that are imported with the frames, in the syntax of `--sensor`:
  ///     `imu.csv:time=t,unit=us`. `docs/sensors.md` has the keys.
  ///   - times: A file with the time of each frame, for a stream without times, in the syntax of
  ///     `--times`: `video.pts`, or `frames.csv:time=t,unit=us`.
  ///   - hasTelemetry: Whether to import the camera's own measurements, if the file has them
  ///     (GPMF, or subtitles of a drone).
  ///   - hasSound: Whether to make a sensor `sound` of each audio track: its waveform.
  public init(
    file: String, appending: [String] = [], overlap: Overlap = .keep, name: String? = nil,
    into: String = "Recordings", tracks: [Int] = [], link: Bool = false, sensors: [String] = [],
    times: String? = nil, hasTelemetry: Bool = true, hasSound: Bool = true
  ) {
    self.file = file
    self.appending = appending
    self.overlap = overlap
    self.name = name
    self.into = into
    self.tracks = tracks
    self.link = link
    self.sensors = sensors
    self.times = times
    self.hasTelemetry = hasTelemetry
    self.hasSound = hasSound
  }
}
