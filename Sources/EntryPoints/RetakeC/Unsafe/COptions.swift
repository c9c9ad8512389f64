import CRetake
import Foundation
import Retake

/// The options of a live pipeline, checked.
struct COptions {
  // SAFETY: the tracks are copied, as many as the caller states.
  private let given: retake_options
  private let tracks: [LiveTrack]
  private var options = LiveOptions()

  private static let waitingFramesMax: Int32 = 4_096
  private static let drainNanosecondsMax: Int64 = 3_600_000_000_000

  /// - Throws: `Problem`.
  init(_ pointer: UnsafePointer<retake_options>) throws {
    given = try pointer.checked("retake_options", size: MemoryLayout<retake_options>.size)
    tracks = try Self.tracks(of: given)
    if given.workers != 0 { options.workers = Int(given.workers) }
    guard (0...Self.waitingFramesMax).contains(given.waiting_frames) else {
      throw Problem.value(
        "waiting_frames is 0 to \(Self.waitingFramesMax), not \(given.waiting_frames)")
    }
    if given.waiting_frames > 0 { options.waitingFramesMax = Int(given.waiting_frames) }
    guard (0...Self.drainNanosecondsMax).contains(given.drain_ns) else {
      throw Problem.value("drain_ns is 0 to an hour, not \(given.drain_ns) ns")
    }
    if given.drain_ns > 0 { options.drain = .nanoseconds(given.drain_ns) }
  }

  private static func tracks(of given: retake_options) throws -> [LiveTrack] {
    guard (1...Int(RETAKE_TRACKS_MAX)).contains(given.track_count) else {
      throw Problem.value(
        "a pipeline has 1 to \(RETAKE_TRACKS_MAX) tracks, not \(UInt(bitPattern: given.track_count))",
        advice: "Declare each track whose frames are pushed")
    }
    guard let first = given.tracks else { throw Problem.null("tracks") }
    var tracks: [LiveTrack] = []
    for track in UnsafeBufferPointer(start: first, count: given.track_count) {
      guard let format = PixelFormat(track.format) else {
        throw Problem.value("there is no format \(track.format.rawValue)")
      }
      guard track.track >= 0, !tracks.contains(where: { $0.track == Int(track.track) }) else {
        throw Problem.value("the track \(track.track) is negative, or declared twice")
      }
      let (width, height) = try checkedSize(track.width, track.height)
      tracks.append(
        LiveTrack(track: Int(track.track), format: format, width: width, height: height))
    }
    return tracks
  }

  /// - Throws: `Problem`, `PipelineError`, `RuntimeError`, `ResultTextError`.
  func pipeline(_ json: Data) throws -> CPipeline {
    let document = try Document(json, permissions: given.permissions)
    guard let receive = given.on_result else {
      return try CPipeline(document, tracks: tracks, options: options) { _ in }
    }
    let reporter = try ResultReporter(
      receive, context: given.context, pipeline: document.pipeline)
    let live = try LiveReporter(document.pipeline, reporter)
    return try CPipeline(document, tracks: tracks, options: options) { live.tell($0) }
  }
}

/// The options of a replay, checked.
struct CReplayOptions {
  private var given = retake_replay_options()

  /// - Throws: `Problem`.
  init(_ pointer: UnsafePointer<retake_replay_options>?) throws {
    guard let pointer else { return }
    given = try pointer.checked(
      "retake_replay_options", size: MemoryLayout<retake_replay_options>.size)
    guard given.mode.rawValue <= RETAKE_SIMULATE.rawValue else {
      throw Problem.value("there is no mode \(given.mode.rawValue)")
    }
  }

  var permissions: UInt32 { given.permissions }

  private var options: RunOptions {
    var options = RunOptions(mode: given.mode == RETAKE_SIMULATE ? .simulate : .everyFrame)
    if given.workers != 0 { options.workers = Int(given.workers) }
    options.seed = given.seed
    if let interrupted = given.interrupted {
      let question = Question(ask: interrupted, context: given.context)
      options.isInterrupted = { question.answer() }
    }
    return options
  }

  /// - Throws: As `EmbeddedReplay`.
  func run(_ document: Document, session: String?) throws -> RunSummary {
    let replay = try EmbeddedReplay(document, session: session, options: options)
    return try replay.run(
      given.on_result.map {
        try ResultReporter($0, context: given.context, pipeline: document.pipeline)
      })
  }
}

/// A caller's function that is asked whether a replay should end.
private struct Question: @unchecked Sendable {
  // SAFETY: @unchecked because of the caller's context, which is only passed on.
  let ask: @convention(c) (UnsafeMutableRawPointer?) -> Int32
  let context: UnsafeMutableRawPointer?

  func answer() -> Bool {
    var answer: Int32 = 0
    ThreadState.calling(.result) { answer = ask(context) }
    return answer != 0
  }
}

extension retake_replay_summary {
  init(_ run: RunSummary, _ document: Document) {
    self.init()
    size = MemoryLayout<retake_replay_summary>.size
    counts = retake_counts(run.frames, lost: run.lostBeforeCapture)
    Self.write(document.digest, to: &document_digest)
    Self.write(run.resultDigest.description, to: &result_digest)
    Self.write(run.decisionDigest.description, to: &decision_digest)
  }

  /// - Parameter array: An array of C, which Swift sees as a tuple.
  private static func write<Characters>(_ digest: String, to array: inout Characters) {
    // SAFETY: the array has RETAKE_DIGEST_SIZE characters, a digest has one less, and a zero.
    withUnsafeMutableBytes(of: &array) { $0.copyBytes(from: digest.utf8.prefix($0.count - 1)) }
  }
}
