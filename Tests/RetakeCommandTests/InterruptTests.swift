import Foundation
import RetakeTestSupport
import Testing

/// A `retake` that works for a long time, until it is asked to end.
final class LongRun {
  private let process = Process()
  private let ended = DispatchSemaphore(value: 0)
  private let output = Pipe()

  init(
    _ arguments: [String], in workplace: Workplace, binary: String = Workplace.binary,
    environment: [String: String] = [:]
  ) throws {
    process.executableURL = URL(filePath: binary)
    process.arguments = arguments
    process.currentDirectoryURL = workplace.folder.url
    process.environment = ProcessInfo.processInfo.environment.filter { $0.key != "CI" }
      .merging(environment) { $1 }
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    process.terminationHandler = { [ended] _ in ended.signal() }
    try process.run()
  }

  var isRunning: Bool { process.isRunning }

  /// What it writes first, up to the end of a line, or all if it ends before.
  func firstLine() -> String {
    var bytes: [UInt8] = []
    // Bounded: the command writes lines, or ends.
    while let byte = nextByte(), byte != 0x0a { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// A signal to this process is no end.
  private func nextByte() -> UInt8? {
    var byte: UInt8 = 0
    while true {
      let count = read(output.fileHandleForReading.fileDescriptor, &byte, 1)
      guard count < 0, errno == EINTR else { return count == 1 ? byte : nil }
    }
  }

  /// Waits until something is there, for so many quarters of a second at most.
  func wait(quarters: Int = 120, until isThere: () -> Bool) -> Bool {
    for _ in 0..<quarters {
      if isThere() { return true }
      if ended.wait(timeout: .now() + .milliseconds(250)) == .success {
        ended.signal()
        return false
      }
    }
    return false
  }

  /// Stops it where it is, to go on when it is told to end.
  func hold() { kill(process.processIdentifier, SIGSTOP) }

  /// The exit status, `nil` for a signal or if it does not end.
  func end(_ signal: Int32) -> Int32? {
    kill(process.processIdentifier, signal)
    kill(process.processIdentifier, SIGCONT)
    guard ended.wait(timeout: .now() + .seconds(20)) == .success else {
      kill(process.processIdentifier, SIGKILL)
      return nil
    }
    return process.terminationReason == .exit ? process.terminationStatus : nil
  }
}

@Suite struct InterruptTests {
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
    let partial = workplace.folder.file("lines.txt.partial").path
    #expect(
      run.wait {
        let attributes = try? FileManager.default.attributesOfItem(atPath: partial)
        return (attributes?[.size] as? Int ?? 0) > 100_000
      })
    #expect(run.end(signal) == 130)
    #expect(try workplace.listing() == before)
  }

  @Test func `an interrupted test ends with 130 and leaves nothing`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 10, size: "64x48")
    try workplace.folder.write(Self.endless, to: "endless.json")
    let before = try workplace.listing()
    let run = try LongRun(
      ["test", "yard", "--pipeline", "endless.json", "--report", "report"], in: workplace)
    #expect(run.wait { workplace.exists("Goldens/yard/endless") })
    #expect(run.end(SIGINT) == 130)
    #expect(try workplace.listing() == before)
  }
}
