import Foundation
import RetakeProcess

/// How a command ended, and its complete output.
package struct CommandResult: Sendable {
  /// The exit status; `nil` if a signal ended the command.
  package var status: Int32?
  /// The signal that ended the command.
  package var signal: Int32?
  /// Whether the command was still running at its time limit and was killed.
  package var timedOut: Bool
  package var stdoutBytes: Data
  package var stderrBytes: Data

  package init(status: Int32? = nil, timedOut: Bool, stdoutBytes: Data, stderrBytes: Data) {
    (self.status, self.timedOut) = (status, timedOut)
    (self.stdoutBytes, self.stderrBytes) = (stdoutBytes, stderrBytes)
  }

  package var stdout: String { String(decoding: stdoutBytes, as: UTF8.self) }
  package var stderr: String { String(decoding: stderrBytes, as: UTF8.self) }
}

/// A command could not be started.
package struct CommandNotFound: Error, CustomStringConvertible {
  package var description: String
}

/// Runs a command to its end and returns its output.
///
/// Output goes through files, not pipes: a command may write any amount, and a child of the command
/// that outlives it cannot block the caller.
/// - Parameters:
///   - command: A path, or a name that is looked up in PATH.
///   - environment: Changes to this process's environment; `nil` removes a variable.
///   - input: The command's standard input; empty by default.
///   - timeoutSeconds: After this time the command and its children are killed, and the result has
///     `timedOut`. It only turns a hang into a failure.
/// - Throws: `CommandNotFound`, or the file system's errors.
package func runCommand(
  _ command: String, arguments: [String] = [], environment: [String: String?] = [:],
  folder: URL? = nil, input: Data? = nil, timeoutSeconds: Int = ChildProcess.secondsMax
) throws -> CommandResult {
  let scratch = try TemporaryFolder("retake-command")
  let output = try scratch.write("", to: "stdout")
  let errors = try scratch.write("", to: "stderr")
  let inputFile = scratch.file("stdin")
  try (input ?? Data()).write(to: inputFile)

  var request = ChildProcess.Request(try executable(command), arguments)
  request.environment = changed(ProcessInfo.processInfo.environment, by: environment)
  request.folder = folder?.path
  request.input = .file(inputFile.path)
  request.output = .file(output.path)
  request.errors = .file(errors.path)
  let process = try ChildProcess(request)
  let end = process.wait(seconds: timeoutSeconds)
  if end == nil { process.endNow() }
  var result = CommandResult(
    timedOut: end == nil, stdoutBytes: try Data(contentsOf: output),
    stderrBytes: try Data(contentsOf: errors))
  switch process.end {
  case .exited(let status): result.status = status
  case .signalled(let number): result.signal = number
  case nil: break
  }
  return result
}

/// The path of a command that is given as a path or as a name in PATH.
package func executable(_ command: String) throws -> String {
  if command.contains("/") { return command }
  if let path = ChildProcess.path(of: command) { return path }
  throw CommandNotFound(description: "\(command) is not in PATH; Scripts/setup installs it")
}

extension ChildProcess {
  /// Seconds after which something must be stuck, even if a dozen busy processes share a processor.
  package static let secondsMax = 3000

  /// Waits for the end; `nil` if it does not come within the limit.
  package func wait(seconds: Int = secondsMax) -> End? {
    let ended = DispatchSemaphore(value: 0)
    onEnd { _ in ended.signal() }
    return ended.wait(timeout: .now() + .seconds(seconds)) == .success ? end : nil
  }

  /// Kills the child and all processes of its group, and waits until it has ended.
  package func endNow() {
    sendToGroup(SIGKILL)
    _ = wait()
  }
}

/// Waits for the end of a process that is not a child of this one, or that another part reaps;
/// `false` if it does not end within the limit.
package func isGone(process id: Int32) -> Bool {
  let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
  let never = DispatchSemaphore(value: 0)
  while ContinuousClock.now < limit {
    let status = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
    guard let status, !status.contains(") Z ") else { return true }
    _ = never.wait(timeout: .now() + .milliseconds(20))
  }
  return false
}

extension ChildPipe {
  /// The bytes up to the end of the line, or to the end of the stream.
  package func readLine() -> String {
    var bytes: [UInt8] = []
    // Ends: with the line, or with the last writer.
    while let byte = read(atMost: 1)?.first, byte != UInt8(ascii: "\n") { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// The environment with other values of some variables; `nil` removes a variable.
package func changed(
  _ environment: [String: String], by changes: [String: String?]
) -> [String: String] {
  var result = environment
  for (name, value) in changes { result[name] = value }
  return result
}

/// The text of a file in /proc up to its end. `String(contentsOfFile:)` reads only 4 KiB of a file
/// with the size 0.
package func systemText(_ path: String) -> String? {
  guard let data = try? FileHandle(forReadingAtPath: path)?.readToEnd() else { return nil }
  return String(decoding: data, as: UTF8.self)
}
