public import Retake
public import RetakeClock

/// A frame of a session, as an app's camera delivers it.
public struct SessionFrame: Sendable {
  /// Which frame of the session it is.
  public let id: FrameID
  /// When it was captured, on the session's clock.
  public let timestamp: Timestamp
  /// Its pixels.
  public let frame: Frame
}

extension VirtualTime {
  /// A camera for an app's own code: the frames of a session arrive at the nanoseconds at which a
  /// replay with decisions sees them arrive. Time 0 is the first frame's presentation time. The
  /// test needs the trait `retake`.
  ///
  /// ```swift
  /// try await withVirtualTime { time in
  ///   let preview = Preview(clock: time.clock, camera: try time.camera(session: "yard"))
  ///   await time.run(until: .seconds(3))
  ///   #expect(await preview.shown == 90)
  /// }
  /// ```
  ///
  /// A frame is decoded when it arrives. The stream ends after the last frame, with the scope, or
  /// with the error of a frame that cannot be decoded.
  ///
  /// - Parameters:
  ///   - session: A session of the project, by its name in Recordings, or its path.
  ///   - track: The track whose frames arrive.
  ///   - buffering: Which frames are kept until they are awaited.
  /// - Throws: An error if the test has no project, if the session cannot be opened, or if it has
  ///   no such track.
  public func camera(
    session: String, track: Int = 0,
    buffering: AsyncThrowingStream<SessionFrame, any Error>.Continuation.BufferingPolicy =
      .unbounded
  ) throws -> AsyncThrowingStream<SessionFrame, any Error> {
    guard let scope = ReplayScope.current else { throw NoReplayTrait(call: "camera(session:)") }
    let (reader, arrivals) = try scope.hosted.arrivals(of: session, track: track)
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: SessionFrame.self, bufferingPolicy: buffering)
    play(
      at: arrivals.map { VirtualClock.Instant(nanoseconds: $0.nanoseconds) },
      deliver: { index in
        let entry = arrivals[index].entry
        do {
          let frame = SessionFrame(
            id: entry.id, timestamp: entry.timestamp, frame: try reader.frame(entry.id))
          if case .terminated = continuation.yield(frame) { return false }
          return true
        } catch {
          continuation.finish(throwing: error)
          return false
        }
      }, finish: { continuation.finish() })
    return stream
  }
}
