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
    default: Interruption.isRequested ? .interrupted : .trouble
    }
  }
}

/// SIGINT and SIGTERM ask running work to end; a second one ends the process at once.
enum Interruption {
  private static let flag = Locked(false)
  private static let holder = Holder()

  /// Keeps the sources alive for as long as the process lives.
  private final class Holder: @unchecked Sendable {
    // @unchecked: written once, by the main thread, before any long work; never read.
    var sources: [any DispatchSourceProtocol] = []
  }

  static var isRequested: Bool { flag.withLock { $0 } }

  private static let actions = Locked<[@Sendable () -> Void]>([])

  /// Calls `action` when the end is asked for, from a thread of its own.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    if isRequested { action() }
  }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    let queue = DispatchQueue(label: "retake.signals")
    holder.sources = [SIGINT, SIGTERM].map { number -> any DispatchSourceProtocol in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        let isSecond = flag.withLock { flag in
          defer { flag = true }
          return flag
        }
        if isSecond { _exit(ExitStatus.interrupted.rawValue) }
        for action in actions.withLock({ $0 }) { action() }
      }
      source.resume()
      return source
    }
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
