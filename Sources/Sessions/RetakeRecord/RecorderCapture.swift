import RetakeCore
import RetakeRuntime
import RetakeSession
import RetakeStore

/// Receives a source's frames at their own time, and hands them to the encoder or sheds them. Runs
/// on the caller's thread.
struct RecorderCapture {
  let source: any RecordingSource
  let options: RecorderOptions
  let clock: any LiveClock
  let pipes: RecorderPipes
  var live: LiveRecording?
  var shadow: ShadowRun?
  var watch: RecordingWatch?
  let sensors: LiveSensorValues

  func run(_ stream: any FrameStream, first: SourceFrame) {
    var tracks = source.description.tracks.map { _ in CapturedTrack() }
    defer {
      for (number, track) in tracks.enumerated() {
        if let remark = track.interlaced.note(track: number, of: track.frames) {
          pipes.remark(remark)
        }
      }
      if let stream = stream as? any RemarkingStream {
        for loss in stream.losses { pipes.lose(loss) }
        for remark in stream.remarks(isCopied: options.preset == .copy) { pipes.remark(remark) }
      }
      // First: the pipeline's last rows go through `captured`, which is closed below.
      live?.finish()
      shadow?.finish()
      stream.close()
      pipes.captured.close()
    }
    var item = SourceItem.frame(first)
    // Ends: the source ends, or the recording is ended.
    while !pipes.hasEnded {
      switch item {
      case .frame(let frame):
        guard waitForTime(of: frame) else { return }
        let sequence = tracks[frame.track].frames
        if isBeyondLimit(
          frame.frame.timestamp, sequence: sequence, start: first.frame.timestamp)
        {
          return pipes.end(.limit)
        }
        capture(
          frame, sequence: sequence, assumed: tracks[frame.track].assumptions.assumed(for: frame))
        tracks[frame.track].frames += 1
        tracks[frame.track].interlaced.add(frame.firstField)
      // A missed frame has a sequence like any frame: accepted + dropped = produced
      // (docs/recording.md).
      case .missed(let missed):
        let sequence = tracks[missed.track].frames
        let time = missed.timestamp ?? Timestamp(nanoseconds: pipes.sessionTime)
        if isBeyondLimit(time, sequence: sequence, start: first.frame.timestamp) {
          return pipes.end(.limit)
        }
        capture(missed, at: time, sequence: sequence)
        tracks[missed.track].frames += 1
      case .note(let kind, let json):
        pipes.note(source: "recorder", kind: kind, json: json)
        if SourceWatch.Note.isAway(kind) { tellLost(code: kind) }
        if let change = SourceChange(kind: kind, json: json) { watch?.sourceChanged(change) }
      case .nothing:
        // A silent source sends no frame that could reach the limit, so the clock is asked.
        let time = Timestamp(nanoseconds: pipes.sessionTime)
        if isBeyondLimit(time, start: first.frame.timestamp) {
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
    // The event of a source that may come back, so that readers need one rule for both.
    let kind = SourceWatch.Note.lost(cause: "").kind
    pipes.note(source: "recorder", kind: kind, json: .object(["cause": .string(error.causeText)]))
    tellLost(code: kind)
    pipes.end(.failed, failure: RecordError.sourceLost(source: name, cause: error.causeText))
  }

  private func tellLost(code: String) {
    live?.sourceLost(code: code)
    shadow?.sourceLost(code: code)
  }

  /// - Returns: false when the recording should end.
  private func waitForTime(of frame: SourceFrame) -> Bool {
    // A live frame comes at its own time. Waiting would only make the next one late.
    guard !source.description.isLive else { return true }
    let due = pipes.due(frame.frame.timestamp)
    // Ends: the clock reaches the due time, or the recording ends.
    while !pipes.hasEnded {
      if clock.monotonicNanoseconds >= due { return true }
      clock.wait(untilNanoseconds: due, or: pipes.ended)
    }
    return false
  }

  private func isBeyondLimit(_ time: Timestamp, sequence: Int, start: Timestamp) -> Bool {
    // Each track's frames are counted, and the first track that would exceed the limit ends the
    // recording.
    if let framesMax = options.framesMax, sequence >= framesMax { return true }
    return isBeyondLimit(time, start: start)
  }

  private func isBeyondLimit(_ time: Timestamp, start: Timestamp) -> Bool {
    guard let durationMax = options.durationMax else { return false }
    return time.nanoseconds - start.nanoseconds >= durationMax.nanoseconds
  }

  /// The row records that the frame existed, and why it has no pixels.
  private func capture(_ missed: MissedFrame, at time: Timestamp, sequence: Int) {
    var record = FrameRecord(
      track: missed.track, sequence: sequence, pts: missed.pts, ptsNanoseconds: time.nanoseconds,
      arrivalNanoseconds: pipes.arrival(of: time), packet: nil)
    record.cause = missed.cause
    // If no frame gets pixels, the error is then the lack of memory and not a source without
    // frames.
    if missed.isAboutMemory { pipes.noteShortage() }
    pipes.captured.add(.frame(CapturedFrame(record: record, frame: nil, original: nil)))
    shadow?.miss(record)
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
    // Before the queue is asked, so that this frame already meets the smaller queue.
    pipes.watchMemory()
    switch options.pace {
    // Shedding would let the machine's speed decide which frames of the session have pixels.
    case .unpaced: pipes.captured.waitForRoom(bytes)
    case .realtime:
      let now = clock.monotonicNanoseconds
      isTaken = pipes.captured.offer(bytes, nowNanoseconds: now) == .take
    }
    record.cause = isTaken ? captured.cause : pipes.shedCause
    let waiting = pipes.captured.add(
      .frame(
        CapturedFrame(
          record: record, frame: isTaken ? frame : nil,
          // Other presets never read the packet, and its bytes are not in the queue's budget.
          original: isTaken && options.preset == .copy ? captured.original : nil)))
    sensors.seal(
      FrameID(track: record.track, sequence: record.sequence),
      timestamp: Timestamp(nanoseconds: record.ptsNanoseconds),
      arrival: Timestamp(nanoseconds: record.arrivalNanoseconds))
    // Shed frames, too: the encoder's speed must not change the pipeline's decisions.
    if let live, let shadow {
      shadow.push(record, frame, to: live)
    } else {
      live?.push(record, frame)
    }
    watch?.capture(record, frame)
    // Rows are never shed, so without this bound a disk that hangs would fill all memory.
    if waiting > RecorderOptions.waitingRowsMax {
      pipes.end(
        .failed,
        failure: RecordError.writeFailed(
          file: options.into, step: "wait", cause: "the disk stands still"))
    }
  }
}

/// The counters of a track's captured frames.
struct CapturedTrack: Sendable {
  /// The next sequence number.
  var frames = 0
  var assumptions = FrameAssumptions()
  var interlaced = InterlacedFrames()
}

/// The irregularities of a frame's time, compared with the frames before it.
struct FrameAssumptions: Hashable, Sendable {
  private var latest: Timestamp?

  mutating func assumed(for frame: SourceFrame) -> FrameRecord.Assumed {
    let time = frame.frame.timestamp
    var assumed: FrameRecord.Assumed = frame.pts == nil ? .ptsFromDuration : []
    if let latest, time == latest { assumed.insert(.ptsDuplicate) }
    if let latest, time < latest { assumed.insert(.ptsBackwards) }
    // The latest and not the last time: docs/formats/session.md marks each frame that comes after a
    // frame with a later time.
    latest = max(latest ?? time, time)
    return assumed
  }
}
