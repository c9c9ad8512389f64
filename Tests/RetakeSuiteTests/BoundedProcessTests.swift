import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSuite

@Suite struct BoundedProcessTests {
  private func shell(
    _ script: String, secondsMax: Double = 60, isInterrupted: @escaping () -> Bool = { false }
  ) throws -> BoundedProcess.Result {
    try BoundedProcess(
      executable: "/bin/sh", arguments: ["-c", script],
      environment: ProcessInfo.processInfo.environment, secondsMax: secondsMax,
      isInterrupted: isInterrupted
    ).run()
  }

  @Test func `how a process ends, and its last words`() throws {
    #expect(try shell("exit 0") == .init(end: .exited(0), closingResponse: ""))
    #expect(
      try shell("echo out; echo err >&2; exit 3")
        == .init(end: .exited(3), closingResponse: "out | err"))
    let dying = try shell("echo dying; kill -SEGV $$")
    #expect(dying == .init(end: .signalled(SIGSEGV), closingResponse: "dying"))
  }

  @Test func `a process that hangs is stopped at its limit, and its children with it`() throws {
    let result = try shell("tail -f /dev/null & echo $!; wait", secondsMax: 0.3)
    #expect(result.end == .stopped)
    let child = try #require(Int32(result.closingResponse))
    #expect(isGone(process: child))
  }

  @Test func `a child that outlives its process is ended as well`() throws {
    let result = try shell("tail -f /dev/null & echo $!")
    #expect(result.end == .exited(0))
    let child = try #require(Int32(result.closingResponse))
    #expect(isGone(process: child))
  }

  @Test func `a daemon that left the group holds nobody up`() throws {
    let result = try shell("setsid tail -f /dev/null & echo $!; exit 4")
    let daemon = try #require(
      result.closingResponse.split(separator: " ").first.flatMap { Int32($0) })
    kill(daemon, SIGKILL)
    #expect(result.end == .exited(4))
  }

  @Test func `an interruption ends the process`() throws {
    let result = try shell("echo $$; tail -f /dev/null", isInterrupted: { true })
    #expect(result.end == .interrupted)
  }

  @Test func `of endless output only the end is kept`() throws {
    let result = try shell("yes abcdefg | head -c 20000000; echo; echo the end")
    #expect(result.end == .exited(0))
    #expect(result.closingResponse.utf8.count <= 3 * BoundedProcess.outputBytesMax)
    #expect(result.closingResponse.hasSuffix("abcdefg | the end"))
  }

  @Test func `standard input stays open for as long as somebody waits`() throws {
    let result = try shell("cat; echo closed", secondsMax: 0.3)
    #expect(result.end == .stopped)
    #expect(result.closingResponse.isEmpty)
  }

  @Test func `a program that is not there is an error`() {
    #expect(throws: (any Error).self) {
      try BoundedProcess(
        executable: "/nonexistent/retake", arguments: [], environment: [:], secondsMax: 1
      ).run()
    }
  }
}
