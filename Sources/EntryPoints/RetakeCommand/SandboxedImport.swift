import Foundation
import Retake
import RetakeProcess

/// The process in which `retake import` reads one file: this program, started again with access to
/// that file and the folder of the new session alone.
struct SandboxedImport: Codable {
  private static let variable = "RETAKE_SANDBOX"
  /// libdispatch reads the states of this process's threads there, and ends the process if it
  /// cannot. The memory, files and environment of other processes stay closed: Landlock forbids
  /// tracing.
  private static let processes = "/proc"
  private static let ofProcess = Locked<SandboxedImport?>(nil)

  /// The restrictions of this process; `nil` if it has none.
  static var current: SandboxedImport? { ofProcess.withLock { $0 } }

  let sandbox: Sandbox
  /// The number of the file among the arguments, from 0.
  let place: Int
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

  /// Imports one file of a command, or with `--append` all, and prints as the command does.
  ///
  /// - Throws: `CommandEnd` with the status of the import; an error if a signal ended the process.
  static func run(_ command: ImportCommand, place: Int) throws {
    // Before a process may write into it.
    try SessionFolder.requireOutside(command.into)
    let folder = SessionsFolder(command.into)
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    let file = command.files[place]
    let process = SandboxedImport(
      sandbox: Sandbox(
        reads: reads(command.append ? command.files : [file], command) + [processes],
        writes: [folder.path, scratch.url.path]),
      place: place, program: CommandLine.arguments.first ?? "retake")
    var environment = ProcessInfo.processInfo.environment
    environment[variable] = String(decoding: try JSONEncoder().encode(process), as: UTF8.self)
    for name in ["TMPDIR", "SQLITE_TMPDIR"] { environment[name] = scratch.url.path }
    var request = ChildProcess.Request(
      NewProcessRuns.ownExecutable, CommandEnvironment.current.arguments)
    (request.output, request.errors) = (.inherited, .inherited)
    request.environment = environment
    switch try end(of: request) {
    case .exited(0): break
    case .exited(let status):
      folder.removeIfNew()
      throw CommandEnd(status: ExitStatus(rawValue: status) ?? .error)
    case .signalled(let number):
      removeUnfinished(command, file)
      folder.removeIfNew()
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
      throw crashed(file, signal: number)
    }
  }

  /// The files, SQLite's files for them, and files with samples or times.
  private static func reads(_ files: [String], _ command: ImportCommand) -> [String] {
    let texts = command.sensor + [command.times].compactMap(\.self)
    // A path may contain the character after which options follow.
    let prefixes = texts.flatMap { text in
      text.indices.filter { text[$0] == ":" }.map { String(text[..<$0]) } + [text]
    }
    return prefixes + files.flatMap { file in ["", "-wal", "-shm", "-journal"].map { file + $0 } }
  }

  /// Starts a process, passes a request to end on to it, and waits for its end.
  static func end(of request: ChildProcess.Request) throws -> ChildProcess.End {
    let process = try ChildProcess(request)
    Interruption.onRequest { process.send(SIGINT) }
    let condition = ThreadCondition()
    let end = Locked<ChildProcess.End?>(nil)
    process.onEnd { how in
      end.withLock { $0 = how }
      condition.signal()
    }
    // Ends with the process. A second request ends both.
    while true {
      if let end = end.withLock({ $0 }) { return end }
      condition.wait()
    }
  }

  /// Removes the hidden folder of the session that the process was building.
  private static func removeUnfinished(_ command: ImportCommand, _ file: String) {
    let name = URL(fileURLWithPath: file).resolvingSymlinksInPath().deletingPathExtension()
    guard
      let target = try? SessionFolder(
        new: command.name, or: name.lastPathComponent, in: command.into)
    else { return }
    SessionBuilder.sweep(for: target)
  }

  static func crashed(_ file: String, signal number: Int32) -> ErrorFacts {
    ErrorFacts(
      "session.import.crashed", "the process that reads the file was ended by signal \(number)",
      cause: number == SIGKILL ? "perhaps the system had no memory left" : nil, at: file,
      advice: "Nothing was imported. Repair the file first, and report it to us if you can: "
        + "ffmpeg -i \(file.shellWord) -c copy OUT.mkv")
  }
}

/// The folder of new sessions, which exists before a process may write only into it. It is removed
/// again if it is new and stays empty.
private struct SessionsFolder {
  let path: String
  private let isNew: Bool
  /// Open while a process may need the folder: another import that made it does not remove it.
  private let hold: FileHandle?

  init(_ path: String) {
    self.path = URL(fileURLWithPath: path).path
    let files = FileManager.default
    isNew = !files.fileExists(atPath: self.path)
    // An error is found again by the import, in its words.
    try? files.createDirectory(atPath: self.path, withIntermediateDirectories: true)
    hold = FileHandle(forReadingAtPath: self.path)
    if let hold { _ = flock(hold.fileDescriptor, LOCK_SH) }
  }

  func removeIfNew() {
    guard isNew, let hold, flock(hold.fileDescriptor, LOCK_EX | LOCK_NB) == 0 else { return }
    rmdir(path)
  }
}
