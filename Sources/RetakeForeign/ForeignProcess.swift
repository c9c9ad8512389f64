import Foundation
import RetakeCore
import RetakeProcess
import RetakeRuntime

/// A running program with its socket (file 3), its memory for pixels (file 4), and what it writes.
///
/// No process of its group outlives this object, or this process. One thread at a time uses it.
final class ForeignProcess {
  /// Virtual bytes for one frame: enough for 8K with four channels. Only what is written takes
  /// memory.
  static let slotBytes = 128 << 20
  /// How long a program has to exit when it was asked to, before it is killed.
  private static let politeNanoseconds: Int64 = 1_000_000_000
  /// How long to wait for the end of a process that was killed.
  private static let killedNanoseconds: Int64 = 5_000_000_000
  /// How long to wait for what an ended program wrote: a process that left its group may keep the
  /// pipe open.
  private static let lastLinesNanoseconds: Int64 = 1_000_000_000

  let socket: ChildSocket
  let memory: SharedMemory
  let tail: ProgramTail
  private let process: ChildProcess
  private let guardian: GroupGuardian?
  private let ended = Bell()
  private let clock = WallClock()

  /// - Throws: `ForeignError.notFound`, `ForeignError.notStarted`.
  init(_ program: ForeignProgram) throws(ForeignError) {
    let executable = try Self.executable(program.name)
    do throws(ChildProcessError) {
      socket = try ChildSocket()
      memory = try SharedMemory(byteCount: Self.slotBytes)
      tail = try ProgramTail()
      var request = ChildProcess.Request(executable, Array(program.command.dropFirst()))
      request.environment = Self.environment()
      request.output = .pipe(tail.pipe)
      request.errors = .pipe(tail.pipe)
      request.descriptors = [socket.childEnd ?? -1, memory.descriptor]
      request.endsGroup = true
      process = try ChildProcess(request)
    } catch {
      throw .notStarted(program.title, cause: error.localizedDescription)
    }
    socket.closeChildEnd()
    tail.start()
    guardian = GroupGuardian(group: process.id)
    process.onEnd { [ended] _ in ended.ring() }
  }

  deinit { stop(afterNanoseconds: 0) }

  private static func executable(_ name: String) throws(ForeignError) -> String {
    let path = name.contains("/") ? name : ChildProcess.path(of: name)
    guard let path, FileManager.default.isExecutableFile(atPath: path) else {
      throw .notFound(name)
    }
    return path
  }

  /// The environment of this process, with what makes programs deterministic unless it says
  /// otherwise.
  static func environment(
    _ own: [String: String] = ProcessInfo.processInfo.environment
  ) -> [String: String] {
    var result = own
    result["RETAKE_PROTOCOL"] = "1"
    for (name, value) in [("PYTHONHASHSEED", "0"), ("OMP_NUM_THREADS", "1")]
    where own[name] == nil { result[name] = value }
    return result
  }

  /// How the program ended; `nil` if it does not end within the time.
  func end(withinSeconds seconds: Double) -> ChildProcess.End? {
    wait(nanoseconds: Int64(seconds * 1e9))
  }

  /// Asks the program to exit, and does not wait.
  func close() { socket.closeBothEnds() }

  /// Ends the program and its group, politely at first.
  func stop() { stop(afterNanoseconds: Self.politeNanoseconds) }

  /// Ends the program that did not answer as it must. Returns when what it wrote is in the tail.
  func kill() {
    process.sendToGroup(SIGTERM)
    stop(afterNanoseconds: Self.politeNanoseconds / 2)
    clock.wait(nanoseconds: Self.lastLinesNanoseconds, or: tail.closed)
  }

  private func stop(afterNanoseconds polite: Int64) {
    close()
    if wait(nanoseconds: polite) == nil {
      process.sendToGroup(SIGKILL)
      _ = wait(nanoseconds: Self.killedNanoseconds)
    }
    guardian?.dismiss()
  }

  private func wait(nanoseconds: Int64) -> ChildProcess.End? {
    let deadline = clock.monotonicNanoseconds + nanoseconds
    // Bounded by the deadline; the bell ends the wait early.
    while process.end == nil, clock.monotonicNanoseconds < deadline {
      clock.wait(untilNanoseconds: deadline, or: ended)
    }
    return process.end
  }
}

/// A process in the group of a program that kills the group when this process ends, however it
/// ends.
///
/// A program that reads its socket notices that by itself. This is for those that do not, and for
/// processes that they started.
private final class GroupGuardian {
  /// Closed by the system if this process ends without a word.
  private let pipe: ChildPipe
  private let process: ChildProcess

  /// - Returns: `nil` if the group has already ended.
  init?(group: Int32) {
    guard let pipe = try? ChildPipe() else { return nil }
    var request = ChildProcess.Request("/bin/sh", ["-c", "read -r _ || kill -KILL 0"])
    request.environment = [:]
    request.input = .pipe(pipe)
    request.group = group
    guard let process = try? ChildProcess(request) else { return nil }
    self.pipe = pipe
    self.process = process
  }

  /// The group has ended. The guardian was a part of it.
  func dismiss() { process.send(SIGKILL) }
}
