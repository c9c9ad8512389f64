import Foundation
import Retake
import RetakeProcess

/// The restricted process of an import: it imports one file after another, so that its start is
/// paid once. After a crash, the next file has a new process.
final class SandboxedReader {
  private let command: ImportCommand
  private var folder: SessionsFolder?
  private var running: SandboxedHelper?

  init(_ command: ImportCommand) {
    self.command = command
  }

  /// Whether a file is read in a restricted process.
  ///
  /// - Throws: A usage error if the command demands it and it is not possible.
  static func isUsed(by command: ImportCommand, for file: String) throws -> Bool {
    let url = URL(fileURLWithPath: file).resolvingSymlinksInPath()
    let isFolder = (try? url.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true
    let obstacle: String? =
      if isFolder {
        "a folder is read without, because it may link to other folders"
      } else if command.link {
        "--link makes a link to a file outside"
      } else {
        nil
      }
    return try SandboxedProcess.isUsed(command.sandbox, for: file, obstacle: obstacle) {
      command.output.note($0)
    }
  }

  /// Imports one file of the command, or with `--append` all, and prints as the command does.
  ///
  /// - Throws: `CommandEnd` with the status of the import; an error if a signal ended the process.
  func run(_ place: Int) throws {
    let running = try running ?? start()
    self.running = running
    let file = command.files[place]
    let answer = running.ask("\(place)") ? running.line() : nil
    guard let answer, answer != Sandbox.memoryLine else {
      self.running = nil
      let end = running.end()
      removeUnfinished(file)
      if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
      if answer == Sandbox.memoryLine { throw outOfMemory(file) }
      switch end {
      // Without an answer, 0 says nothing about the file.
      case .exited(let status):
        throw CommandEnd(status: status == 0 ? .error : ExitStatus(rawValue: status) ?? .error)
      case .signalled: throw crashed(file, end)
      }
    }
    let status = Int32(answer).flatMap { ExitStatus(rawValue: $0) } ?? .error
    if status != .passed { throw CommandEnd(status: status) }
  }

  /// Ends the process.
  func close() {
    _ = running?.end()
    running = nil
    folder?.removeIfNew()
  }

  private func start() throws -> SandboxedHelper {
    // Before a process may write into it.
    try SessionFolder.requireOutside(command.into)
    let folder = folder ?? SessionsFolder(command.into)
    self.folder = folder
    return try SandboxedHelper(reads: reads, writes: [folder.path], bytesMax: bytesMax)
  }

  /// The files, SQLite's files for them, and files with samples or times.
  private var reads: [String] {
    let texts = command.sensor + [command.times].compactMap(\.self)
    // A path may contain the character after which options follow.
    let prefixes = texts.flatMap { text in
      text.indices.filter { text[$0] == ":" }.map { String(text[..<$0]) } + [text]
    }
    let files = command.files.flatMap { file in ["", "-wal", "-shm", "-journal"].map { file + $0 } }
    // The system bounds the description of the process.
    return (prefixes + files).filter { access($0, F_OK) == 0 }
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
    .overMemoryLimit(
      "session.import.memory", bytesMax, at: file,
      advice: "Nothing was imported. If you trust the file",
      retry: "retake import \(file.shellWord)")
  }

  private func crashed(_ file: String, _ end: ChildProcess.End) -> ErrorFacts {
    ErrorFacts(
      "session.import.crashed", "the process that reads the file was ended by \(end.helperCause)",
      at: file,
      advice: "Nothing was imported. Repair the file first, and report it to us if you can: "
        + "ffmpeg -i \(file.shellWord) -c copy OUT.mkv")
  }
}

extension ErrorFacts {
  /// A restricted process needed more memory than its limit.
  static func overMemoryLimit(
    _ code: String, _ bytesMax: Int, at path: String, advice: String, retry command: String
  ) -> ErrorFacts {
    ErrorFacts(
      code,
      "reading it needs more memory than its process may have, \(ByteText.limit(bytesMax))",
      at: path,
      advice: "\(advice), allow more memory for images, and with it for the process: "
        + "\(PixelBudget.doubled) \(command)",
      kind: .memory)
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
