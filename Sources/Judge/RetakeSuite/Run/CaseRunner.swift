import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// Replays a case, compares it with the accepted golden, and leaves differing results pending.
struct CaseRunner {
  let project: Project
  let library: GoldenLibrary
  /// Where pending goldens are written; if `nil`, the runner writes no pending goldens.
  let pendingRoot: URL?
  /// Whether `pendingRoot` is only a default. If a default folder cannot be written, the runner
  /// writes no pending golden, and the case does not fail.
  let isPendingOptional: Bool
  /// Used by this run only, so that results of a concurrent run are never compared here.
  let scratch: URL
  /// Where the trace of each case is written; no trace is written if `nil`.
  let traces: URL?
  let options: RunOptions
  let cache: CacheFolder?
  /// Shared with the cases that run at the same time.
  let memory: MemoryShare?
  let refusesDamage: Bool

  /// Never throws for an error of one case: that becomes its verdict. An interruption is rethrown.
  func run(_ selected: SelectedCase, progress: @escaping (Int, Int) -> Void) throws -> CaseResult {
    var result = CaseResult(
      selected, golden: library.folder(selected.key).fitting(PlatformKey.current.description),
      actual: GoldenFolder(
        root: scratch, session: selected.key.session, testCase: selected.key.testCase))
    result.pendingRefusal = pendingRefusal(selected.key)
    do {
      // Before the replay, which may be slow, and before any file is written through such a link.
      try library.requireOwn(selected.key)
      if let pendingRoot { try GoldenLibrary(root: pendingRoot).requireOwn(selected.key) }
      try replay(selected, into: &result, progress: progress)
      try publish(&result)
    } catch RuntimeError.interrupted {
      throw RuntimeError.interrupted
    } catch let error as any CodedError {
      fail(&result, error)
    } catch {
      // An error of a user's source when it is opened.
      fail(&result, ErrorFacts(ofUser: error))
    }
    return result
  }

  private func fail(_ result: inout CaseResult, _ error: any CodedError) {
    result.error = error
    result.comparison = Comparison(
      key: result.selected.key.description, verdict: .errored, reasons: [error.description])
  }

  /// Leaves differing results pending, and removes a pending result that equals its golden.
  private func publish(_ result: inout CaseResult) throws {
    guard let pendingRoot, result.pendingRefusal == nil else { return }
    let key = result.selected.key
    let folder = GoldenFolder(root: pendingRoot, session: key.session, testCase: key.testCase)
    guard result.comparison.verdict != .passed else {
      // Usually no golden is pending, which is an error of `discardPending`.
      try? folder.discardPending()
      return
    }
    do {
      result.pendingIdentity = try folder.publish(result.actual)
    } catch let error as GoldenError {
      // The verdict does not depend on it. A project on a read-only disk is tested all the same,
      // and a note names the result that is not pending.
      guard isPendingOptional else { throw error }
      result.pendingRefusal = error.cause ?? error.message
    }
  }

  /// Why a pending golden that was not requested cannot be written; `nil` if it can be.
  private func pendingRefusal(_ key: GoldenLibrary.Key) -> String? {
    guard isPendingOptional, let pendingRoot else { return nil }
    let folder = GoldenFolder(root: pendingRoot, session: key.session, testCase: key.testCase)
    var url = folder.url.standardizedFileURL
    // Ends at the root folder, which always exists.
    while access(url.path, W_OK) != 0 {
      let cause = errno
      guard cause == ENOENT, url.path != "/" else { return String(cString: strerror(cause)) }
      url.deleteLastPathComponent()
    }
    return nil
  }

  private func replay(
    _ selected: SelectedCase, into result: inout CaseResult,
    progress: @escaping (Int, Int) -> Void
  ) throws {
    var job = ReplayJob(
      project: project, definition: selected.definition, session: selected.sessionRead)
    job.options = options
    job.openCache = { [cache] _ in cache }
    job.destination = .golden(result.actual)
    job.progress = progress
    try selected.check()
    let (replay, reader) = try job.open()
    result.pipeline = replay.pipeline
    result.note(replay, reader)
    // Only now it is known whether the case reads models.
    result.golden = library.folder(selected.key).fitting(result.platform.description)
    try holdingMemory(for: result.tracks) {
      try run(&job, replay, reader, into: &result)
    }
  }

  /// Reserves memory for the frames that are computed ahead, both decoded and processed.
  private func holdingMemory(
    for tracks: [TrackDescription], _ body: () throws -> Void
  ) throws {
    guard let memory else { return try body() }
    try memory.holding(RunOptions.aheadBytes(of: tracks), body)
  }

  private func run(
    _ job: inout ReplayJob, _ replay: Replay, _ reader: SessionReader?,
    into result: inout CaseResult
  ) throws {
    let key = result.selected.key
    // Noted before the folders are made, so that a failed run removes exactly the new folders.
    let made = traces.map { NewFolders(upTo: $0.appending(path: key.session)) }
    job.outputs = try outputs(of: key)
    let vanished = VanishedNumbers(replay)
    if let vanished { job.observers.append(vanished) }
    // A damaged manifest is reported by the comparison.
    job.comparedWith = try? result.golden.manifest()
    do {
      try job.checkOutputs()
      result.summary = try job.run(replay, reader: reader)
    } catch {
      made?.removeEmpty()
      throw error
    }
    if refusesDamage { try refuseDamage(in: result) }
    result.classNames = (try? result.actual.chunk(0))?.header.classes.flatMap(\.self) ?? []
    let labels = try CaseLabels(project, result)
    let comparing = GoldenComparator.Options.withImages.interrupted(by: options.isInterrupted)
    result.comparison = GoldenComparator(
      golden: result.golden, actual: result.actual, options: comparing, labels: labels?.compare
    ).outcome()
    try comparing.checkInterruption()
    result.comparison.notes += labels?.notes ?? []
    result.comparison.notes += try replay.pixelNotes(reader) + replay.costNotes
    result.comparison.notes += replay.unreadNotes(reader) + (result.summary?.silenceNotes ?? [])
    result.comparison.notes += (result.summary?.notices ?? []).map(\.description)
    result.comparison.notes += vanished?.notes ?? []
    if result.golden != library.folder(key) {
      result.comparison.notes.append(
        "compared with the alternate for \(result.platform)")
    }
  }
}

extension CaseRunner {
  private func refuseDamage(in result: CaseResult) throws {
    let summary = try result.actual.manifest().summary
    guard let damaged = summary.damaged else { return }
    let session = Shell(project: project).session(result.selected.session)
    throw SuiteError(
      "suite.run.damagedFrames", damaged.text(of: summary.captured),
      cause: "--strict refuses damaged frames",
      advice: "See why: retake session check \(session); then record the scene again, trim the "
        + "session to its good frames, or test without --strict")
  }

  private func outputs(of key: GoldenLibrary.Key) throws -> RunOutputs {
    var outputs = RunOutputs()
    guard let folder = traces?.appending(path: key.session) else { return outputs }
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw SuiteError.notWritable(path: folder.path, cause: error.systemText)
    }
    outputs.trace = folder.appending(path: "\(key.testCase).json").path
    return outputs
  }
}
