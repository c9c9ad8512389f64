import RetakeBuffers
import RetakeMedia
import RetakeRuntime

/// Receives a source's frames before the recording begins: some for the probe, then the first
/// frame.
struct SourceOpening {
  let source: any RecordingSource
  let stream: any FrameStream
  let clock: any LiveClock
  let pipes: RecorderPipes
  /// Why a connection ended without a frame.
  private let lossCause = Locked<String?>(nil)

  init(
    source: any RecordingSource, stream: any FrameStream, clock: any LiveClock,
    pipes: RecorderPipes
  ) {
    (self.source, self.stream, self.clock, self.pipes) = (source, stream, clock, pipes)
  }

  /// A source that sends no frame for this long is reported as a source without frames.
  static let nanosecondsMax: Int64 = 10_000_000_000

  /// Frames for the measurement. They come from a live source's own stream, because it cannot be
  /// opened twice; the recording then begins after them.
  ///
  /// - Throws: `RecordError.noFrames`, or the source's own error.
  func samples(_ count: Int) throws -> [SourceFrame] {
    // Others are opened a second time, so that the recording still begins with their first frame.
    let stream = source.description.isLive ? self.stream : try source.open()
    var samples: [SourceFrame] = []
    while samples.count < count, let frame = try next(of: stream) { samples.append(frame) }
    guard !samples.isEmpty else { throw noFrames }
    return samples
  }

  func next() throws -> SourceFrame? { try next(of: stream) }

  /// Why there is no first frame. It is not the source's fault if the recording was stopped before.
  var noFrames: RecordError {
    .noFrames(
      source: source.description.name, isStopped: pipes.reason == .stopped,
      cause: lossCause.withLock { $0 })
  }

  private var noMemory: MediaError {
    .noMemory(step: "receive a frame of the source", file: source.description.name)
  }

  func discardWaiting() {
    stream.discardWaiting()
  }

  private func next(of stream: any FrameStream) throws -> SourceFrame? {
    let deadline = clock.monotonicNanoseconds + Self.nanosecondsMax
    var isShortOfMemory = false
    // Ends: the deadline is reached, if the source itself does not end.
    while true {
      let item = try stream.item()
      switch item {
      case .frame(let frame): return frame
      case .end where isShortOfMemory: throw noMemory
      case .end: return nil
      case .note(_, .object(let members)):
        if case .string(let cause) = members["cause"] { lossCause.withLock { $0 = cause } }
        guard goesOn(until: deadline) else { return nil }
      case .note, .nothing, .missed:
        // The source sends frames, but there is not enough memory for them.
        if case .missed(let missed) = item, missed.isAboutMemory { isShortOfMemory = true }
        guard goesOn(until: deadline) else {
          if isShortOfMemory, !pipes.hasEnded { throw noMemory }
          return nil
        }
      }
    }
  }

  private func goesOn(until deadline: Int64) -> Bool {
    !pipes.hasEnded && clock.monotonicNanoseconds < deadline
  }
}
