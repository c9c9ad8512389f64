import Foundation
import RetakeBuffers
public import RetakeCore
import RetakeMedia
public import RetakeRuntime
import RetakeSession
import RetakeStore

/// Records a source into a new session.
///
/// ```swift
/// let source = try MediaFileSource(path: "clip.mp4")
/// let recorder = try Recorder(source, options: RecorderOptions(name: "yard")) { progress in
///   show(progress.frames.captured)
/// }
/// let result = try recorder.run()  // blocks; `stop()` on another thread ends it
/// show(result.folder.path, result.status, result.progress.frames.missing)
/// ```
///
/// A reported commit is durable: it survives a crash of the process and, on a disk that honors sync
/// requests, a loss of power.
public final class Recorder: Sendable {
  /// The clock, disk and memory of the machine; tests replace them.
  struct Machine: Sendable {
    var clock: any LiveClock = WallClock()
    var makeSink: @Sendable (String) -> SinkResult = FileSink.create
    var freeBytes: @Sendable (String) -> Int64? = FileSystem.freeBytes
    var memory = FreeMemory()
    var spoolRowsMax = RecorderOptions.spoolRowsMax
    var segmentsMax = StoreReader.segmentCountMax
  }

  private let source: any RecordingSource
  private let options: RecorderOptions
  private let machine: Machine
  private let target: SessionFolder
  private let note: String?
  private let report: @Sendable (RecordingProgress) -> Void
  private let pipes: RecorderPipes
  let sensors: LiveSensorValues
  private let pipeline: LivePipeline?
  private let live = Locked<LiveRecording?>(nil)
  private let shadow: ShadowPipeline?
  private let shadowRun = Locked<ShadowRun?>(nil)
  private let watch: RecordingWatch?

  /// The source stays closed until `run`.
  ///
  /// - Parameters:
  ///   - source: A file, a camera, a stream, or the frames of an app.
  ///   - options: The session's name and folder, how frames are encoded, and the bounds.
  ///   - pipeline: Runs on the recorded frames; its decisions go into the same session.
  ///   - watch: Is notified of captured frames and results, for example for a preview.
  ///   - report: Called after each commit on the writer's thread, so a slow callback delays
  ///     writing.
  /// - Throws: `SessionError.badName`, `.noteTooLong`, `RecordError.ringWithPipeline`,
  ///   `RecordError.ringWithTracks`.
  public convenience init(
    _ source: any RecordingSource, options: RecorderOptions, pipeline: LivePipeline? = nil,
    watch: RecordingWatch? = nil, report: @escaping @Sendable (RecordingProgress) -> Void = { _ in }
  ) throws {
    try self.init(
      source, options: options, machine: Machine(), pipeline: pipeline, watch: watch, report: report
    )
  }

  /// A recorder whose ring keeps the moments at which two pipelines disagree.
  ///
  /// - Throws: As the public initializer; `RecordError.shadowAlone` without a ring or a pipeline.
  package convenience init(
    _ source: any RecordingSource, options: RecorderOptions, pipeline: LivePipeline?,
    shadow: ShadowPipeline?, watch: RecordingWatch?,
    report: @escaping @Sendable (RecordingProgress) -> Void
  ) throws {
    try self.init(
      source, options: options, machine: Machine(), pipeline: pipeline, shadow: shadow,
      watch: watch, report: report)
  }

  init(
    _ source: any RecordingSource, options: RecorderOptions, machine: Machine,
    pipeline: LivePipeline? = nil, shadow: ShadowPipeline? = nil, watch: RecordingWatch? = nil,
    report: @escaping @Sendable (RecordingProgress) -> Void = { _ in }
  ) throws {
    if shadow != nil, options.ring == nil || pipeline == nil { throw RecordError.shadowAlone }
    if options.ring != nil, pipeline != nil, shadow == nil { throw RecordError.ringWithPipeline }
    if options.ring != nil, source.description.tracks.count > 1 { throw RecordError.ringWithTracks }
    (self.pipeline, self.shadow, self.watch) = (pipeline, shadow, watch)
    let name: String
    // A name that the user chose is refused and not changed, because they will look for it.
    if let wanted = options.name {
      name = try SessionFolder.checked(name: wanted)
    } else {
      name = try SessionFolder.sanitized(name: source.description.name)
    }
    try SessionFolder.requireOutside(options.into)
    target = SessionFolder(path: options.into + "/" + name)
    let text = try options.note.map { note in try SessionNote.checked(note) }
    note = text.flatMap { $0.isEmpty ? nil : $0 }
    (self.source, self.options, self.machine, self.report) = (source, options, machine, report)
    pipes = RecorderPipes(options, clock: machine.clock, room: machine.memory)
    sensors = LiveSensorValues(pipes)
  }

