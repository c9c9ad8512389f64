import Foundation
import RetakeBuffers
import RetakeCore
import RetakeProcess
import RetakeRuntime

/// A running program with its socket (file 3, or its standard streams), its memory for pixels (file
/// 4), and its output.
///
/// No process that it started outlives this object, or this process. One thread at a time uses it.
final class ForeignProcess {
  /// How long a program has to exit when it was asked to, before it is killed.
  private static let politeNanoseconds: Int64 = 1_000_000_000
  /// How long to wait for the end of a process that was killed.
  private static let killedNanoseconds: Int64 = 5_000_000_000
  /// How long to wait for the output of an ended program: a process that left its group may keep
  /// the pipe open.
  private static let lastLinesNanoseconds: Int64 = 1_000_000_000
  /// How long a killed process has to end before it is looked for again.
  private static let lookNanoseconds: Int64 = 2_000_000

  let socket: ChildSocket
  let tail: ProgramTail
  private let process: ChildProcess
  private let guardian: GroupGuardian?
  /// Finds the processes that the program has started, even if they left the group.
  private let marked: MarkedProcesses
  /// The program and all its processes have ended.
  private var isStopped = false
  private let ended = ThreadCondition()
  private let never = ThreadCondition()
  private let clock: WallClock
  /// The time of the program's clocks; `nil` for real time.
  let fakeClock: FakeClock?

  /// - Parameter memory: `nil` if pixels are sent on the socket.
  /// - Throws: `ForeignError.notFound`, `ForeignError.notStarted`, `ForeignError.noFakeClock`.
  init(_ program: ForeignProgram, _ memory: SharedMemory?) throws {
    let executable = try Self.executable(program)
    clock = WallClock()
    let value = Self.newMark(clock)
    marked = MarkedProcesses(mark: "\(Self.markVariable)=\(value.text)", number: value.number)
    fakeClock =
      program.clock == .preload ? try FakeClock(program, name: value.text) : nil
    do {
      socket = try ChildSocket()
      tail = try ProgramTail(program)
      var request = ChildProcess.Request(executable, Array(program.command.dropFirst()))
      var environment = Self.environment()
      environment.merge(fakeClock?.environment(environment) ?? [:]) { $1 }
      // Last, because the mark finds the processes that the program has started.
      environment[Self.markVariable] = value.text
      if let folder = program.folder {
        environment["PWD"] = folder
        request.folder = folder
      }
      request.environment = environment
      request.errors = .pipe(tail.pipe)
      if let memory {
        request.output = .pipe(tail.pipe)
        request.descriptors = [socket.childEnd ?? -1, memory.descriptor]
      } else {
        request.environment?["RETAKE_TRANSPORT"] = ForeignTransport.stdio.rawValue
        (request.input, request.output) = (.socket(socket), .socket(socket))
      }
      request.endsGroup = true
      process = try ChildProcess(request)
    } catch let error as ChildProcessError {
      throw ForeignError.notStarted(program.title, cause: error.causeText)
    }
    marked.limit(process.id)
    socket.closeChildEnd()
    tail.start()
    guardian = GroupGuardian(group: process.id, marked)
    process.onEnd { [ended] _ in ended.signal() }
  }

  deinit { stop(afterNanoseconds: 0) }

  /// The program and the processes that it has started and that run now.
  var processes: [Int32] { marked.ids() }

  /// The longest time that a thread of the program has waited for a processor; 0 without /proc.
  var starvedNanoseconds: Int64 {
    let manager = FileManager.default
    return processes.flatMap { id -> [Int64] in
      let threads = (try? manager.contentsOfDirectory(atPath: "/proc/\(id)/task")) ?? []
      return threads.compactMap { thread in
        // Documentation/scheduler/sched-stats.rst: time on a processor, time waiting for one.
        manager.contents(atPath: "/proc/\(id)/task/\(thread)/schedstat").flatMap {
          let words = String(decoding: $0, as: UTF8.self).split(separator: " ")
          return words.count > 1 ? Int64(words[1]) : nil
        }
      }
    }.max() ?? 0
  }

  private static let markVariable = "RETAKE_PROGRAM"
  private static let startCount = Locked(0)

