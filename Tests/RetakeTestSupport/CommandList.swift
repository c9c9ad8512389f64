import Foundation

/// Commands of `retake` that run one after another in one process, each with limits.
package struct CommandList: Codable, Sendable {
  /// In the process that runs the commands: the folder with the list and the results.
  package static let variable = "RETAKE_COMMAND_LIST"

  package var commands: [[String]]
  /// The current folder of the commands.
  package var folder: String
  /// Seconds of processor time for each command.
  package var processorSecondsMax: Int
  /// How much writable memory a command may take, besides the memory of the process.
  package var dataBytesMax: Int

  private struct Result: Codable {
    var status: Int32
    var stdout: Data
    var stderr: Data
  }

  private static func list(in place: URL) -> URL { place.appending(path: "list.json") }

  private static func result(_ number: Int, in place: URL) -> URL {
    place.appending(path: "result-\(number).json")
  }

  package init(reading place: URL) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(contentsOf: Self.list(in: place)))
  }

  package init(
    _ commands: [[String]], in folder: URL, processorSecondsMax: Int, dataBytesMax: Int
  ) {
    (self.commands, self.folder) = (commands, folder.path)
    (self.processorSecondsMax, self.dataBytesMax) = (processorSecondsMax, dataBytesMax)
  }

  package func keep(_ result: CommandResult, of number: Int, in place: URL) throws {
    guard let status = result.status else { throw CommandsNotRun(result: result) }
    let kept = Result(status: status, stdout: result.stdoutBytes, stderr: result.stderrBytes)
    try JSONEncoder().encode(kept).write(to: Self.result(number, in: place))
  }

  /// Runs the commands in a separate process of the tests, `CommandListTests`. If a signal ends the
  /// process, it is the result of the command that was running, and another process runs the rest.
  package func run() throws -> [CommandResult] {
    var results: [CommandResult] = []
    // Ends: each process ends with the list, or is the result of a command.
    while results.count < commands.count {
      var rest = self
      rest.commands.removeFirst(results.count)
      let place = try TemporaryFolder("retake-list")
      try JSONEncoder().encode(rest).write(to: Self.list(in: place.url))
      let process = try runTests(
        ["--testing-library", "swift-testing", "--filter", "CommandListTests"],
        environment: [Self.variable: place.url.path])
      let done = try rest.results(in: place.url)
      results += done
      guard done.count < rest.commands.count else { continue }
      guard process.signal != nil else { throw CommandsNotRun(result: process) }
      results.append(process)
    }
    return results
  }

  private func results(in place: URL) throws -> [CommandResult] {
    try commands.indices.lazy.map { Self.result($0, in: place) }
      .prefix { FileManager.default.fileExists(atPath: $0.path) }
      .map { file in
        let kept = try JSONDecoder().decode(Result.self, from: Data(contentsOf: file))
        return CommandResult(
          status: kept.status, timedOut: false, stdoutBytes: kept.stdout, stderrBytes: kept.stderr)
      }
  }
}

/// The process of a list ended before its commands, and no signal ended it.
package struct CommandsNotRun: Error {
  package var result: CommandResult
}
