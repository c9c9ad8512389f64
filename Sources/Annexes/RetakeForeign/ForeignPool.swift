import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph

/// The running copies of one program. Several threads may use it.
///
/// A pure program has at most `instances` copies, and any of them computes any frame. A stateful
/// one has a copy for each run in progress.
final class ForeignPool: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `condition`; a copy is taken out of
  // the pool while a thread uses it.
  private let condition = NSCondition()
  let program: ForeignProgram
  /// The `ready` of the first copy; all other copies must send the same.
  let ready: ForeignReady
  /// The programs and libraries of the first copy when it was ready.
  let loaded: ProgramInputs
  /// `nil` for a program that gets pixels on its standard input.
  private let slots: ForeignSlots?
  private var idle: [ForeignChild]
  /// Copies that exist, also copies in use.
  private var count = 1
  private var restartsLeft = 1
  /// Calls that wait for a copy, in the order in which they came.
  private var waiting: [Waiting] = []
  /// The run in which a copy did not answer last.
  private weak var lateRun: StageRun?

  /// A call that waits for a copy.
  private struct Waiting: Equatable {
    var ticket: Int
    var run: ObjectIdentifier?
    var frame: FrameID
    var item: Int
  }

  private var tickets = 0
  /// The time for a frame of a run in which a copy did not answer, if that is less than the node's:
  /// the run has failed already, and it is only not known yet which frame was the first.
  private static let secondsAfterLate = 1.0

  /// Starts the first copy.
  ///
  /// - Throws: `ForeignError`.
  init(_ program: ForeignProgram) throws {
    self.program = program
    do {
      // One more, because a copy that has ended may still have its slot when the next one starts.
      slots =
        program.transport == .files
        ? try ForeignSlots(copies: program.instances + 1) : nil
    } catch {
      throw ForeignError.notStarted(program.title, cause: error.causeText)
    }
    let first = try ForeignChild(program, slots)
    ready = first.ready
    loaded = ProgramInputs(loadedBy: first.processes, in: program.workingFolder)
    idle = [first]
  }

  deinit {
    // All are asked before the first is waited for.
    for child in idle { child.beginEnd() }
    for child in idle { child.end() }
  }

  // MARK: Pure programs

  /// Computes a frame on any copy, and waits for one if all are in use.
  func compute(_ frame: Frame, _ context: StageContext) -> StageOutcome {
    do throws(ForeignFault) {
      let child = try take(context)
      do throws(ForeignFault) {
        let outcome = try child.compute(frame, context, seconds: seconds(context))
        put(child)
        return outcome
      } catch {
        guard error.failure.isEndOfProgram, spendRestart() else {
          note(error, context)
          retire()
          throw error
        }
        return try computeAgain(frame, context, after: error)
      }
    } catch {
      return .failure(error.stageError)
    }
  }

  /// Whether the program gets the frames of a batch at once. A preloaded clock has the time of one
  /// frame, and standard streams have no place for the pixels of several.
  var takesBatches: Bool {
    ready.takesBatches && slots != nil && program.clock == .real
  }

  /// Computes the frames of a batch on one copy; one by one if that copy fails, so that a fault has
  /// its frame.
  func compute(batch frames: [(frame: Frame, context: StageContext)]) -> [StageOutcome] {
    if frames.count > 1, let context = frames.first?.context {
      do throws(ForeignFault) {
        let child = try take(context)
        do throws(ForeignFault) {
          let outcomes = try child.compute(batch: frames)
          put(child)
          return outcomes
        } catch {
          retire()
          throw error
        }
      } catch {
        if error.failure != .abandoned {
          context.note(
            .repaired, code: "process.batch",
            "the program '\(program.title)' \(error.failure.text) with a batch of "
              + "\(frames.count) frames, and is called frame by frame for them")
        }
      }
    }
    return frames.map { compute($0.frame, $0.context) }
  }

  /// The copy that computed the frame has ended; the new copy uses its place in `count`.
  private func computeAgain(
    _ frame: Frame, _ context: StageContext, after fault: ForeignFault
  ) throws(ForeignFault) -> StageOutcome {
    do throws(ForeignFault) {
      let child = try another()
      let outcome = try child.compute(frame, context, seconds: seconds(context))
      put(child)
      context.note(
        .repaired, code: "process.restarted",
        "the program '\(program.title)' \(fault.failure.text), and answered when it was started "
          + "again" + (fault.lastLines.isEmpty ? "" : "; its last lines: \(fault.lastLines)"))
      return outcome
    } catch {
      note(error, context)
      retire()
      throw error
    }
  }

  private func seconds(_ context: StageContext) -> Double? {
    guard let run = context.run, condition.withLock({ lateRun === run }) else { return nil }
    return min(program.timeoutSeconds, Self.secondsAfterLate)
  }

  private func note(_ fault: ForeignFault, _ context: StageContext) {
    guard case .late = fault.failure, let run = context.run else { return }
    condition.withLock { lateRun = run }
  }

  private func take(_ context: StageContext) throws(ForeignFault) -> ForeignChild {
    let isOver = { context.run?.isOver ?? false }
    let (isNeeded, child) = condition.withLock { () -> (Bool, ForeignChild?) in
      tickets += 1
      let own = Waiting(
        ticket: tickets, run: context.run.map { ObjectIdentifier($0) }, frame: context.frame,
        item: context.item ?? -1)
      waiting.append(own)
      // Ends: a thread that uses a copy returns or retires it, at the latest when its answer is
      // late.
      while isFull || next != own { condition.wait() }
      waiting.removeAll { $0 == own }
      // Another one may be next, and there may be a copy for it, too.
      condition.broadcast()
      if isOver() { return (false, nil) }
      if idle.isEmpty { count += 1 }
      return (true, idle.popLast())
    }
    if let child { return child }
    guard isNeeded else {
      throw ForeignFault(program: program.title, failure: .abandoned, lastLines: "")
    }
    do throws(ForeignFault) {
      return try another()
    } catch {
      retire()
      throw error
    }
  }

  private var isFull: Bool { idle.isEmpty && count >= program.instances }

  /// Runs are served in the order of their first calls. Within a run, the first frame is next:
  /// after a fault, only the first frame with a fault counts, so the frames before it are needed
  /// soonest.
  private var next: Waiting? {
    guard let run = waiting.first?.run else { return waiting.first }
    return waiting.lazy.filter { $0.run == run }
      .min { ($0.frame, $0.item, $0.ticket) < ($1.frame, $1.item, $1.ticket) }
  }

  private func put(_ child: ForeignChild) {
    condition.withLock {
      idle.append(child)
      condition.broadcast()
    }
  }

  private func retire() {
    condition.withLock {
      count -= 1
      condition.broadcast()
    }
  }

  private func spendRestart() -> Bool {
    condition.withLock {
      guard restartsLeft > 0 else { return false }
      restartsLeft -= 1
      return true
    }
  }

  /// A new copy, which must be the same program.
  private func another() throws(ForeignFault) -> ForeignChild {
    let child: ForeignChild
    do {
      child = try ForeignChild(program, slots)
    } catch {
      throw ForeignFault(
        program: program.title, failure: .notStarted(error.facts.cause ?? error.facts.message),
        lastLines: "")
    }
    guard child.ready == ready else {
      child.end()
      throw ForeignFault(
        program: program.title,
        failure: .otherProgram(
          "\(child.ready.name) \(child.ready.version), not \(ready.name) \(ready.version)"),
        lastLines: "")
    }
    return child
  }

  // MARK: Stateful programs

  /// A copy for one run, which begins with a reset and returns the copy at its end. Does not wait
  /// for a copy.
  func borrow(_ context: StageContext) throws(ForeignFault) -> ForeignChild {
    let waiting = condition.withLock { idle.popLast() }
    let child = if let waiting { waiting } else { try another() }
    child.watch(context)
    try child.reset()
    return child
  }

  /// A run that borrowed the copy has ended.
  func giveBack(_ child: ForeignChild) {
    let surplus = condition.withLock {
      guard idle.count < program.instances else { return Optional(child) }
      idle.append(child)
      return nil
    }
    surplus?.beginEnd()
    surplus?.end()
  }
}

extension ForeignPool {
  /// Two pools with equal keys are the same: equal programs, and unchanged files of the command.
  private struct Key: Hashable {
    var program: ForeignProgram
    var files: [RegularFile.Facts?]
  }

  /// Shared, because a document is read several times, and a program may need seconds to start.
  private static let pools = SharedValues<Key, ForeignPool>()

  /// - Throws: As `init`.
  static func pool(_ program: ForeignProgram) throws -> ForeignPool {
    let key = Key(
      program: program,
      files: (program.files.map(program.place) + [program.searchedPath].compactMap(\.self)).map {
        try? RegularFile.facts(of: $0, links: .followed)
      })
    return try pools.value(of: key) { try ForeignPool(program) }
  }
}
