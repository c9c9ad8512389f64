import ArgumentParser
import Foundation
import Retake
import RetakeProcess

/// Whether files of others are read in a restricted process.
enum SandboxChoice: String, CaseIterable, ExpressibleByArgument {
  case auto, always, never
}

/// The process in which a command reads files of others: this program, started again with access to
/// these files and the folders that it writes alone.
struct SandboxedProcess: Codable {
  static let variable = "RETAKE_SANDBOX"
  private static let ofProcess = Locked<SandboxedProcess?>(nil)

  /// The restrictions of this process; `nil` without any.
  static var current: SandboxedProcess? { ofProcess.withLock { $0 } }

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
      Console.error(unavailable(cause: error.systemText, advice: "never"))
      _exit(ExitStatus.error.rawValue)
    }
  }

  /// Whether a command reads a file or a session in a restricted process. A layer that the system
  /// lacks is noted.
  ///
  /// - Parameters:
  ///   - obstacle: Why the command cannot read this file in such a process.
  ///   - note: Prints a note.
  /// - Throws: A usage error if the command demands it and it is not possible.
  static func isUsed(
    _ choice: SandboxChoice, for file: String, obstacle: String? = nil, note: (String) -> Void
  ) throws -> Bool {
    // A command inside a test must not start the program of the tests again.
    guard choice != .never, ProcessContext.current.ownsProcess else { return false }
    let layers = Sandbox.layers
    let lack = layers.lack
    if choice == .always, let cause = obstacle ?? lack.map({ "\($0); see 'retake doctor'" }) {
      throw unavailable(cause: cause, at: file, advice: "auto", kind: .usage)
    }
    guard obstacle == nil else { return false }
    if let lack, isNew(lack) { note("note: \(lack)") }
    return layers.landlock != nil || layers.hasSeccomp
  }

  private static let noted = Locked<Set<String>>([])

  private static func isNew(_ lack: String) -> Bool {
    noted.withLock { $0.insert(lack).inserted }
  }

  private static func unavailable(
    cause: String, at file: String? = nil, advice choice: String, kind: ErrorFacts.Kind = .error
  ) -> ErrorFacts {
    ErrorFacts(
      "session.import.sandbox", "the process that reads the file cannot be restricted",
      cause: cause, at: file, advice: "If you trust the file, use: --sandbox \(choice)", kind: kind)
  }

  /// Does the work of each line of standard input, which is a socket, and answers with the exit
  /// status. Ends when the asking process closes the socket.
  static func serve(_ work: (String) throws -> Void) throws {
    while let line = readLine() {
      let status = try CommandEnd.status { try work(line) }
      fflush(nil)
      try answer("\(status.rawValue)")
    }
  }

  /// Sends a line to the asking process.
  static func answer(_ line: String) throws {
    try FileHandle.standardInput.write(contentsOf: Data("\(line)\n".utf8))
  }
}
