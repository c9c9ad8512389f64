import Foundation
import Retake

/// What every command works with: the stages it knows, and where it was called.
struct CommandEnvironment: Sendable {
  @TaskLocal static var current = CommandEnvironment(registry: .builtIn, pipelines: [])

  var registry: StageRegistry
  var pipelines: [Pipeline]
  /// The words after the program's name.
  var arguments: [String] = []

  /// Set by a continuous-integration service: nothing is written to Goldens/ then.
  var isCI: Bool {
    let value = ProcessInfo.processInfo.environment["CI"]?.lowercased() ?? ""
    return !value.isEmpty && value != "0" && value != "false"
  }

  /// Set by a GitHub workflow, whose runner reads annotations from the output.
  var isGitHub: Bool { ProcessInfo.processInfo.environment["GITHUB_ACTIONS"] == "true" }

  var pendingFolder: String? { ProcessInfo.processInfo.environment["RETAKE_PENDING_DIR"] }

  var folder: String { FileManager.default.currentDirectoryPath }

  func project() throws -> Project { try Project(reading: folder) }

  /// A pipeline as the words of a command name it, and what it gets from a session.
  func inspection(of pipeline: String, session: String?) throws -> PipelineInspection {
    let project = try project()
    return try PipelineInspection(
      try project.pipeline(pipeline, catalog: registry, given: pipelines),
      session: try session.map { try project.sessionPath($0) }, catalog: registry)
  }
}

/// The status with which an error ends a command.
enum ErrorStatus {
  static func of(_ error: any CodedError) -> ExitStatus {
    switch error {
    case SuiteError.nothingSelected: .nothingCompared
    case RuntimeError.interrupted: .interrupted
    default:
      if Interruption.isRequested {
        .interrupted
      } else {
        wrongArguments.contains(error.code) ? .usage : .trouble
      }
    }
  }

  /// Codes of errors that say the words themselves are wrong, whatever is on the machine.
  private static let wrongArguments: Set<String> = [
    "media.live.address", "media.live.protocol", "media.live.testPicture", "record.preset.unknown",
    "record.ring.pipeline", "record.ring.tracks", "session.copy.intoItself",
    "session.export.container", "session.name.bad", "suite.output.same", "suite.record.badScene",
    "suite.record.noScene", "suite.record.sceneOnly", "suite.record.tracks",
  ]
}

/// SIGINT, SIGTERM and SIGHUP ask running work to end; a second one ends the process at once.
enum Interruption {
  private static let flag = Locked(false)
  private static let holder = Holder()

  /// Keeps the sources alive for as long as the process lives.
  private final class Holder: @unchecked Sendable {
    // @unchecked: written by the main thread, before any long work; never read.
    var sources: [any DispatchSourceProtocol] = []
  }

  static var isRequested: Bool { flag.withLock { $0 } }

  private static let actions = Locked<[@Sendable () -> Void]>([])

  /// Calls `action` when the end is asked for, from a thread of its own.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    if isRequested { action() }
  }

  /// Calls `action` for each SIGUSR1 from now on, from a thread of its own.
  static func onTrigger(_ action: @escaping @Sendable () -> Void) {
    signal(SIGUSR1, SIG_IGN)
    let source = DispatchSource.makeSignalSource(
      signal: SIGUSR1, queue: DispatchQueue(label: "retake.trigger"))
    source.setEventHandler { action() }
    holder.sources.append(source)
    source.resume()
  }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    let queue = DispatchQueue(label: "retake.signals")
    // Whoever started the program with `nohup` wants it to outlive the terminal.
    let numbers = [SIGINT, SIGTERM] + (SignalDisposition.isIgnored(SIGHUP) ? [] : [SIGHUP])
    var waiting = sigset_t()
    sigemptyset(&waiting)
    for number in numbers { sigaddset(&waiting, number) }
    // A signal that comes before its source is in place waits: it would be ignored for good, and on
    // a busy machine that takes a while.
    pthread_sigmask(SIG_BLOCK, &waiting, nil)
    let isInPlace = DispatchSemaphore(value: 0)
    holder.sources = numbers.map { number -> any DispatchSourceProtocol in
      // Not SIG_IGN: that would forget one that waits already.
      signal(number) { _ in }
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setRegistrationHandler { isInPlace.signal() }
      source.setEventHandler { request() }
      source.resume()
      return source
    }
    for _ in numbers { isInPlace.wait() }
    pthread_sigmask(SIG_UNBLOCK, &waiting, nil)
  }

  private static func request() {
    let isSecond = flag.withLock { flag in
      defer { flag = true }
      return flag
    }
    if isSecond { _exit(ExitStatus.interrupted.rawValue) }
    for action in actions.withLock({ $0 }) { action() }
  }

  /// Ends this process at once when the one that started it does, which holds the other end of
  /// standard input and never writes. Call once, instead of `listen`.
  static func endWithParent() {
    let source = DispatchSource.makeReadSource(
      fileDescriptor: STDIN_FILENO, queue: DispatchQueue(label: "retake.parent"))
    source.setEventHandler { _exit(ExitStatus.interrupted.rawValue) }
    holder.sources = [source]
    source.resume()
  }
}
