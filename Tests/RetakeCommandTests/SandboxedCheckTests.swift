import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeCommand

@Suite(.enabled(if: Sandbox.layers.isComplete, "this kernel has no Landlock or no seccomp"))
struct SandboxedCheckTests {
  private static let always = ["--sandbox", "always"]

  /// A folder with a session of 20 frames in three groups of pictures: 8, 8 and 4.
  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Tests/Sessions/schema-1-imported/media/original.mp4"),
      to: workplace.folder.file("clip.mp4"))
    try #require(try workplace.retake("import", "clip.mp4").status == 0)
    return workplace
  }

  private func media(_ workplace: Workplace) -> URL {
    workplace.folder.file("Recordings/clip/media/original.mp4")
  }

  /// The result of a check in the process of the command, after it was compared with the result of
  /// a restricted process.
  private func check(_ workplace: Workplace, _ words: String...) throws -> CommandResult {
    let line = ["session", "check", "clip"] + words
    let free = try workplace.retake(
      words: line + ["--sandbox", "never"], binary: Workplace.binary)
    let bound = try workplace.retake(words: line + Self.always)
    #expect(bound.stdout == free.stdout && bound.stderr == free.stderr, "\(bound)")
    #expect(bound.status == free.status)
    return bound
  }

  @Test func `a restricted check finds the same`() throws {
    let workplace = try workplace()
    #expect(try check(workplace).status == 0)
    let deep = try check(workplace, "--deep", "--json")
    #expect(try deep.status == 0 && deep.json().framesChecked.int == 20)
    var bytes = try Data(contentsOf: media(workplace))
    bytes[700] ^= 1
    try bytes.write(to: media(workplace))
    let damaged = try check(workplace, "--deep")
    #expect(damaged.status == 2 && damaged.stdout.contains("packet 0"), "\(damaged)")
    try FileManager.default.removeItem(at: workplace.folder.file("Recordings/clip"))
    #expect(try check(workplace).stderr.contains("error: "))
  }

  @Test func `a restricted check follows the links to media on another disk`() throws {
    let workplace = try workplace()
    let disk = workplace.folder.file("disk")
    let files = FileManager.default
    try files.createDirectory(at: disk, withIntermediateDirectories: false)
    try files.moveItem(at: media(workplace), to: disk.appending(path: "a.mp4"))
    try files.createSymbolicLink(
      at: media(workplace), withDestinationURL: disk.appending(path: "a.mp4"))
    #expect(try check(workplace, "--deep").status == 0)
  }

  @Test func `a process over its memory limit says so before it ends`() throws {
    let workplace = try workplace()
    // The first thread of the process needs more.
    let process = SandboxedProcess(
      sandbox: Sandbox(reads: [workplace.folder.url.path], writes: [], bytesMax: 1 << 20),
      program: "retake")
    let socket = try ChildSocket()
    var request = ChildProcess.Request(Workplace.binary, ["session", "check", "clip"])
    request.input = .socket(socket)
    request.folder = workplace.folder.url.path
    request.environment = ProcessInfo.processInfo.environment.merging([
      SandboxedProcess.variable: String(decoding: try JSONEncoder().encode(process), as: UTF8.self)
    ]) { $1 }
    let child = try ChildProcess(request)
    socket.closeChildEnd()
    defer { socket.closeBothEnds() }
    socket.wait(.toPull, milliseconds: 60_000)
    var answer = [UInt8](repeating: 0, count: 64)
    try #require(socket.pull(into: &answer) == .moved(7))
    #expect(String(decoding: answer[..<7], as: UTF8.self) == Sandbox.memoryLine + "\n")
    let condition = DispatchSemaphore(value: 0)
    child.onEnd { _ in condition.signal() }
    condition.wait()
    #expect(child.end == .exited(2))
  }

  @Test(.enabled(if: Faults.strace, "strace may not trace here"))
  func `a frame that ends the process costs its group of pictures alone`() throws {
    let workplace = try workplace()
    // The process writes a line before each frame: the 19th is in the last group.
    let result = try workplace.retake(
      under: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=write", "-e",
        "inject=write:signal=KILL:when=19",
      ], ["session", "check", "clip", "--deep", "--json"] + Self.always)
    #expect(result.status == 2 && result.signal == nil, "\(result)")
    let found = try result.json()
    #expect(found.framesChecked.int == 20 && found.damagedFrames.int == 4, "\(result)")
    #expect(found.findings.count == 1, "\(result)")
    let finding = found.findings[0]
    #expect(finding.code.text == "session.check.crashed")
    let message = finding.message.text ?? ""
    #expect(message.contains("signal \(SIGKILL)"), "\(message)")
    #expect(message.hasSuffix("4 frames, 0:16 to 0:19, depend on packet 16"), "\(message)")
    #expect(finding.file.text == "media/original.mp4")
    let sequence = try #require(finding.frame.sequence.int)
    #expect((16...19).contains(sequence), "\(sequence)")
  }

  @Test(.enabled(if: Faults.strace, "strace may not trace here"))
  func `a process that ends before the first frame is an error`() throws {
    let workplace = try workplace()
    let result = try workplace.retake(
      under: [
        "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=landlock_restrict_self",
        "-e", "inject=landlock_restrict_self:signal=KILL:when=1",
      ], ["session", "check", "clip"] + Self.always)
    #expect(result.status == 2 && result.signal == nil, "\(result)")
    #expect(result.stderr.contains("[session.check.crashed]"), "\(result)")
    #expect(result.stdout.isEmpty)
  }
}