  /// Whether only the last part of the recording may be kept.
  var hasRing: Bool { options.ring != nil }

  /// Ends the recording soon and cleanly. Can be called from any thread at any time.
  public func stop() {
    pipes.end(.stopped)
  }

  /// Writes the contents of the pre-trigger ring, and everything from now on. Without a ring it
  /// only adds an event to the session. Can be called from any thread.
  public func trigger() {
    pipes.trigger()
  }

  /// Adds an event of the device to the session, at the current time. A replay repeats it at that
  /// time. Never shed; without effect on the session when the recording has ended and is being
  /// closed.
  public func note(_ event: DeviceEvent) {
    pipes.note(source: DeviceEvent.source, kind: event.kind.rawValue, json: event.json)
    live.withLock { $0 }?.session.push(event)
    shadowRun.withLock { $0 }?.shadow.session.push(event)
    watch?.happened(event)
  }

  /// Counts of the live pipeline; `nil` without one.
  public var liveCounts: LiveCounts? { live.withLock { $0 }?.session.counts }

  /// Adds another event to the session, at the current time. Never shed; without effect when the
  /// recording has ended and is being closed.
  ///
  /// - Parameters:
  ///   - source: The event's origin; `device` is for `note(_:)`.
  ///   - kind: The kind of the event, as one word, such as `shutter`.
  ///   - json: A JSON object.
  public func note(source: String, kind: String, json: JSONValue = .object([:])) {
    pipes.note(source: source, kind: kind, json: json)
  }

  /// Records until the source ends, a limit is reached or `stop` is called; then closes the
  /// session. Call it once.
  ///
  /// - Throws: `RecordError`, `SessionError` or the source's error when no frame was recorded. When
  ///   a recording ends early, the result contains the reason.
  public func run() throws -> RecordingResult {
    FileSystem.ignoreSizeSignal()
    try checkPreset()
    try checkReserve()
    let stream = try source.open()
    let opening = SourceOpening(source: source, stream: stream, clock: machine.clock, pipes: pipes)
    let probe = try measure(opening)
    // Before the folder is made: a source without frames, or a stop before the first frame, leaves
    // no folder.
    guard let first = try opening.next() else { throw opening.noFrames }
    try checkEncoder(first)
    // A pipeline that cannot start is an error before there is a folder.
    let shadow = try startShadow(first)
    let running = try startPipeline(first, shadow)
    let moments = try moments()
    noteTiming()
    let site = try RecordingSite(for: target, facts: facts())
    let writing = RecorderWriting(
      site: site, options: options, machine: machine, pipes: pipes,
      tracks: source.description.tracks.count, moments: moments
    ) { [report, pipes] progress in
      report(Self.completed(progress, running, shadow, pipes))
    }
    let encoding = RecorderEncoding(
      encoders: encoders, source: source.description.name, options: options, pipes: pipes)
    let (writer, encoder) = try threads(writing, encoding, site)
    running?.watchDevice()
    // With a pipeline, the pipeline's own device watch notifies all observers.
    let deviceWatch = running == nil ? watch?.device(clock: machine.clock) : nil
    // A thread that pushes a frame wakes this one, and continues before it.
    NamedThread.yieldingToWakers {
      RecorderCapture(
        source: source, options: options, clock: machine.clock, pipes: pipes, live: running,
        shadow: shadow, watch: watch, sensors: sensors
      ).run(stream, first: first)
    }
    deviceWatch?.stop()
    encoder.join()
    writer.join()
    var result = try result(writing, site: site, probe: probe) {
      Self.completed($0, running, shadow, pipes)
    }
    result.pipeline = running?.outcome
    noteFootage(of: result)
    result.progress = Self.completed(result.progress, running, shadow, pipes)
    return result
  }

  /// The progress with the counts of the pipelines, and the notes.
  private static func completed(
    _ progress: RecordingProgress, _ running: LiveRecording?, _ shadow: ShadowRun?,
    _ pipes: RecorderPipes
  ) -> RecordingProgress {
    var progress = progress
    progress.pipeline = running?.progress
    progress.shadow?.pipeline = shadow?.shadow.progress
    if case .failure(let error)? = shadow?.shadow.outcome {
      progress.shadow?.failure = error.causeText
    }
    // The session has only the lines of kept frames.
    if let results = progress.shadow?.results {
      progress.pipeline?.results = results[0]
      progress.shadow?.pipeline?.results = results[1]
    }
    progress.notes = pipes.notes
    return progress
  }

  /// The digests of the rows show equal frames.
  private func noteFootage(of result: RecordingResult) {
    guard result.isClosed, result.failure == nil,
      let reader = try? SessionReader(result.folder, options: ReadOptions(framesPerChain: nil)),
      let notes = try? reader.footageNotes()
    else { return }
    for note in notes { pipes.note(note) }
  }

