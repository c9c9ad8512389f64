import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeStore

/// Takes a source's frames at their own time and hands them to the encoder, or sheds them. The
/// caller's thread.
struct RecorderCapture {
  let source: any RecordingSource
  let options: RecorderOptions
  let clock: any LiveClock
  let pipes: RecorderPipes
  var live: LiveRecording?

  func run(_ stream: any FrameStream, first: SourceFrame) {
    defer {
      live?.finish()
      pipes.captured.close()
    }
    var assumptions = FrameAssumptions()
    var next: SourceFrame? = first
    var sequence = 0
    while let frame = next, waitForTime(of: frame) {
      if isBeyondLimit(frame, sequence: sequence, start: first.frame.timestamp) {
        return pipes.end(.limit)
      }
      capture(frame, sequence: sequence, assumed: assumptions.assumed(for: frame))
      sequence += 1
      do {
        next = try stream.next()
      } catch {
        let name = source.description.name
        pipes.note(
          source: "recorder", kind: "source.lost",
          json: .object(["cause": .string("\(error)")]))
        return pipes.end(.failed, failure: .sourceLost(source: name, cause: "\(error)"))
      }
    }
    pipes.end(.sourceEnded)
  }

  /// - Returns: false when the recording is to end.
  private func waitForTime(of frame: SourceFrame) -> Bool {
    let due = pipes.due(frame.frame.timestamp)
    // Ends: the clock reaches the time, or the recording ends.
    while !pipes.hasEnded {
      if clock.monotonicNanoseconds >= due { return true }
      clock.wait(untilNanoseconds: due, or: pipes.ended)
    }
    return false
  }

  private func isBeyondLimit(_ frame: SourceFrame, sequence: Int, start: Timestamp) -> Bool {
    if let framesMax = options.framesMax, sequence >= framesMax { return true }
    guard let durationMax = options.durationMax else { return false }
    return frame.frame.timestamp - start >= durationMax.nanoseconds
  }

  private func capture(
    _ captured: SourceFrame, sequence: Int, assumed: FrameRecord.Assumed
  ) {
    let bytes = CapturedFrame.bytes(of: captured.frame)
    let frame = captured.frame
    var record = FrameRecord(
      track: 0, sequence: sequence, pts: captured.pts, ptsNanoseconds: frame.timestamp.nanoseconds,
      arrivalNanoseconds: pipes.arrival(of: frame.timestamp), packet: nil, assumed: assumed)
    var isTaken = true
    switch options.pace {
    case .unpaced: pipes.captured.waitForRoom(bytes)
    case .realtime:
      let now = clock.monotonicNanoseconds
      isTaken = pipes.captured.offer(bytes, nowNanoseconds: now) == .take
    }
    if !isTaken { record.cause = pipes.shedCause }
    let waiting = pipes.captured.add(
      .frame(CapturedFrame(record: record, frame: isTaken ? frame : nil)))
    live?.push(record, frame)
    if waiting > RecorderOptions.waitingRowsMax {
      pipes.end(
        .failed,
        failure: .writeFailed(file: options.into, step: "wait", cause: "the disk stands still"))
    }
  }
}

/// What is odd about a frame's time, told from the frames before it.
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
