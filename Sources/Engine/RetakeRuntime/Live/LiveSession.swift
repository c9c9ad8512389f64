public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
import RetakeTimePlane
import Synchronization

/// A pipeline that runs live, on frames that an app pushes.
///
/// One thread at a time decides. It handles events (frames, ends of bodies, events of the device,
/// commands) one after another, and this order is the order of the record. Stages run on a few
/// other threads. The app's threads only hand events over and never wait for the pipeline.
///
/// ```swift
/// let pipeline = Pipeline.named("yard").source(.session()).gray().motion().results("boxes")
/// let session = try LiveSession(
///   pipeline, tracks: [LiveTrack(format: .nv12, width: 1920, height: 1080)],
///   catalog: StageRegistry.builtIn)
/// Task { for await result in session.results { show(result.frame.result) } }
/// camera.onFrame { frame in session.push(frame) }  // on any thread
/// // …
/// let outcome = try await session.stop()
/// print(outcome.ledgers, outcome.lostBeforeCapture)
/// ```
public actor LiveSession {
  /// One result for each captured frame, as soon as the frame's outcome at every sink is known.
  ///
  /// A slow reader loses the oldest results; `counts.resultsDropped` is their number. Sinks get
  /// everything.
  public nonisolated let results: AsyncStream<LiveResult>
  /// The pipeline as it runs, with inserted conversions.
  public nonisolated let pipeline: Pipeline
  private nonisolated let run: LiveRun
  private nonisolated let door: LiveDoor
  private var ending: Task<RunOutcome, any Error>?

  /// Prepares the pipeline. It begins with the first frame that is pushed.
  ///
  /// - Parameters:
  ///   - pipeline: Its sources are of the kind `session`; another one brings its own frames and is
  ///     refused.
  ///   - tracks: The tracks that are pushed. A source node reads the track of its option `track`;
  ///     if there is only one track, a source with the default option reads that one.
  ///   - catalog: Creates `convert` if a stage needs another pixel format. The default has no
  ///     kinds; `StageRegistry.builtIn` has it.
  ///   - options: The number of threads, and how much may wait.
  /// - Throws: `PipelineError`, `RuntimeError`.
  public init(
    _ pipeline: Pipeline, tracks: [LiveTrack], catalog: some StageCatalog = StageRegistry(),
    options: LiveOptions = LiveOptions()
  ) throws {
    try self.init(pipeline, tracks: tracks, catalog: catalog, options: options, tap: nil)
  }

  /// - Parameter receive: Called with each result in place of `results`, which stays empty. It is
  ///   called by the thread that calls the sinks. If it is slow, deliveries wait, and at their bound
  ///   frames are lost before capture: no result is.
  package init(
    _ pipeline: Pipeline, tracks: [LiveTrack], catalog: some StageCatalog,
    options: LiveOptions, clock: any LiveClock = WallClock(), tap: (any LiveTap)?,
    receive: (@Sendable (LiveResult) -> Void)? = nil
  ) throws {
    try options.check()
    let prepared = try PreparedRun(live: pipeline, tracks: tracks, catalog: catalog)
    let door = LiveDoor(tracks: tracks)
    let (stream, continuation) = AsyncStream.makeStream(
      of: LiveResult.self, bufferingPolicy: .bufferingNewest(options.waitingResultsMax))
    run = LiveRun(
      prepared, of: pipeline, pushed: tracks, options: options, clock: clock, tap: tap
    ) { result in
      if let receive {
        receive(result)
      } else if case .dropped = continuation.yield(result) {
        door.countDroppedResult()
      }
    }
    run.onEnd.withLock { $0 = { continuation.finish() } }
    self.door = door
    self.pipeline = prepared.pipeline
    results = stream
  }

  deinit { run.inbox.close() }

  // MARK: Input from the app, on any thread

  /// A frame to write to, in memory of the pool of the source that reads the track. Finish it, and
  /// push it. Its memory is used again when the source's buffer is free, and a pool that shrinks
  /// returns it to the system. A source without a pool has a part of the run's memory.
  ///
  /// Its pixels are undefined: they may be the pixels of an earlier frame. No frame is refused
  /// here: a frame that finds no buffer is lost when it is pushed, and uses memory beyond the
  /// pool's size until then.
  ///
  /// - Parameters:
  ///   - track: One of the tracks that the session was made with.
  ///   - width: Pixels.
  ///   - height: Pixels.
  public nonisolated func makeFrame(
    track: Int = 0, format: PixelFormat, width: Int, height: Int, range: ColorRange = .limited,
    matrix: ColorMatrix? = nil
  ) -> WritableFrame {
    WritableFrame(
      in: run.memory.supply(of: run.sources[track].map { run.plan.nodes[$0].id } ?? ""),
      format: format, width: width, height: height, range: range, matrix: matrix)
  }

  /// The memory of the run's frames now, in use or not, in bytes.
  package nonisolated var memory: RunMemory { run.memory }

  /// Hands a frame over; never waits.
  ///
  /// - Parameters:
  ///   - frame: Its timestamp is its presentation time. Its ID is assigned here. Its pixels must
  ///     not be written to any more.
  ///   - track: One of the tracks that the session was made with; with another one, the process
  ///     ends with a message.
  ///   - pts: In the track's time base, if it has one.
  /// - Returns: The frame's ID.
  @discardableResult
  public nonisolated func push(_ frame: Frame, track: Int = 0, pts: Int64? = nil) -> FrameID {
    door.admit(track: track) { id in
      var frame = frame
      frame.id = id
      push(FrameEntry(id: id, pts: pts, timestamp: frame.timestamp), frame)
    }
  }

  /// Hands a frame over as `push` does, for a caller that reports at once whether the frame was
  /// accepted.
  ///
  /// - Returns: The frame's ID, and whether it will be decided. If not, it is lost before capture.
  package nonisolated func offer(
    _ frame: Frame, track: Int = 0
  ) -> (id: FrameID, isTaken: Bool) {
    var isTaken = false
    let id = door.admit(track: track) { id in
      var frame = frame
      frame.id = id
      let entry = FrameEntry(
        id: id, pts: frame.timestamp.nanoseconds, timestamp: frame.timestamp)
      isTaken = offer(entry, frame, sessionTime: 0)
    }
    return (id, isTaken)
  }

  /// Whether frames are still decided: not after `stop`, and not after a stage has halted the run.
  package nonisolated var isOpen: Bool { run.inbox.isOpen }

  /// Reports a frame for whose pixels there was no memory: it fails at its source.
  @discardableResult
  package nonisolated func pushFailed(
    timestamp: Timestamp, track: Int = 0, pts: Int64? = nil
  ) -> FrameID {
    door.admit(track: track) { push(FrameEntry(id: $0, pts: pts, timestamp: timestamp), nil) }
  }

  /// Pushes a frame as an app does, but with an ID and a time from the caller.
  ///
  /// - Returns: Whether the frame will be decided. If not, it is lost before capture.
  @discardableResult
  package nonisolated func push(
    _ entry: FrameEntry, _ frame: Frame?, sessionTime: Int64 = 0
  ) -> Bool {
    offer(entry, frame, sessionTime: sessionTime)
  }

  private nonisolated func offer(
    _ entry: FrameEntry, _ frame: Frame?, sessionTime: Int64
  ) -> Bool {
    run.begin(at: sessionTime, origin: entry.timestamp.nanoseconds)
    let isTaken = run.inbox.offer(entry, frame)
    if !isTaken { run.refused.count(track: entry.id.track) }
    return isTaken
  }

  /// Reports an event of the device.
  public nonisolated func push(_ event: DeviceEvent) {
    _ = run.inbox.postWhileOpen(.device(event))
  }

  /// The tracks that the pipeline's sources read; frames of other tracks are not used.
  public nonisolated var tracks: [Int] { run.sources.keys.sorted() }

  /// Reports that a track delivers no frames for now: a camera was unplugged, a stream fell silent.
  /// Later frames are accepted as before.
  ///
  /// - Parameters:
  ///   - track: The number of the track.
  ///   - code: The cause, as one word without spaces.
  public nonisolated func sourceLost(track: Int, code: String) {
    _ = run.inbox.postWhileOpen(.sourceLost(track: track, code: code))
  }

  /// The current counts; they may be slightly out of date.
  public nonisolated var counts: LiveCounts {
    var counts = run.counts.withLock { $0 }
    counts.refused = run.refused.total
    run.refused.add(to: &counts.tracks)
    counts.resultsDropped = door.droppedResults
    return counts
  }

  // MARK: Commands

  /// Replaces a node's stage for the frames that arrive from then on. Returns when the new stage is
  /// in force. Before the first frame, it waits for that frame.
  ///
  /// - Parameters:
  ///   - node: The node's ID; inside a forEach `x/NODE`.
  ///   - stage: Has the same input, output and output format as the stage that it replaces, and
  ///     accepts at least the same pixel formats.
  /// - Throws: `RuntimeError.unknownSwapNode`, `RuntimeError.swapRefused`; the old stage continues.
  public func swap(_ node: String, to stage: AnyStage) async throws {
    guard let index = run.plan.nodes.firstIndex(where: { $0.id == node }) else {
      throw RuntimeError.unknownSwapNode(node, nodes: run.plan.nodes.map(\.id))
    }
    let verdict = SwapVerdict()
    let swap = StageSwap(at: .nanoseconds(0), node: node, stage: stage)
    guard run.inbox.postWhileOpen(.swap(swap, node: index, verdict)) else {
      throw RuntimeError.swapRefused(node: node, code: LiveCode.ended)
    }
    if let code = await verdict.refusal() {
      throw RuntimeError.swapRefused(node: node, code: code)
    }
  }

  /// Accepts no more frames. Ends when the frames in flight have ended, at most after
  /// `options.drain`. Frames that have not ended by then stay in flight.
  ///
  /// - Throws: `RuntimeError`.
  @discardableResult
  public func stop() async throws -> RunOutcome {
    let task = ending ?? Task.detached { [run] in try await run.ended() }
    ending = task
    return try await task.value
  }

  /// Like `stop`, for a thread that may block.
  package nonisolated func finish() throws -> RunOutcome { try run.finish() }
}