  /// Notes that a stream has no times. The recorder counts them, by a rate that may be a guess; the
  /// session keeps the note of a guess, as an import does.
  private func noteTiming() {
    let description = source.description
    let file = description.name.hasPrefix("file:") ? String(description.name.dropFirst(5)) : "FILE"
    for (track, stream) in description.tracks.map(\.stream).enumerated() {
      guard let stream, let text = TrackNotes.timing(of: stream, file: file) else { continue }
      pipes.note("track \(track): \(text)")
      if let kept = TrackNotes.assumedRate(of: stream, track: track) { pipes.remark(kept) }
    }
  }

  /// Starts the writer's and the encoder's threads. The recording needs both.
  private func threads(
    _ writing: RecorderWriting, _ encoding: RecorderEncoding, _ site: RecordingSite
  ) throws -> (NamedThread, NamedThread) {
    do {
      let writer = try NamedThread("retake-writer") { writing.run() }
      do {
        return (writer, try NamedThread("retake-encoder") { encoding.run() })
      } catch {
        // The writer's thread runs already. A closed queue ends it before its folder is removed.
        pipes.encoded.close()
        writer.join()
        throw error
      }
    } catch {
      site.discard()
      throw error
    }
  }

  private func checkPreset() throws {
    guard let encoder = options.preset.encoder else {
      for track in source.description.tracks {
        // A drawn scene or an app's frames have no packets to copy.
        guard let refusal = track.stream.map(CopyRefusal.of) ?? .noPackets else { continue }
        throw RecordError.notCopyable(source: source.description.name, cause: "\(refusal)")
      }
      // Only a file can be read in advance. With a live source the recording ends at the first such
      // packet (`RecorderEncoding`).
      if let refusal = try (source as? MediaFileSource)?.copyRefusal() {
        throw RecordError.notCopyable(source: source.description.name, cause: "\(refusal)")
      }
      return
    }
    guard RecordingPreset.available.contains(options.preset) else {
      throw MediaError.noEncoder(name: encoder)
    }
  }

  private var encoders: [any PacketMaker] {
    source.description.tracks.map {
      guard options.preset != .copy else { return PacketCopier(timeBase: $0.timeBase) }
      return FrameEncoder(
        preset: options.preset, timeBase: $0.timeBase,
        color: $0.stream?.color ?? ColorLabels(), segmentMax: options.segmentDurationMax,
        note: { [pipes] in pipes.note($0) })
    }
  }

  /// A preset that does not support the source's format or size is an error before there is a
  /// folder.
  private func checkEncoder(_ first: SourceFrame) throws {
    guard options.preset != .copy else { return }
    try FrameEncoder(
      preset: options.preset, timeBase: source.description.tracks[first.track].timeBase
    ).check(first.frame)
  }

  private func startPipeline(
    _ first: SourceFrame, _ shadow: ShadowRun?
  ) throws -> LiveRecording? {
    guard var pipeline else { return nil }
    // An unpaced recording is not tied to the machine's time, so device events have no time in it.
    if options.pace == .unpaced { pipeline.watchesDevice = false }
    var watches = [shadow?.comparison.watch(of: 0), watch].compactMap(\.self)
    if let shadow { watches.append(shadow.deviceWatch) }
    let running = try LiveRecording(
      pipeline, first: first, source: source.description, preset: options.preset,
      clock: machine.clock, pipes: pipes, sensors: sensors, watch: RecordingWatch(watches),
      comparedAs: shadow == nil ? nil : 0)
    live.withLock { $0 = running }
    return running
  }

  private func startShadow(_ first: SourceFrame) throws -> ShadowRun? {
    guard var shadow else { return nil }
    // The first pipeline watches the device for both.
    shadow.live.watchesDevice = false
    let tracks = LiveRecording.tracks(of: source.description, first: first)
    let comparison = ShadowComparison(
      of: [pipeline?.pipeline, shadow.live.pipeline].compactMap(\.self),
      measure: try shadow.measure(tracks)
    ) { [pipes] in pipes.captured.add(.compared($0)) }
    let running = ShadowRun(
      comparison: comparison,
      shadow: try LiveRecording(
        shadow.live, first: first, source: source.description, preset: options.preset,
        clock: machine.clock, pipes: pipes, sensors: sensors,
        watch: RecordingWatch([comparison.watch(of: 1), shadow.watch].compactMap(\.self)),
        comparedAs: 1))
    shadowRun.withLock { $0 = running }
    return running
  }

  private func moments() throws -> RecordedMoments? {
    guard let pipeline, let shadow, let ring = options.ring else { return nil }
    return try RecordedMoments(
      [pipeline.pipeline, shadow.live.pipeline],
      ring: MomentRing(
        PreTriggerRing(nanoseconds: ring.nanoseconds, bytesMax: pipes.ringBytesMax),
        shadow.trigger))
  }

