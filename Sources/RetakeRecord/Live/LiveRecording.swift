import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStore

/// A pipeline beside a recorder: it gets each frame that is captured, and what it decides goes into
/// the same session.
final class LiveRecording: Sendable {
  let session: LiveSession
  private let note: (@Sendable (DeviceEvent) -> Void)?
  private let clock: any LiveClock
  private let watch = Locked<DeviceWatch?>(nil)
  private let ended = Locked<Result<RunOutcome, any Error>?>(nil)

  init(
    _ live: LivePipeline, first: SourceFrame, timeBase: TimeBase, preset: RecordingPreset,
    clock: any LiveClock, pipes: RecorderPipes
  ) throws {
    let frame = first.frame
    let isExact = preset.isLossless && preset.format(for: frame.format) == frame.format
    let session = try LiveSession(
      live.pipeline,
      tracks: [
        LiveTrack(
          timeBase: timeBase, format: frame.format, width: frame.width, height: frame.height)
      ], catalog: live.registry, options: live.options, clock: clock,
      tap: try RunTap(live.pipeline, hasExactPixels: isExact) { pipes.captured.add(.run($0)) })
    self.session = session
    self.clock = clock
    let note: @Sendable (DeviceEvent) -> Void = { event in
      pipes.note(source: DeviceEvent.source, kind: event.kind.rawValue, json: event.json)
      session.push(event)
    }
    self.note = live.watchesDevice ? note : nil
  }

  /// From now on changes of the device are events, if they shall be.
  func watchDevice() {
    guard let note else { return }
    let started = DeviceWatch(clock: clock, note: note)
    watch.withLock { $0 = started }
  }

  /// Hands a captured frame on; it waits for nothing.
  func push(_ record: FrameRecord, _ frame: Frame) {
    let id = FrameID(track: record.track, sequence: record.sequence)
    var frame = frame
    frame.id = id
    session.push(
      FrameEntry(
        id: id, pts: record.pts, timestamp: frame.timestamp,
        arrival: Timestamp(nanoseconds: record.arrivalNanoseconds)),
      frame, sessionTime: record.arrivalNanoseconds)
  }

  /// Returns when the frames on their way have ended, or the time for that is over.
  func finish() {
    watch.withLock { $0 }?.stop()
    let result = Result { try session.finish() }
    ended.withLock { $0 = result }
  }

  /// Once it has finished.
  var outcome: Result<RunOutcome, any Error>? { ended.withLock { $0 } }
}
