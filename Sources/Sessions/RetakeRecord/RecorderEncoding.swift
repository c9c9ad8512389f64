import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeStore

/// Encodes captured frames and hands them to the writer. Runs on the encoder's thread.
final class RecorderEncoding: @unchecked Sendable {
  // @unchecked: only the encoder's thread uses it after the start.
  /// By track.
  private let encoders: [any PacketMaker]
  /// The source's name, for errors.
  private let source: String
  private let options: RecorderOptions
  private let pipes: RecorderPipes
  private var failures = 0

  /// Frames that may fail in a row.
  private static let failuresMax = 3

  init(
    encoders: [any PacketMaker], source: String, options: RecorderOptions, pipes: RecorderPipes
  ) {
    (self.encoders, self.source, self.options, self.pipes) = (encoders, source, options, pipes)
  }

  func run() {
    defer { pipes.encoded.close() }
    // Encoding is slow, so a thread that hands over a frame continues first.
    NamedThread.yieldingToWakers { encodeAll() }
  }

  private func encodeAll() {
    while true {
      let (rows, isClosed) = pipes.captured.takeAll()
      if rows.isEmpty {
        guard !isClosed else { return }
        pipes.captured.arrived.wait()
      }
      for row in rows {
        switch row {
        // Rows without payload pass through the same queues as frames, so that the writer receives
        // all rows in one order.
        case .event(let event): pipes.encoded.add(.event(event))
        case .run(let rows): pipes.encoded.add(.run(rows))
        case .compared(let frame): pipes.encoded.add(.compared(frame))
        case .frame(let frame): encode(frame)
        }
      }
    }
  }

  private func encode(_ captured: CapturedFrame) {
    var record = captured.record
    guard let frame = captured.frame else {
      pipes.encoded.add(.frame(record, nil))
      return
    }
    // Also when encoding fails: bytes that are never returned would block an unpaced source
    // forever.
    defer { pipes.captured.finish(CapturedFrame.bytes(of: frame)) }
    if let cause = pipes.lossCause {
      record.cause = cause
      pipes.encoded.add(.frame(record, nil))
      return
    }
    do {
      let encoded = try encoders[record.track].packet(
        of: frame, original: captured.original,
        wantsKey: pipes.takeKeyRequest(track: record.track),
        // The hash is the first thing to save time on: it can be found at the close, a shed frame
        // cannot. An unpaced session must not depend on the load, so it always has its hashes.
        hasTime: options.pace == .unpaced || !pipes.captured.isPressed)
      failures = 0
      if encoded == nil { record.cause = RecordCause.lostReference }
      if let encoded { waitForRoom(encoded.packet.size) }
      pipes.encoded.add(.frame(record, encoded))
    } catch {
      let isMemory = (error as? MediaError)?.isOutOfMemory ?? false
      record.cause = isMemory ? RecordCause.shedMemory : RecordCause.encodeFailed
      pipes.encoded.add(.frame(record, nil))
      failed(error, at: record, endsRecording: !isMemory)
    }
  }

  /// Also for a packet without bytes, because the writer finishes each packet that it receives.
  private func waitForRoom(_ bytes: Int) {
    guard pipes.encoded.offer(bytes) == .full else { return }
    // While this thread waits, the queue upstream of it fills up because of the disk, and frames
    // that are shed there must get that cause.
    pipes.setDiskBehind(true)
    pipes.encoded.waitForRoom(bytes)
    pipes.setDiskBehind(false)
  }

  /// A lack of memory may be temporary, so encoding is retried with each frame while the recording
  /// lasts.
  private func failed(_ error: any Error, at record: FrameRecord, endsRecording: Bool) {
    if endsRecording { failures += 1 } else { pipes.noteShortage() }
    pipes.encoded.add(
      .event(
        EventRecord(
          ordinal: 0, timeNanoseconds: record.arrivalNanoseconds, track: record.track,
          source: "recorder", kind: "encoder.failed",
          json: JSONValue.object(["cause": .string(error.causeText)]).canonicalText)))
    if case .shownAgain? = error as? CopyRefusal {
      // No later packet would show only its own frame again.
      pipes.end(.failed, failure: RecordError.notCopyable(source: source, cause: error.causeText))
    } else if failures >= Self.failuresMax {
      pipes.end(
        .failed,
        failure: RecordError.encoderFailed(preset: options.preset.rawValue, cause: error.causeText))
    }
  }
}
