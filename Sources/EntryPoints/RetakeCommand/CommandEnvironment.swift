import Foundation
import Retake

/// The environment of every command: the stages it knows, and where it was called.
struct CommandEnvironment: Sendable {
  private static let ofProcess = Locked(CommandEnvironment(registry: .builtIn, pipelines: []))
  /// The environment of a command that a test runs inside its own process.
  @TaskLocal private static var ofCommand: CommandEnvironment?

  /// The environment on every thread: messages of a recorder's threads name the program, too.
  static var current: CommandEnvironment { ofCommand ?? ofProcess.withLock { $0 } }

  /// Makes this the environment of the process, before its command runs.
  func begin() { Self.ofProcess.withLock { $0 = self } }

  /// Makes this the environment of the command that `body` runs.
  func during<Result>(_ body: () -> Result) -> Result {
    Self.$ofCommand.withValue(self, operation: body)
  }

  var registry: StageRegistry
  var pipelines: [Pipeline]
  /// The arguments after the program's name.
  var arguments: [String] = []
  /// The program as it was called: `retake`, or the path of a program with its own stages.
  var program = "retake"

  var name: ProgramName { ProgramName(program) }

  /// A single listener for the command: pipelines share a program only if the same listener hears
  /// it.
  let programListener = {
    // The thread that reads a program's output has no task-local values.
    let context = ProcessContext.current
    return ProgramListener { program, line in
      ProcessContext.$current.withValue(context) { Console.note("\(program): \(line)") }
    }
  }()

  /// The environment variables of the process.
  var variables = EnvironmentVariables()

  var isCI: Bool { variables.isCI }
  var isGitHub: Bool { variables.isGitHub }
  var pendingFolder: String? { variables.pendingFolder }

  var folder: String { FileManager.default.currentDirectoryPath }

  /// - Parameter folder: Where the command was called, if `nil`.
  func project(in folder: String? = nil) throws -> Project {
    var project = try Project(reading: folder ?? self.folder)
    (project.registry, project.pipelines) = (registry, pipelines)
    project.store.isInterrupted = { Interruption.isRequested }
    let line = ProgressLine()
    project.store.progress = { work, done, total in
      line.update("\(work), KiB", done: Int(done >> 10), total: Int(total >> 10))
      if done >= total { line.finish() }
    }
    return project
  }
}

extension RetakeError {
  /// The error with advice in the words of the command that shows it.
  func replacingAdvice(_ words: String, with own: String) -> ErrorFacts {
    var facts = facts
    facts.advice = facts.advice?.replacing(words, with: own)
    return facts
  }
}