  private func measure(_ opening: SourceOpening) throws -> EncoderProbe.Measurement? {
    // Unpaced frames wait for the encoder, and `copy` has no encoder, so neither can be too slow.
    guard options.pace == .realtime, options.probe != .skip, options.preset != .copy else {
      return nil
    }
    let samples = try opening.samples(EncoderProbe.sampleFrames)
    let measured = try EncoderProbe(preset: options.preset, clock: machine.clock)
      .measure(samples, of: source.description)
    opening.discardWaiting()
    if options.probe == .refuse, measured.isTooSlow {
      throw RecordError.tooSlow(
        preset: options.preset.rawValue, measured: measured.framesPerSecond,
        needed: measured.needed ?? 0)
    }
    if options.probe == .refuse, let ring = options.ring, let bytes = measured.bytes(of: ring),
      bytes > pipes.ringBytesMax
    {
      throw RecordError.ringTooSmall(
        seconds: Double(ring.nanoseconds) / 1e9, neededBytes: bytes,
        bytesMax: Int64(pipes.ringBytesMax))
    }
    return measured
  }

  /// The folder may not exist yet. The existing part of its path is on the same disk.
  private func checkReserve() throws {
    var path = URL(fileURLWithPath: target.path).deletingLastPathComponent()
    while path.path.count > 1, !FileManager.default.fileExists(atPath: path.path) {
      path.deleteLastPathComponent()
    }
    guard options.reserveBytes > 0, let free = machine.freeBytes(path.path),
      free < options.reserveBytes
    else { return }
    throw RecordError.diskReserve(
      path: path.path, freeBytes: free, reserveBytes: options.reserveBytes)
  }

  private func facts() -> [(key: String, value: String)] {
    var facts = [
      ("kind", "recorded"), ("source", source.description.name),
      ("preset", options.preset.rawValue), ("pace", options.pace.rawValue),
      ("libraries", MediaLibraries.fingerprint),
    ]
    let colors = ColorFacts(
      source.description.tracks.enumerated().map {
        ($0.offset, $0.element.stream?.color ?? ColorLabels())
      })
    if let stored = colors.stored { facts.append((ColorFacts.fact, stored)) }
    let mirrored = MirroredTracks(
      source.description.tracks.enumerated().filter { $0.element.stream?.isMirrored == true }
        .map(\.offset))
    if let stored = mirrored.stored { facts.append((MirroredTracks.fact, stored)) }
    if let note { facts.append((SessionNote.fact, note)) }
    // An unpaced session is the same each time it is recorded, so it has no date.
    if options.pace == .realtime {
      let anchor = machine.clock.anchor()
      facts.append((SessionDate.fact, "\(anchor.unixNanoseconds)"))
      facts.append((SessionDate.uncertaintyFact, "\(anchor.uncertaintyNanoseconds)"))
    }
    return facts
  }

  private func result(
    _ writing: RecorderWriting, site: RecordingSite, probe: EncoderProbe.Measurement?,
    completed: (RecordingProgress) -> RecordingProgress
  ) throws -> RecordingResult {
    let outcome = writing.outcome
    if outcome.progress.frames.captured == 0 {
      // If there are media without rows, the index can be rebuilt from the media.
      if outcome.hasUnwrittenRows, let failure = outcome.failure { throw failure }
      // Another folder may have the name now.
      if case RecordError.folderMoved? = outcome.failure, let failure = outcome.failure {
        throw failure
      }
      site.discard()
      if options.ring != nil, !pipes.isTriggered, outcome.progress.passed + outcome.waiting > 0 {
        let progress = completed(outcome.progress)
        throw outcome.failure
          ?? (progress.shadow == nil
            ? RecordError.notTriggered(path: target.path)
            : .noMoment(path: target.path, progress))
      }
      // The writer's own first: `pipes` does not have a failure of the close, which comes after the
      // recording has ended.
      if let failure = outcome.failure ?? pipes.failure { throw failure }
      // Without a frame with pixels there is no segment, and no row is committed without a segment.
      if pipes.isShortOfMemory {
        throw MediaError.noMemory(step: "record a frame", file: source.description.name)
      }
      throw
        RecordError.noFrames(
          source: source.description.name, isStopped: pipes.reason == .stopped)
    }
    // Otherwise the file stays, as a killed recorder leaves it (docs/formats/session.md).
    if outcome.isClosed { site.unlock() }
    let failure = outcome.failure ?? pipes.failure
    return RecordingResult(
      folder: site.folder, status: outcome.status,
      end: failure == nil ? pipes.reason ?? .sourceEnded : .failed, failure: failure,
      isClosed: outcome.isClosed, progress: outcome.progress, probe: probe)
  }
}
