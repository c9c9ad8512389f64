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
  private let program: ForeignProgram
  /// What the first copy said; all others must say the same.
  let ready: ForeignReady
  private var idle: [ForeignChild]
  /// Copies that exist, used ones included.
  private var count = 1
  private var restartsLeft = 1

  /// Starts the first copy.
  ///
  /// - Throws: `ForeignError`.
  init(_ program: ForeignProgram) throws(ForeignError) {
    self.program = program
    let first = try ForeignChild(program)
    ready = first.ready
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
      let child = try take()
      do throws(ForeignFault) {
        let outcome = try child.compute(frame, context)
        put(child)
        return outcome
      } catch {
        guard error.trouble.isEndOfProgram, spendRestart() else {
          retire()
          throw error
        }
        return try computeAgain(frame, context)
      }
    } catch {
      return .failure(error.stageError)
    }
  }

  /// The copy that was taken has ended; its place in `count` is that of the new one.
  private func computeAgain(
    _ frame: Frame, _ context: StageContext
  ) throws(ForeignFault) -> StageOutcome {
    do throws(ForeignFault) {
      let child = try another()
      let outcome = try child.compute(frame, context)
      put(child)
      return outcome
    } catch {
      retire()
      throw error
    }
  }

  private func take() throws(ForeignFault) -> ForeignChild {
    let child = condition.withLock {
      // Ends: a thread that uses a copy gives it back or retires it, at the latest when its answer
      // is late.
      while idle.isEmpty, count >= program.instances { condition.wait() }
      if idle.isEmpty { count += 1 }
      return idle.popLast()
    }
    if let child { return child }
    do throws(ForeignFault) {
      return try another()
    } catch {
      retire()
      throw error
    }
  }

  private func put(_ child: ForeignChild) {
    condition.withLock {
      idle.append(child)
      condition.signal()
    }
  }

  private func retire() {
    condition.withLock {
      count -= 1
      condition.signal()
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
    do throws(ForeignError) {
      child = try ForeignChild(program)
    } catch {
      throw ForeignFault(
        program: program.title, trouble: .notStarted(error.facts.cause ?? error.facts.message),
        lastLines: "")
    }
    guard child.ready == ready else {
      child.end()
      throw ForeignFault(
        program: program.title,
        trouble: .otherProgram(
          "\(child.ready.name) \(child.ready.version), not \(ready.name) \(ready.version)"),
        lastLines: "")
    }
    return child
  }

  // MARK: Stateful programs

  /// A copy for one run, which gives it back. Never waits.
  func borrow() throws(ForeignFault) -> ForeignChild {
    if let child = condition.withLock({ idle.popLast() }) { return child }
    return try another()
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
  /// What makes two pools the same: the program, and the files of its command as they are now.
  private struct Key: Hashable {
    var program: ForeignProgram
    var files: [RegularFile.Facts?]
  }

  /// A document is read several times, and a program may take seconds to start.
  private static let pools = SharedValues<Key, ForeignPool>()

  /// - Throws: As `init`.
  static func pool(_ program: ForeignProgram) throws(ForeignError) -> ForeignPool {
    let key = Key(
      program: program,
      files: program.files.map { try? RegularFile.facts(of: $0, links: .followed) })
    return try pools.value(of: key) { () throws(ForeignError) in try ForeignPool(program) }
  }
}
