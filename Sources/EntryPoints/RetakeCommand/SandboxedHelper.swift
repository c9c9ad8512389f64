import Foundation
import Retake
import RetakeProcess

/// A restricted process that does the work of one line after another.
///
/// Only one thread at a time uses it, except `waitForEnd`.
final class SandboxedHelper: @unchecked Sendable {
  // SAFETY: @unchecked because of `received`, which one thread at a time uses by the rule above.

  /// An answer has fewer bytes.
  private static let answerBytesMax = 16 << 20

  private let process: ChildProcess
  private let socket: ChildSocket
  private let scratch: ScratchFolder
  private var received: [UInt8] = []

  /// Starts this program again, with the arguments of the command.
  ///
  /// - Parameters:
  ///   - reads: Files, and folders with all files in them.
  ///   - writes: The same, to change them. The process also has a new temporary folder.
  ///   - descriptors: Files that the process inherits, see `ChildProcess.Request`.
  init(reads: [String], writes: [String], bytesMax: Int, descriptors: [Int32] = []) throws {
    scratch = try ScratchFolder.ofRun()
    let description = SandboxedProcess(
      sandbox: Sandbox(reads: reads, writes: writes + [scratch.url.path], bytesMax: bytesMax),
      program: CommandLine.arguments.first ?? "retake")
    var environment = ProcessInfo.processInfo.environment
    environment[SandboxedProcess.variable] = String(
      decoding: try JSONEncoder().encode(description), as: UTF8.self)
    for name in ["TMPDIR", "SQLITE_TMPDIR"] { environment[name] = scratch.url.path }
    // The runtime's handler of fatal signals cannot start its program here, and may wait forever.
    environment["SWIFT_BACKTRACE"] = environment["SWIFT_BACKTRACE"] ?? "enable=no"
    socket = try ChildSocket()
    var request = ChildProcess.Request(
      NewProcessRuns.ownExecutable, CommandEnvironment.current.arguments)
    (request.input, request.output, request.errors) = (.socket(socket), .inherited, .inherited)
    request.environment = environment
    request.descriptors = descriptors
    let process = try ChildProcess(request)
    self.process = process
    socket.closeChildEnd()
    Interruption.onRequest { process.send(SIGINT) }
  }

  /// Starts a process that reads a session and writes no files.
  convenience init(session path: String, descriptors: [Int32] = []) throws {
    let folder = SessionFolder(path: path)
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: folder.media)) ?? []
    // The media to which the session links.
    let links = names.sorted().map { folder.media + "/" + $0 }.filter {
      (try? files.destinationOfSymbolicLink(atPath: $0)) != nil
    }
    try self.init(
      reads: [folder.path, folder.media] + links, writes: [],
      bytesMax: Self.bytesMax(ofSession: path), descriptors: descriptors)
  }

  /// The memory of a process that reads the session.
  static func bytesMax(ofSession path: String) -> Int {
    PixelBudget.ofProcess.processBytesMax(reading: SessionBuilder.byteCount(ofFolder: path))
  }

  /// Whether the process can receive the line.
  func ask(_ line: String) -> Bool {
    var bytes = Array("\(line)\n".utf8)
    // Ends when all bytes are moved, or with the process.
    while !bytes.isEmpty {
      switch socket.push(bytes) {
      case .moved(let count): bytes.removeFirst(count)
      case .notNow: socket.wait(.toPush, milliseconds: 60_000)
      case .closed: return false
      }
    }
    return true
  }

  /// The next line of the answer; `nil` if the process ends first.
  func line() -> String? {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    // Ends with a line, or with the process.
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        defer { received.removeSubrange(...end) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      guard received.count < Self.answerBytesMax else { return nil }
      switch socket.pull(into: &buffer) {
      case .notNow: socket.wait(.toPull, milliseconds: 60_000)
      case .closed: return nil
      case .moved(let count): received += buffer[..<count]
      }
    }
  }

  /// Waits for the end of the process, and closes its socket first.
  func end() -> ChildProcess.End {
    socket.closeBothEnds()
    defer { scratch.remove() }
    return waitForEnd()
  }

  /// Waits for the end of the process. Any thread may wait.
  func waitForEnd() -> ChildProcess.End {
    let condition = ThreadCondition()
    process.onEnd { _ in condition.signal() }
    // Ends with the process. A second request to end ends both.
    while true {
      if let end = process.end { return end }
      condition.wait()
    }
  }
}

extension ChildProcess.End {
  /// Why a process of a command ended.
  var helperCause: String {
    switch self {
    case .exited(let status): "status \(status)"
    case .signalled(SIGKILL): "signal \(SIGKILL); perhaps the system had no memory left"
    case .signalled(let number): "signal \(number)"
    }
  }
}