extension LiveOptions {
  /// One less than the most workers: the first one belongs to the thread that decides.
  package static let workersRange = 1...Workers.countMax - 1

  func check() throws(RuntimeError) {
    let range = Self.workersRange
    guard range.contains(workers) else {
      throw .badOption(
        "between \(range.lowerBound) and \(range.upperBound) workers, not \(workers)")
    }
    guard (0...19).contains(niceness) else {
      throw .badOption("niceness is between 0 and 19, not \(niceness)")
    }
    for (count, name) in [
      (waitingFramesMax, "waitingFramesMax"), (waitingResultsMax, "waitingResultsMax"),
      (waitingDeliveriesMax, "waitingDeliveriesMax"),
    ] where count < 1 { throw .badOption("\(name) is at least 1, not \(count)") }
  }
}

/// Assigns IDs to pushed frames.
private final class LiveDoor: Sendable {
  private struct State: Sendable {
    /// By track.
    var next: [Int: Int]
    var droppedResults = 0
  }

  private let state: Mutex<State>

  init(tracks: [LiveTrack]) {
    var next: [Int: Int] = [:]
    for track in tracks { next[track.track] = 0 }
    state = Mutex(State(next: next))
  }

  /// Hands over the track's next frame while no other thread does: the decision core relies on a
  /// track's frames to come in the order of their IDs.
  func admit(track: Int, _ handOver: (FrameID) -> Void) -> FrameID {
    state.withLock { state in
      guard let sequence = state.next[track] else {
        requirementFailure(
          "frames are pushed to the tracks of the session, and track \(track) is not one of them")
      }
      state.next[track] = sequence + 1
      let id = FrameID(track: track, sequence: sequence)
      handOver(id)
      return id
    }
  }

  func countDroppedResult() { state.withLock { $0.droppedResults += 1 } }
  var droppedResults: Int { state.withLock { $0.droppedResults } }
}
