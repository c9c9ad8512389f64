import Foundation
import Retake
import RetakeProcess

/// The process in which `retake import` reads files: this program, started again with access to
/// these files and the folder of the new sessions alone.
struct SandboxedImport: Codable {
  static let variable = "RETAKE_SANDBOX"
  private static let ofProcess = Locked<SandboxedImport?>(nil)

  /// The restrictions of this process; `nil` without any.
  static var current: SandboxedImport? { ofProcess.withLock { $0 } }

  let sandbox: Sandbox
  /// The program as the user called it.
  let program: String

  /// Restricts this process if it was started for that. Call this first, while it has one thread.
  static func begin() {
    guard let text = ProcessInfo.processInfo.environment[variable] else { return }
    do {
      let process = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
      try process.sandbox.enter()
      ofProcess.withLock { $0 = process }
    } catch {
      Console.error(
        ErrorFacts(
          "session.import.sandbox", "the process that reads the file cannot be restricted",
          cause: error.systemText, advice: "If you trust the file, add: --sandbox never"))
      _exit(ExitStatus.error.rawValue)
    }
  }

  /// Whether a file is read in a restricted process.
  ///
  /// - Throws: A usage error if the command demands it and it is not possible.
  static func isUsed(by command: ImportCommand, for file: String) throws -> Bool {
    // A command inside a test must not start the program of the tests again.
    guard command.sandbox != .never, ProcessContext.current.ownsProcess else { return false }
    let url = URL(fileURLWithPath: file).resolvingSymlinksInPath()
    let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
    let layers = Sandbox.layers
    let obstacle: String? =
      if isFolder {
        "a folder is read without, because it may link to other folders"
      } else if command.link {
        "--link makes a link to a file outside"
      } else if !layers.isComplete {
        "this system has no Landlock, or no seccomp; see 'retake doctor'"
      } else {
        nil
      }
    guard let obstacle else { return true }
    guard command.sandbox == .always else {
      return !isFolder && !command.link && (layers.landlock != nil || layers.hasSeccomp)
    }
    throw ErrorFacts(
      "session.import.sandbox", "the process that reads the file cannot be restricted",
      cause: obstacle, at: file, advice: "If you trust the file, use: --sandbox auto", kind: .usage)
  }

  /// Reads the numbers of files from standard input, which is a socket, and answers each with the
  /// exit status of its import. Ends when the asking process closes the socket.
  static func serve(_ read: (Int) throws -> Void) throws {
    while let line = readLine(), let place = Int(line) {
      let status = try CommandEnd.status { try read(place) }
      fflush(nil)
      try FileHandle.standardInput.write(contentsOf: Data("\(status.rawValue)\n".utf8))
    }
  }
}