  /// Another one for each start, also among the processes of other Retakes on this machine.
  private static func newMark(_ clock: WallClock) -> (text: String, number: UInt64) {
    let count = startCount.withLock { count in
      count += 1
      return count
    }
    let (id, now) = (getpid(), clock.monotonicNanoseconds)
    // Linux has at most 2^22 processes.
    let number =
      UInt64(UInt32(bitPattern: id) & 0x3f_ffff) << 38 | UInt64(count & 0xfff) << 26
      | UInt64(bitPattern: now >> 10) & 0x3ff_ffff
    return ("\(id).\(count).\(now)", number)
  }

  private static func executable(_ program: ForeignProgram) throws -> String {
    let name = program.name
    let path = name.contains("/") ? program.place(of: name) : ChildProcess.path(of: name)
    guard let path, FileManager.default.isExecutableFile(atPath: path) else {
      throw ForeignError.notFound(name)
    }
    return path
  }

  /// The environment of this process, and variables that make programs deterministic unless the
  /// environment sets them.
  static func environment(
    _ own: [String: String] = ProcessInfo.processInfo.environment
  ) -> [String: String] {
    var result = own
    result["RETAKE_PROTOCOL"] = "1"
    // A program that speaks on its standard streams may have started this process.
    result["RETAKE_TRANSPORT"] = nil
    // A secret; a program could use it to forge values that other machines use.
    result["RETAKE_CACHE_KEY"] = nil
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

  /// Ends the program and its group, politely at first. Returns when a listener has heard its last
  /// lines.
  func stop() {
    guard !isStopped else { return }
    stop(afterNanoseconds: Self.politeNanoseconds)
    if tail.hasListener { clock.wait(nanoseconds: Self.lastLinesNanoseconds, or: tail.closed) }
  }

  /// Ends a program that broke the protocol. Returns when the output of the program is in the tail.
  func kill() {
    // While the program runs, its processes are known by their parent, even with another
    // environment.
    let known = marked.ids(descendantsOf: process.id)
    process.sendToGroup(SIGTERM)
    stop(afterNanoseconds: Self.politeNanoseconds / 2, known)
    clock.wait(nanoseconds: Self.lastLinesNanoseconds, or: tail.closed)
  }

  /// - Parameter known: Processes that the program has started.
  private func stop(afterNanoseconds polite: Int64, _ known: [Int32] = []) {
    guard !isStopped else { return }
    close()
    var known = known
    if wait(nanoseconds: polite) == nil {
      known += marked.ids(descendantsOf: process.id)
      process.sendToGroup(SIGKILL)
      _ = wait(nanoseconds: Self.killedNanoseconds)
    }
    // Processes that have left the group.
    marked.endAll(and: known) {
      clock.wait(nanoseconds: Self.lookNanoseconds, or: never)
    }
    guardian?.dismiss()
    isStopped = true
  }

  private func wait(nanoseconds: Int64) -> ChildProcess.End? {
    let deadline = clock.monotonicNanoseconds + nanoseconds
    // Bounded by the deadline; the condition ends the wait early.
    while process.end == nil, clock.monotonicNanoseconds < deadline {
      clock.wait(untilNanoseconds: deadline, or: ended)
    }
    return process.end
  }
}

/// A process in the group of a program. When this process ends, however it ends, the guardian kills
/// the group and the processes that have left it.
///
/// A program that reads its socket notices the end itself. The guardian ends programs that do not
/// read it, and processes that programs started.
private final class GroupGuardian {
  /// Closed by the system if this process ends without `dismiss`.
  private let pipe: ChildPipe
  private let process: ChildProcess

  /// Twice, because a process may start another process while it is being ended.
  private static let script = """
    read -r _ || {
      for round in 1 2; do
        for file in $(grep -lasF -- "$1" /proc/[0-9]*/environ
                      grep -lsF -- " $2 " /proc/[0-9]*/limits); do
          file=${file#/proc/}
          kill -KILL "${file%/*}"
        done
      done
      kill -KILL 0
    }
    """

  /// - Parameter marked: The program's processes.
  /// - Returns: `nil` if the group has already ended.
  init?(group: Int32, _ marked: MarkedProcesses) {
    guard let pipe = try? ChildPipe() else { return nil }
    var request = ChildProcess.Request(
      "/bin/sh", ["-c", Self.script, "sh", marked.mark, marked.limitText])
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
