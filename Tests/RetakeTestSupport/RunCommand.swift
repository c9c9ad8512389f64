import Foundation

/// How a command ended, and everything that it wrote.
package struct CommandResult: Sendable {
  /// The exit status; nil when a signal ended the command.
  package var status: Int32?
  /// The signal that ended the command.
  package var signal: Int32?
  /// The command was still running at its time limit and was killed.
  package var timedOut: Bool
  package var stdoutBytes: Data
  package var stderrBytes: Data

  package var stdout: String { String(decoding: stdoutBytes, as: UTF8.self) }
  package var stderr: String { String(decoding: stderrBytes, as: UTF8.self) }
}

/// A command could not be started.
package struct CommandNotFound: Error, CustomStringConvertible {
  package var description: String
}

/// Runs a command to its end and returns what it wrote.
///
/// Output goes through files, not pipes: a command may write any amount, and a child of the
/// command that outlives it cannot hold the caller up.
/// - Parameters:
///   - command: A path, or a name that is looked up in PATH.
///   - environment: Changes to this process's environment; nil removes a variable.
///   - input: What the command reads from standard input; nothing by default.
///   - timeoutSeconds: Afterwards the command is killed and the result says `timedOut`.
/// - Throws: `CommandNotFound`, or the file system's errors.
package func runCommand(
  _ command: String, arguments: [String] = [], environment: [String: String?] = [:],
  folder: URL? = nil, input: Data? = nil, timeoutSeconds: Int = 120
) throws -> CommandResult {
  let scratch = try TemporaryFolder("retake-command")
  let output = try scratch.write("", to: "stdout")
  let errors = try scratch.write("", to: "stderr")
  let inputFile = scratch.file("stdin")
  try (input ?? Data()).write(to: inputFile)

  let process = Process()
  process.executableURL = try executable(command)
  process.arguments = arguments
  process.currentDirectoryURL = folder
  process.environment = changed(ProcessInfo.processInfo.environment, by: environment)
  // Closed here: Foundation keeps them open for as long as it likes, and its own search for open
  // files reads past the end of their list where there are more than a thousand.
  let files = try [
    FileHandle(forReadingFrom: inputFile), FileHandle(forWritingTo: output),
    FileHandle(forWritingTo: errors),
  ]
  defer { for file in files { try? file.close() } }
  process.standardInput = files[0]
  process.standardOutput = files[1]
  process.standardError = files[2]
  let ended = DispatchSemaphore(value: 0)
  process.terminationHandler = { _ in ended.signal() }
  try process.run()
  let timedOut = ended.wait(timeout: .now() + .seconds(timeoutSeconds)) == .timedOut
  if timedOut {
    kill(process.processIdentifier, SIGKILL)
    ended.wait()
  }
  let signalled = process.terminationReason == .uncaughtSignal
  return CommandResult(
    status: signalled ? nil : process.terminationStatus,
    signal: signalled ? process.terminationStatus : nil, timedOut: timedOut,
    stdoutBytes: try Data(contentsOf: output), stderrBytes: try Data(contentsOf: errors))
}

private func executable(_ command: String) throws -> URL {
  if command.contains("/") { return URL(filePath: command) }
  let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  for folder in folders {
    let path = "\(folder)/\(command)"
    if FileManager.default.isExecutableFile(atPath: path) { return URL(filePath: path) }
  }
  throw CommandNotFound(description: "\(command) is not in PATH; Scripts/setup installs it")
}

private func changed(
  _ environment: [String: String], by changes: [String: String?]
) -> [String: String] {
  var result = environment
  for (name, value) in changes { result[name] = value }
  return result
}
