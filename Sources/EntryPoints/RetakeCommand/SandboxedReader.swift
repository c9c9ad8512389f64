import Foundation
import Retake
import RetakeProcess

/// The restricted process of one command: it imports one file after another, so that its start is
/// paid once. After a crash, the next file has a new process.
final class SandboxedReader {
  private let command: ImportCommand
  private var folder: SessionsFolder?
  private var running: Running?

  /// A process with the socket to its standard input.
  private struct Running {
    let process: ChildProcess
    let socket: ChildSocket
    let scratch: ScratchFolder

    /// Waits for the end of the process, which closes its socket first.
    func end() -> ChildProcess.End {
      socket.closeBothEnds()
      defer { scratch.remove() }
      let condition = ThreadCondition()
      process.onEnd { _ in condition.signal() }
      // Ends with the process. A second request to end ends both.
      while true {
        if let end = process.end { return end }
        condition.wait()
      }
    }
  }

  init(_ command: ImportCommand) {
    self.command = command
  }

  /// Imports one file of the command, or with `--append` all, and prints as the command does.
  ///
  /// - Throws: `CommandEnd` with the status of the import; an error if a signal ended the process.
  func run(_ place: Int) throws {
    let running = try running ?? start()
    self.running = running
    let file = command.files[place]
    let isAsked = running.socket.push(Array("\(place)\n".utf8)) != .closed
    let reply = isAsked ? reply(running) : .ended
    guard case .status(let status) = reply else {
      self.running = nil
      let end = running.end()
      removeUnfinished(file)
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
      if case .noMemory = reply { throw outOfMemory(file) }
      switch end {
      // Without an answer, 0 says nothing about the file.
      case .exited(let status):
        throw CommandEnd(status: status == 0 ? .error : ExitStatus(rawValue: status) ?? .error)
      case .signalled(let number): throw crashed(file, signal: number)
      }
    }
    if status != .passed { throw CommandEnd(status: status) }
  }

  /// Ends the process.
  func close() {
    _ = running?.end()
    running = nil
    folder?.removeIfNew()
  }

  private enum Reply {
    case status(ExitStatus)
    /// The process ends because of its memory limit.
    case noMemory
    /// The process ends without an answer.
    case ended
  }

  private func reply(_ running: Running) -> Reply {
    var (text, buffer) = ("", [UInt8](repeating: 0, count: 16))
    // Ends with the answer, or with the process.
    while true {
      switch running.socket.pull(into: &buffer) {
      case .notNow: running.socket.wait(.toPull, milliseconds: 60_000)
      case .closed: return .ended
      case .moved(let count):
        text += String(decoding: buffer[..<count], as: UTF8.self)
        guard text.hasSuffix("\n") else { continue }
        if text.dropLast() == Sandbox.memoryLine { return .noMemory }
        return .status(Int32(text.dropLast()).flatMap { ExitStatus(rawValue: $0) } ?? .error)
      }
    }
  }

  private func start() throws -> Running {
    // Before a process may write into it.
    try SessionFolder.requireOutside(command.into)
    let folder = folder ?? SessionsFolder(command.into)
    self.folder = folder
    let scratch = try ScratchFolder.ofRun()
    let process = SandboxedImport(
      sandbox: Sandbox(reads: reads, writes: [folder.path, scratch.url.path], bytesMax: bytesMax),
      program: CommandLine.arguments.first ?? "retake")
    var environment = ProcessInfo.processInfo.environment
    environment[SandboxedImport.variable] = String(
      decoding: try JSONEncoder().encode(process), as: UTF8.self)
    for name in ["TMPDIR", "SQLITE_TMPDIR"] { environment[name] = scratch.url.path }
    let socket = try ChildSocket()
    var request = ChildProcess.Request(
      NewProcessRuns.ownExecutable, CommandEnvironment.current.arguments)
    (request.input, request.output, request.errors) = (.socket(socket), .inherited, .inherited)
    request.environment = environment
    let child = try ChildProcess(request)
    socket.closeChildEnd()
    Interruption.onRequest { child.send(SIGINT) }
    return Running(process: child, socket: socket, scratch: scratch)
  }

  /// The files, SQLite's files for them, and files with samples or times.
  private var reads: [String] {
    let texts = command.sensor + [command.times].compactMap(\.self)
    // A path may contain the character after which options follow.
    let prefixes = texts.flatMap { text in
      text.indices.filter { text[$0] == ":" }.map { String(text[..<$0]) } + [text]
    }
    return prefixes
      + command.files.flatMap { file in ["", "-wal", "-shm", "-journal"].map { file + $0 } }
  }

  /// The memory that the process may have.
  private var bytesMax: Int {
    let sizes = command.files.map { SessionBuilder.byteCount($0) ?? 0 }
    // The process may read all of the files as one recording.
    return PixelBudget.ofProcess.processBytesMax(reading: sizes.reduce(0, +))
  }

  /// Removes the hidden folder of the session that the process was building.
  private func removeUnfinished(_ file: String) {
    let name = URL(fileURLWithPath: file).resolvingSymlinksInPath().deletingPathExtension()
    guard
      let target = try? SessionFolder(
        new: command.name, or: name.lastPathComponent, in: command.into)
    else { return }
    SessionBuilder.sweep(for: target)
  }

  private func outOfMemory(_ file: String) -> ErrorFacts {
    let images = ByteText.limit(PixelBudget.ofProcess.bytesMax)
    return ErrorFacts(
      "session.import.memory",
      "reading the file needs more memory than its process may have, \(ByteText.limit(bytesMax))",
      at: file,
      advice: "Nothing was imported. If you trust the file, allow more than \(images) for images, "
        + "and with it for the process: \(PixelBudget.doubled) retake import \(file.shellWord)",
      kind: .memory)
  }

  private func crashed(_ file: String, signal number: Int32) -> ErrorFacts {
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
