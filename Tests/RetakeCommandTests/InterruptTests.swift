import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeCommand

/// A `retake` that works for a long time, until it is asked to end.
final class LongRun {
  private let process: ChildProcess
  private let output: ChildPipe

  init(
    _ arguments: [String], in workplace: Workplace, binary: String = Workplace.binary,
    environment: [String: String] = [:]
  ) throws {
    output = try ChildPipe()
    var request = ChildProcess.Request(binary, arguments)
    request.folder = workplace.folder.url.path
    request.environment = ProcessInfo.processInfo.environment.filter { $0.key != "CI" }
      .merging(environment) { $1 }
    request.output = .pipe(output)
    process = try ChildProcess(request)
  }

  deinit { process.sendToGroup(SIGKILL) }

  var isRunning: Bool { process.end == nil }

  /// The first line of its output, or all of the output if it ends before.
  func firstLine() -> String { output.readLine() }

  /// Reads and discards the rest of its output, so that it never waits for the pipe.
  func readOn() { output.readToEnd { _ in } }

  /// Waits until a condition holds, or until the command ends without it.
  func wait(until isThere: () -> Bool) -> Bool {
    let ended = DispatchSemaphore(value: 0)
    process.onEnd { _ in ended.signal() }
    let limit = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    // Ends: with the command, or at the limit.
    while !isThere() {
      guard ContinuousClock.now < limit,
        ended.wait(timeout: .now() + .milliseconds(100)) == .timedOut
      else { return isThere() }
    }
    return true
  }

  /// Stops the process; it continues when it is asked to end.
  func hold() { process.send(SIGSTOP) }

  /// The exit status, or `nil` for a signal or if it does not end.
  func end(_ signal: Int32) -> Int32? {
    process.send(signal)
    process.send(SIGCONT)
    guard case .exited(let status) = process.wait() else {
      process.endNow()
      return nil
    }
    return status
  }
}

@Suite(.oneAtATime) struct InterruptTests {
  private static let endless = """
    {"v": 1, "name": "endless",
     "nodes": [
      {"id": "camera", "kind": "synthetic",
       "options": {"scene": "figures", "width": 64, "height": 48, "frames": 1000000}},
      {"id": "luminance", "kind": "luminance"},
      {"id": "results", "kind": "results"}],
     "edges": [{"from": "camera", "to": "luminance"}, {"from": "luminance", "to": "results"}]}
    """

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `an interrupted replay ends with 130 and leaves nothing`(signal: Int32) throws {
    let workplace = try Workplace()
    try workplace.folder.write(Self.endless, to: "endless.json")
    let before = try workplace.listing()
    let run = try LongRun(
      ["replay", "--pipeline", "endless.json", "--output", "runs/a", "--decisions", "lines.txt"],
      in: workplace)
    #expect(
      run.wait {
        guard let names = try? workplace.topNames(),
          let hidden = names.first(where: { $0.hasPrefix(".lines.txt.") })
        else { return false }
        let attributes = try? FileManager.default.attributesOfItem(
          atPath: workplace.folder.file(hidden).path)
        return (attributes?[.size] as? Int ?? 0) > 100_000
      })
    #expect(run.end(signal) == 130)
    #expect(try workplace.listing() == before)
  }

  @Test func `each action of an end runs once, however late it is added`() {
    let calls = Locked<[String]>([])
    var request = EndRequest()
    let early = request.add { calls.withLock { $0.append("early") } }
    #expect(early == nil && !request.isMade)
    let first = request.make()
    for action in first ?? [] { action() }
    let late = request.add { calls.withLock { $0.append("late") } }
    late?()
    let second = request.make()
    #expect(second == nil && request.isMade)
    #expect(calls.withLock { $0 } == ["early", "late"])
  }

  @Test func `an interrupted test ends with 130 and leaves nothing`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    try workplace.folder.write(Self.endless, to: "endless.json")
    let before = try workplace.listing()
    let run = try LongRun(
      ["test", "yard", "--pipeline", "endless.json", "--report", "report"], in: workplace)
    // In a folder of this run.
    let goldens = workplace.folder.file("Goldens").path
    let isWriting = {
      let files = FileManager.default.enumerator(atPath: goldens)?.allObjects ?? []
      return files.contains { "\($0)".contains("results-") }
    }
    #expect(run.wait(until: isWriting))
    #expect(run.end(SIGINT) == 130)
    #expect(try workplace.listing() == before)
  }
}
