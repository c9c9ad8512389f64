import Foundation

/// A display without a screen, for tests of windows; it ends with this object.
package final class Xvfb {
  /// The command's path; nil where there is none.
  package static let command = (ProcessInfo.processInfo.environment["PATH"] ?? "")
    .split(separator: ":").map { "\($0)/Xvfb" }
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  /// What DISPLAY is to be.
  package let display: String
  private let process = Process()

  package init(width: Int = 1280, height: Int = 960) throws {
    guard let command = Self.command else {
      throw CommandNotFound(description: "there is no Xvfb; Scripts/setup installs it")
    }
    let number = Pipe()
    process.executableURL = URL(filePath: command)
    // The server writes the number that it found free, once it answers.
    process.arguments = [
      "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp", "-noreset",
    ]
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = number
    process.standardError = FileHandle.nullDevice
    try process.run()
    let text = String(decoding: number.fileHandleForReading.availableData, as: UTF8.self)
    display = ":" + text.trimmingCharacters(in: .whitespacesAndNewlines)
    guard display.count > 1 else {
      throw CommandNotFound(description: "Xvfb ended before it answered")
    }
  }

  deinit {
    let id = process.processIdentifier
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    guard process.isRunning else { return }
    process.terminate()
    // It may have been started with that signal blocked.
    if ended.wait(timeout: .now() + .seconds(1)) == .timedOut {
      kill(id, SIGKILL)
      _ = ended.wait(timeout: .now() + .seconds(5))
    }
  }
}
