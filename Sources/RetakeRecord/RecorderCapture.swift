import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeStore

/// Takes a source's frames at their own time, and hands them to the encoder or sheds them. Runs on
/// the caller's thread.
struct RecorderCapture {
  let source: any RecordingSource
  let options: RecorderOptions
  let clock: any LiveClock
  let pipes: RecorderPipes
  var live: LiveRecording?
  var watch: RecordingWatch?

  func run(_ stream: any FrameStream, first: SourceFrame) {
    defer {
      live?.finish()
      stream.close()
      pipes.captured.close()
    }
    var tracks = source.description.tracks.map { _ in CapturedTrack() }
    var item = SourceItem.frame(first)
    // Ends: the source ends, or the recording is ended.
    while !pipes.hasEnded {
      switch item {
      case .frame(let frame):
        guard waitForTime(of: frame) else { return }
        let sequence = tracks[frame.track].frames
        if isBeyondLimit(frame, sequence: sequence, start: first.frame.timestamp) {
          return pipes.end(.limit)
        }
        capture(
          frame, sequence: sequence, assumed: tracks[frame.track].assumptions.assumed(for: frame))
        tracks[frame.track].frames += 1
      case .missed(let missed):
        capture(missed, sequence: tracks[missed.track].frames)
        tracks[missed.track].frames += 1
      case .note(let kind, let json):
        pipes.note(source: "recorder", kind: kind, json: json)
        if SourceWatch.Note.isAway(kind) { live?.sourceLost(code: kind) }
      case .nothing:
        if isBeyondLimit(pipes.sessionTime, start: first.frame.timestamp) {
          return pipes.end(.limit)
        }
      case .end: return pipes.end(.sourceEnded)
      }
      do {
        item = try stream.item()
      } catch {
        return lost(error)
      }
    }
  }

  private func lost(_ error: any Error) {
    let name = source.description.name
    let kind = SourceWatch.Note.lost(cause: "").kind
    pipes.note(source: "recorder", kind: kind, json: .object(["cause": .string("\(error)")]))
    live?.sourceLost(code: kind)
    pipes.end(.failed, failure: .sourceLost(source: name, cause: "\(error)"))
  }

  /// - Returns: false when the recording should end.
  private func waitForTime(of frame: SourceFrame) -> Bool {
    guard !source.description.isLive else { return true }
    let due = pipes.due(frame.frame.timestamp)
    // Ends: the clock reaches the due time, or the recording ends.
    while !pipes.hasEnded {
      if clock.monotonicNanoseconds >= due { return true }
      clock.wait(untilNanoseconds: due, or: pipes.ended)
    }
    return false
  }

  private func isBeyondLimit(_ frame: SourceFrame, sequence: Int, start: Timestamp) -> Bool {
    if let framesMax = options.framesMax, sequence >= framesMax { return true }
    return isBeyondLimit(frame.frame.timestamp.nanoseconds, start: start)
  }

  private func isBeyondLimit(_ time: Int64, start: Timestamp) -> Bool {
    guard let durationMax = options.durationMax else { return false }
    return time - start.nanoseconds >= durationMax.nanoseconds
  }

  /// The row records that the frame existed, and why it has no pixels.
  private func capture(_ missed: MissedFrame, sequence: Int) {
    let time = missed.timestamp ?? Timestamp(nanoseconds: pipes.sessionTime)
    var record = FrameRecord(
      track: missed.track, sequence: sequence, pts: missed.pts, ptsNanoseconds: time.nanoseconds,
      arrivalNanoseconds: pipes.arrival(of: time), packet: nil)
    record.cause = RecordCause.shedMemory
    pipes.noteShortage()
    pipes.captured.add(.frame(CapturedFrame(record: record, frame: nil, original: nil)))
  }

  private func capture(
    _ captured: SourceFrame, sequence: Int, assumed: FrameRecord.Assumed
  ) {
    let bytes = CapturedFrame.bytes(of: captured.frame)
    let frame = captured.frame
    var record = FrameRecord(
      track: captured.track, sequence: sequence, pts: captured.pts,
      ptsNanoseconds: frame.timestamp.nanoseconds,
      arrivalNanoseconds: pipes.arrival(of: frame.timestamp), packet: nil, assumed: assumed)
    var isTaken = true
    pipes.watchMemory()
    switch options.pace {
    case .unpaced: pipes.captured.waitForRoom(bytes)
    case .realtime:
      let now = clock.monotonicNanoseconds
      isTaken = pipes.captured.offer(bytes, nowNanoseconds: now) == .take
    }
    if !isTaken { record.cause = pipes.shedCause }
    let waiting = pipes.captured.add(
      .frame(
        CapturedFrame(
          record: record, frame: isTaken ? frame : nil,
          original: isTaken && options.preset == .copy ? captured.original : nil)))
    live?.push(record, frame)
    watch?.capture(record, frame)
    if waiting > RecorderOptions.waitingRowsMax {
      pipes.end(
        .failed,
        failure: .writeFailed(file: options.into, step: "wait", cause: "the disk stands still"))
    }
  }
}

/// What was captured of a track so far.
struct CapturedTrack: Hashable, Sendable {
  /// The next sequence number.
  var frames = 0
  var assumptions = FrameAssumptions()
}

/// What is irregular about a frame's time, compared with the frames before it.
struct FrameAssumptions: Hashable, Sendable {
  private var latest: Timestamp?

  mutating func assumed(for frame: SourceFrame) -> FrameRecord.Assumed {
    let time = frame.frame.timestamp
    var assumed: FrameRecord.Assumed = frame.pts == nil ? .ptsFromDuration : []
    if let latest, time == latest { assumed.insert(.ptsDuplicate) }
    if let latest, time < latest { assumed.insert(.ptsBackwards) }
    latest = max(latest ?? time, time)
    return assumed
  }
}
