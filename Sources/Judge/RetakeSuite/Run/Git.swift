import Foundation
import RetakeBuffers
import RetakeCore
import RetakeRuntime

/// git in a folder, within a time limit.
struct Git {
  /// The time limit of one call, in seconds.
  private static let secondsMax = 120.0
  /// A folder of the project may look like a repository, and its configuration names programs.
  private static let safety = ["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"]

  let folder: String
  /// A separate index, which leaves the repository's as it is; `nil` means the folder's own.
  let index: String?
  private let isInterrupted: () -> Bool

  init(folder: String, index: String? = nil, _ isInterrupted: @escaping () -> Bool) {
    self.folder = folder
    self.index = index
    self.isInterrupted = isInterrupted
  }

  /// Runs git and returns its output.
  ///
  /// - Throws: `SuiteError.noRevision`, `RuntimeError.interrupted`.
  func run(_ words: [String], _ revision: String, failure: String) throws -> String {
    let result = try call(words, revision)
    guard result.status != 0 else { return result.end }
    throw SuiteError.noRevision(revision, cause: result.end.isEmpty ? failure : result.end)
  }

  /// Runs git and returns its exit status, the lines of its output, and the output's end as one line.
  ///
  /// - Throws: `SuiteError.noRevision` if git does not exit, `RuntimeError.interrupted`.
  func call(
    _ words: [String], _ revision: String
  ) throws -> (status: Int32, lines: [String], end: String) {
    var environment = ProcessInfo.processInfo.environment
    environment["GIT_INDEX_FILE"] = index
    // No one answers here, so git must fail and not ask.
    environment["GIT_TERMINAL_PROMPT"] = "0"
    environment["GIT_OPTIONAL_LOCKS"] = "0"
    // The messages become part of errors, and must not depend on the locale.
    environment["LC_ALL"] = "C"
    let output = Locked(Data())
    let process = BoundedProcess(
      executable: "/usr/bin/env", arguments: ["git"] + Self.safety + ["-C", folder] + words,
      environment: environment, secondsMax: Self.secondsMax, isInterrupted: isInterrupted,
      onOutput: { bytes in output.withLock { $0 += bytes } })
    let result: BoundedProcess.Result
    do {
      result = try process.run()
    } catch {
      throw SuiteError.noRevision(revision, cause: error.systemText)
    }
    switch result.end {
    case .exited(let status):
      let text = String(decoding: output.withLock { $0 }, as: UTF8.self)
      return (
        status, text.split(whereSeparator: \.isNewline).map(String.init), result.closingResponse
      )
    case .interrupted: throw RuntimeError.interrupted
    case .stopped:
      throw SuiteError.noRevision(
        revision, cause: "git did not end within \(Int(Self.secondsMax)) s")
    case .signalled(let number):
      throw SuiteError.noRevision(revision, cause: "signal \(number) ended git")
    }
  }
}
