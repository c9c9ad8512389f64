import Foundation
import Retake
import RetakeTestSupport

@testable import RetakeCommand

/// Runs `retake` inside the process of the tests: the same code from the parser to the exit status,
/// without the start of a process, which takes longer than most commands.
///
/// The command has its own streams, environment variables and current folder. It shares everything
/// else with the tests, so a command that is killed, limited or interrupted needs a process.
struct CommandInside {
  /// Variables that are read by each command. Others are read once per process, or by the C library.
  private static let variables: Set<String> = [
    "CI", "CI_NODE_INDEX", "CI_NODE_TOTAL", "GITHUB_ACTIONS", "JOB_COMPLETION_INDEX", "NO_COLOR",
    "RETAKE_CACHE_KEY", "RETAKE_PENDING_DIR",
  ]

  /// Commands that end the process, wait for a signal, start the program again, or measure the whole
  /// process.
  private static let processCommands = [
    "view", "verify", "report serve", "golden calibrate", "bench memory", "bench window",
    "profile measure",
  ]
  /// A restricted process is this program, started again.
  private static let processWords = " --sandbox always "

  /// Whether the system lets a thread have its own current folder.
  private static let isPossible: Bool = {
    let answer = Locked(false)
    _ = try? NamedThread("retake-folder") { answer.withLock { $0 = separateFolder() } }.join()
    return answer.withLock { $0 }
  }()

  /// Gives this thread, and threads that it starts, a current folder of their own.
  private static func separateFolder() -> Bool {
    #if os(Linux)
      // Swift's Glibc module lacks this function, which is a GNU extension.
      guard let symbol = dlsym(nil, "unshare") else { return false }
      let cloneFileSystem: Int32 = 0x200
      let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
      return unshare(cloneFileSystem) == 0
    #else
      return false
    #endif
  }

  /// Whether the command needs no process.
  static func canRun(_ arguments: [String], changing variables: some Sequence<String>) -> Bool {
    let line = arguments.joined(separator: " ") + " "
    return isPossible && variables.allSatisfy(Self.variables.contains)
      && !line.contains(processWords)
      && (line.contains(" --help ") || !processCommands.contains { line.hasPrefix($0 + " ") })
  }

  var arguments: [String]
  var variables: [String: String]
  var folder: URL
  var secondsMax: Int

  func run() throws -> CommandResult {
    let scratch = try TemporaryFolder("retake-command")
    let output = try scratch.write("", to: "stdout")
    let errors = try scratch.write("", to: "stderr")
    let context = ProcessContext(
      variables: variables, output: try FileHandle(forWritingTo: output),
      errors: try FileHandle(forWritingTo: errors))
    let status = Locked<Int32?>(nil)
    let thread = try NamedThread("retake") { [self] in
      let value = ProcessContext.$current.withValue(context) { self.status() }
      status.withLock { $0 = value }
    }
    thread.join(nanosecondsMax: Int64(secondsMax) * 1_000_000_000, clock: WallClock())
    let value = status.withLock { $0 }
    return CommandResult(
      status: value, timedOut: value == nil, stdoutBytes: try Data(contentsOf: output),
      stderrBytes: try Data(contentsOf: errors))
  }

  private func status() -> Int32 {
    let files = FileManager.default
    let before = files.currentDirectoryPath
    precondition(Self.separateFolder() && files.changeCurrentDirectoryPath(folder.path))
    // A thread of the system's pool may have been started by this thread, and shares its folder.
    defer { _ = files.changeCurrentDirectoryPath(before) }
    let environment = CommandEnvironment(
      registry: .builtIn, pipelines: [], arguments: arguments)
    return environment.during { RetakeCommand.status(of: arguments) }
  }
}
