import Foundation
import RetakeTestSupport
import Testing

/// The helpers on which the other tests depend.
@Suite struct SupportTests {
  @Test func `the package root holds the manifest`() {
    #expect(
      FileManager.default.fileExists(atPath: packageRoot.appending(path: "Package.swift").path))
  }

  @Test func `a temporary folder is gone with its last holder`() throws {
    var folder: TemporaryFolder? = try TemporaryFolder()
    let file = try #require(try folder?.write("text", to: "deep/file.txt"))
    #expect(FileManager.default.fileExists(atPath: file.path))
    folder = nil
    #expect(!FileManager.default.fileExists(atPath: file.path))
  }

  @Test func `a command's status and both outputs come back`() throws {
    let result = try runCommand("sh", arguments: ["-c", "echo out; echo err >&2; exit 3"])
    #expect(result.status == 3 && result.signal == nil && !result.timedOut)
    #expect(result.stdout == "out\n")
    #expect(result.stderr == "err\n")
  }

  @Test func `a clip is made again when a byte of its input changes`() throws {
    for text in ["aaaa", "aaab", "aaaa"] {
      let folder = try TemporaryFolder()
      try folder.write(text, to: "in.gray")
      for _ in 1...2 {
        let result = try runFFmpeg(
          arguments: [
            "-v", "error", "-nostdin", "-y", "-f", "rawvideo", "-pixel_format", "gray",
            "-video_size", "2x2", "-i", "in.gray", "-f", "rawvideo", "out.gray",
          ], folder: folder.url)
        #expect(result.status == 0, "\(result.stderr)")
        #expect(try String(contentsOf: folder.file("out.gray"), encoding: .utf8) == text)
      }
    }
  }

  @Test func `large outputs and inputs do not block`() throws {
    let megabytes = 4
    let input = Data(count: megabytes << 20)
    let result = try runCommand(
      "sh", arguments: ["-c", "tee /dev/stderr"], input: input)
    #expect(result.status == 0)
    #expect(result.stdoutBytes == input)
    #expect(result.stderrBytes == input)
  }

  @Test func `a signal is told apart from a status`() throws {
    let result = try runCommand("sh", arguments: ["-c", "kill -SEGV $$"])
    #expect(result.status == nil && result.signal == SIGSEGV)
  }

  @Test func `a command that hangs is killed at its limit`() throws {
    let result = try runCommand("tail", arguments: ["-f", "/dev/null"], timeoutSeconds: 1)
    #expect(result.timedOut && result.signal == SIGKILL)
  }

  @Test func `the environment is changed, not replaced`() throws {
    let result = try runCommand(
      "sh", arguments: ["-c", "echo \"$GREETING,$HOME,$PATH\""],
      environment: ["GREETING": "hello", "HOME": nil])
    #expect(result.stdout.hasPrefix("hello,,/"))
  }

  @Test func `a command that does not exist is named`() {
    #expect(throws: CommandNotFound.self) { try runCommand("no-such-command-anywhere") }
  }
}
