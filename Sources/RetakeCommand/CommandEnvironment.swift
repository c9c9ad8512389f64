import Foundation
import Retake

/// What every command works with: the stages it knows, and where it was called.
struct CommandEnvironment: Sendable {
  @TaskLocal static var current = CommandEnvironment(registry: .builtIn, pipelines: [])

  var registry: StageRegistry
  var pipelines: [Pipeline]

  /// Set by a continuous-integration service: nothing is written to Goldens/ then.
  var isCI: Bool {
    let value = ProcessInfo.processInfo.environment["CI"]?.lowercased() ?? ""
    return !value.isEmpty && value != "0" && value != "false"
  }

  var pendingFolder: String? { ProcessInfo.processInfo.environment["RETAKE_PENDING_DIR"] }

  var folder: String { FileManager.default.currentDirectoryPath }

  func project() throws -> Project { try Project(reading: folder) }
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
  private static let sources = Locked<[any DispatchSourceSignal]>([])

  static var isRequested: Bool { flag.withLock { $0 } }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    let queue = DispatchQueue(label: "retake.signals")
    let made = [SIGINT, SIGTERM].map { number -> any DispatchSourceSignal in
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
      source.setEventHandler {
        let isSecond = flag.withLock { flag in
          defer { flag = true }
          return flag
        }
        if isSecond { _exit(ExitStatus.interrupted.rawValue) }
      }
      source.resume()
      return source
    }
    sources.withLock { $0 = made }
  }
}
