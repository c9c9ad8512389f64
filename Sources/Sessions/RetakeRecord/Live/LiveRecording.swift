import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeRuntime
import RetakeStore

/// A pipeline that runs alongside a recorder. It gets each captured frame, and its decisions go
/// into the same session.
final class LiveRecording: Sendable {
  let session: LiveSession
  private let note: (@Sendable (DeviceEvent) -> Void)?
  private let clock: any LiveClock
  private let tap: RunTap
  /// Tracks that the pipeline's sources read; the other tracks are only recorded.
  private let tracks: [Int]
  /// Number of frames that the pipeline was given, by track.
  private let produced: Locked<[Int: Int]>
  private let watch = Locked<DeviceWatch?>(nil)
  private let ended = Locked<Result<RunOutcome, any Error>?>(nil)

  /// - Parameter run: The number of a run whose frames are compared: only its pipeline is stored
  ///   here, and the writer stores the results of the frames that it keeps.
  init(
    _ live: LivePipeline, first: SourceFrame, source: SourceDescription, preset: RecordingPreset,
    clock: any LiveClock, pipes: RecorderPipes, sensors: LiveSensorValues,
    watch: RecordingWatch? = nil, comparedAs run: Int? = nil
  ) throws {
    let tracks = Self.tracks(of: source, first: first)
    let isExact = tracks.allSatisfy {
      preset.isLossless && preset.format(for: $0.format) == $0.format
    }
    let tap = try RunTap(live.pipeline, hasExactPixels: isExact, watch: watch) { rows in
      guard let rows = run.map({ rows.compared(as: $0) }) ?? rows else { return }
      pipes.captured.add(.run(rows))
    }
    let session = try LiveSession(
      try sensors.connect(live.pipeline), tracks: tracks, catalog: live.registry,
      options: live.options, clock: clock,
      tap: tap)
    (self.tap, self.tracks) = (tap, session.tracks)
    produced = Locked(Dictionary(uniqueKeysWithValues: session.tracks.map { ($0, 0) }))
    self.session = session
    self.clock = clock
    let note: @Sendable (DeviceEvent) -> Void = { event in
      pipes.note(source: DeviceEvent.source, kind: event.kind.rawValue, json: event.json)
      session.push(event)
      watch?.happened(event)
    }
    self.note = live.watchesDevice ? note : nil
  }

  /// From now on, changes of the device are recorded as events, if the options ask for it.
  func watchDevice() {
    guard let note else { return }
    // If no thread can be created, the recording continues without device events.
    guard let started = try? DeviceWatch(clock: clock, note: note) else { return }
    watch.withLock { $0 = started }
  }

  /// The properties of each track's frames, from the first frame or from the source's description.
  static func tracks(of source: SourceDescription, first: SourceFrame) -> [LiveTrack] {
    source.tracks.enumerated().compactMap { number, track in
      if number == first.track {
        let frame = first.frame
        return LiveTrack(
          track: number, timeBase: track.timeBase, format: frame.format, width: frame.width,
          height: frame.height)
      }
      // A track that has not given a frame yet is known by its description alone.
      guard let stream = track.stream,
        let format = PixelFormat(ffmpegName: stream.pixelFormatName)
      else { return nil }
      return LiveTrack(
        track: number, timeBase: track.timeBase, format: format, width: stream.width,
        height: stream.height)
    }
  }

  /// Forwards a captured frame, if the pipeline reads its track. It never blocks.
  ///
  /// - Returns: Whether the frame will be decided.
  @discardableResult
  func push(_ record: FrameRecord, _ frame: Frame) -> Bool {
    guard tracks.contains(record.track) else { return false }
    produced.withLock { $0[record.track, default: 0] += 1 }
    let id = FrameID(track: record.track, sequence: record.sequence)
    var frame = frame
    frame.id = id
    return session.push(
      FrameEntry(
        id: id, pts: record.pts, timestamp: frame.timestamp,
        arrival: Timestamp(nanoseconds: record.arrivalNanoseconds)),
      frame, sessionTime: record.arrivalNanoseconds)
  }

  /// No frames arrive for now.
  func sourceLost(code: String) {
    for track in tracks { session.sourceLost(track: track, code: code) }
  }

  /// The pipeline's progress; exact after it has finished.
  var progress: PipelineProgress {
    let produced = produced.withLock { $0 }
    if case .success(let outcome) = outcome {
      return PipelineProgress(
        produced: produced, outcome: outcome, results: tap.resultCount, drops: tap.drops)
    }
    let counts = session.counts
    return PipelineProgress(
      produced: produced, tracks: counts.tracks, frames: counts.ledger, results: tap.resultCount,
      pools: counts.pools, waits: counts.waits, drops: tap.drops)
  }

  /// Returns when the frames in the pipeline have finished, or the time limit is reached.
  func finish() {
    // First, so that the device cannot report to a run that has ended.
    watch.withLock { $0 }?.stop()
    let result = Result { try session.finish() }
    ended.withLock { $0 = result }
  }

  /// The outcome; nil until the pipeline has finished.
  var outcome: Result<RunOutcome, any Error>? { ended.withLock { $0 } }
}
