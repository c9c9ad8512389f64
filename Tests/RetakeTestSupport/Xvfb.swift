import Foundation
import RetakeProcess

/// A display without a screen, for tests of windows; it ends with this object.
package final class Xvfb {
  /// The command's path; nil where there is none.
  package static let command = ChildProcess.path(of: "Xvfb")

  /// What DISPLAY is to be.
  package let display: String
  private let process: ChildProcess

  package init(width: Int = 1280, height: Int = 960) throws {
    guard let command = Self.command else {
      throw CommandNotFound(description: "there is no Xvfb; Scripts/setup installs it")
    }
    let number = try ChildPipe()
    // The server writes the number that it found free, once it answers.
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

  /// Programs that are connected to it.
  package var clients: Int {
    let sockets = (try? String(contentsOfFile: "/proc/net/unix", encoding: .utf8)) ?? ""
    let name = "/.X11-unix/X\(display.dropFirst())"
    // One line is the socket that it listens at; it has another one with `@` before its name.
    return sockets.split(separator: "\n").count { line in
      line.hasSuffix(name) && line.split(separator: " ").dropFirst(5).first == "03"
    }
  }

  /// Lets it stand still: it answers nothing, and keeps its connections.
  package func hold() { process.send(SIGSTOP) }

  deinit {
    // It takes its files under the temporary folder away.
    process.send(SIGTERM)
    process.send(SIGCONT)
    if process.wait(seconds: 60) == nil { process.endNow() }
  }
}
