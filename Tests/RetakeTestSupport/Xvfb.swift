import Foundation
import RetakeProcess

/// A virtual display, for tests of windows; it ends with this object.
package final class Xvfb {
  /// The command's path; `nil` if it is not installed.
  package static let command = ChildProcess.path(of: "Xvfb")

  /// The value of DISPLAY.
  package let display: String
  private let process: ChildProcess

  package init(width: Int = 1280, height: Int = 960) throws {
    guard let command = Self.command else {
      throw CommandNotFound(description: "there is no Xvfb; Scripts/setup installs it")
    }
    let number = try ChildPipe()
    // The server writes the number of the free display that it found, as soon as it responds.
    var request = ChildProcess.Request(
      command,
      [
        "-displayfd", "1", "-screen", "0", "\(width)x\(height)x24", "-nolisten", "tcp",
        "-noreset",
      ])
    request.output = .pipe(number)
    process = try ChildProcess(request)
    display = ":" + number.readLine().trimmingCharacters(in: .whitespacesAndNewlines)
    guard display.count > 1 else {
      throw CommandNotFound(description: "Xvfb ended before it answered")
    }
  }

  /// The number of programs that are connected to it.
  package var clients: Int {
    let sockets = systemText("/proc/net/unix") ?? ""
    let name = "/.X11-unix/X\(display.dropFirst())"
    // One line is the socket on which it listens; it has another one with `@` before its name.
    return sockets.split(separator: "\n").count { line in
      line.hasSuffix(name) && line.split(separator: " ").dropFirst(5).first == "03"
    }
  }

  /// Stops the server: it does not answer, and keeps its connections.
  package func hold() { process.send(SIGSTOP) }

  deinit {
    // The server removes its files in the temporary folder.
    process.send(SIGTERM)
    process.send(SIGCONT)
    if process.wait(seconds: 60) == nil { process.endNow() }
  }
}
