package import Foundation
package import RetakeBuffers

/// The environment variables and the standard streams that a command uses: the ones of the process,
/// or of a test that runs the command inside its own process.
package struct ProcessContext: Sendable {
  @TaskLocal package static var current = ProcessContext()

  package let variables: [String: String]
  package let output: FileHandle
  package let errors: FileHandle
  /// Whether the command has the process for itself: it may then catch signals and read standard
  /// input.
  package let ownsProcess: Bool
  package let isOutputTerminal: Bool
  package let isErrorsTerminal: Bool
  /// The system's error number of the first result that `output` did not accept.
  package let lostOutput = Locked<Int32?>(nil)

  private init() {
    self.init(ProcessInfo.processInfo.environment, .standardOutput, .standardError, true)
  }

  /// The context of a command that runs inside another program.
  package init(variables: [String: String], output: FileHandle, errors: FileHandle) {
    self.init(variables, output, errors, false)
  }

  private init(
    _ variables: [String: String], _ output: FileHandle, _ errors: FileHandle, _ ownsProcess: Bool
  ) {
    (self.variables, self.output, self.errors) = (variables, output, errors)
    self.ownsProcess = ownsProcess
    isOutputTerminal = isatty(output.fileDescriptor) == 1
    isErrorsTerminal = isatty(errors.fileDescriptor) == 1
  }
}
