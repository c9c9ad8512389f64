import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

@testable import RetakeCommand

@Suite(.enabled(if: Sandbox.layers.isComplete, "this kernel has no Landlock or no seccomp"))
struct SandboxedImportTests {
  /// A folder with a clip, and without sessions.
  private func workplace() throws -> Workplace {
    let workplace = try Workplace()
    try FileManager.default.copyItem(
      at: packageRoot.appending(path: "Tests/Sessions/schema-1-imported/media/original.mp4"),
      to: workplace.folder.file("clip.mp4"))
    return workplace
  }

  private static let always = ["--sandbox", "always"]

  @Test func `a restricted import makes the same session`() throws {
    let workplace = try workplace()
    let words = ["import", "clip.mp4", "--json", "--name"]
    let free = try workplace.retake(words: words + ["free"])
    let bound = try workplace.retake(words: words + ["bound"] + Self.always)
    #expect(bound.status == 0, "\(bound)")
    let digest = try free.json().sessionDigest.text
    #expect(try digest != nil && bound.json().sessionDigest.text == digest)
    #expect(try workplace.retake("session", "check", "bound", "--deep").status == 0)
    let next = try workplace.retake(words: ["import", "clip.mp4"] + Self.always)
    #expect(next.stdout.contains("\nnext: retake replay clip "), "\(next)")
  }

  @Test func `what cannot be imported leaves no folder, and has its error`() throws {
    let workplace = try workplace()
    try workplace.folder.write("#EXTM3U\nfile:///etc/passwd\n", to: "list.mp4")
    let before = try workplace.topNames().sorted()
    for (file, code) in [("list.mp4", "media.open.playlist"), ("none.mp4", "media.open.missing")] {
      let result = try workplace.retake(words: ["import", file] + Self.always)
      #expect(result.status == 2 && result.stderr.contains("[\(code)]"), "\(result)")
    }
    #expect(try workplace.topNames().sorted() == before)
  }

  @Test func `a process that ends by a signal is an error of its file, and leaves no file`() throws
  {
    let workplace = try workplace()
    let before = try workplace.topNames().sorted()
    // The signal of a file that grows over the limit ends the process while it copies the clip.
    let result = try runCommand(
      "bash",
      arguments: [
        "-c", "ulimit -f 4; exec \"$@\"", "bash", Workplace.binary, "import", "clip.mp4",
        "none.mp4",
      ] + Self.always, folder: workplace.folder.url)
    #expect(result.status == 2 && result.signal == nil, "\(result)")
    #expect(result.stderr.contains("[session.import.crashed]"), "\(result)")
    #expect(result.stderr.contains("signal \(SIGXFSZ)"), "\(result)")
    #expect(result.stderr.contains("[media.open.missing]"), "the second file is tried: \(result)")
    #expect(try workplace.topNames().sorted() == before)
  }

  @Test func `a file that needs more memory than the limit is a typed error`() throws {
    let workplace = try workplace()
    // FFmpeg would make an index of 960 MB, and without that memory find no frames in the file.
    let bomb = try HostileMovie(
      Data(contentsOf: workplace.folder.file("clip.mp4")), samples: 40_000_000)
    try bomb.data.write(to: workplace.folder.file("bomb.mp4"))
    let before = try workplace.topNames().sorted()
    let result = try workplace.retake(
      words: ["import", "bomb.mp4", "none.mp4"] + Self.always,
      environment: ["RETAKE_MEMORY": "64M"])
    #expect(result.status == 2 && result.signal == nil, "\(result)")
    for text in [
      "bomb.mp4", "640 MiB", "[session.import.memory]", "RETAKE_MEMORY=128M retake import bomb.mp4",
    ] { #expect(result.stderr.contains(text), "\(text): \(result)") }
    #expect(result.stderr.contains("[media.open.missing]"), "the second file is tried: \(result)")
    #expect(try workplace.topNames().sorted() == before)
    let small = try workplace.retake(
      words: ["import", "clip.mp4"] + Self.always, environment: ["RETAKE_MEMORY": "64M"])
    #expect(small.status == 0, "\(small)")
  }

  @Test func `the process reads no other file, and a sandbox that fails is an error`() throws {
    let workplace = try workplace()
    let folder = workplace.folder.url.path
    func run(_ sandbox: String) throws -> CommandResult {
      // The answers of the process go to its standard input, which is a socket.
      try runCommand(
        "bash",
        arguments: [
          "-c", "echo 0 > requests; exec \"$@\" <> requests", "bash", Workplace.binary, "import",
          "clip.mp4",
        ], environment: ["RETAKE_SANDBOX": sandbox], folder: workplace.folder.url)
    }
    func answered() throws -> String {
      try String(contentsOf: workplace.folder.file("requests"), encoding: .utf8)
    }
    func text(reads: [String]) throws -> String {
      let process = SandboxedProcess(
        sandbox: Sandbox(reads: reads, writes: []), program: "retake")
      return String(decoding: try JSONEncoder().encode(process), as: UTF8.self)
    }
    let refused = try run(try text(reads: []))
    #expect(
      try answered() == "0\n2\n" && refused.stderr.contains("[media.open.unreadable]"),
      "\(refused)")
    let readOnly = try run(try text(reads: [folder]))
    #expect(
      try answered() == "0\n2\n" && readOnly.stderr.contains("Recordings"), "\(readOnly)")
    #expect(!workplace.exists("Recordings"))
    let broken = try run("{}")
    #expect(
      broken.status == 2 && broken.stderr.contains("[session.import.sandbox]"), "\(broken)")
  }

  @Test func `the process has its filter of calls while it waits for the next file`() throws {
    let workplace = try workplace()
    let sandbox = SandboxedProcess(sandbox: Sandbox(reads: [], writes: []), program: "retake")
    let socket = try ChildSocket()
    var request = ChildProcess.Request(Workplace.binary, ["import", "clip.mp4"])
    request.input = .socket(socket)
    request.folder = workplace.folder.url.path
    request.environment = ProcessInfo.processInfo.environment.merging([
      SandboxedProcess.variable: String(
        decoding: try JSONEncoder().encode(sandbox), as: UTF8.self)
    ]) { $1 }
    let process = try ChildProcess(request)
    socket.closeChildEnd()
    defer { socket.closeBothEnds() }
    _ = socket.push(Array("0\n".utf8))
    socket.wait(.toPull, milliseconds: 60_000)
    var answer = [UInt8](repeating: 0, count: 8)
    try #require(socket.pull(into: &answer) == .moved(2), "it may not read the clip: 2")
    let status = try String(contentsOfFile: "/proc/\(process.id)/status", encoding: .utf8)
    let facts = status.split(separator: "\n").filter {
      $0.hasPrefix("NoNewPrivs:") || $0.hasPrefix("Seccomp:")
    }
    #expect(facts == ["NoNewPrivs:\t1", "Seccomp:\t2"], "\(status)")
  }

  @Test func `what cannot be restricted is refused if the command demands it`() throws {
    let workplace = try workplace()
    for words in [["clip.mp4", "--link"], ["."]] {
      let result = try workplace.retake(words: ["import"] + words + Self.always)
      #expect(
        result.status == 64 && result.stderr.contains("[session.import.sandbox]"), "\(result)")
    }
    let free = try workplace.retake(
      words: ["import", "clip.mp4", "--link"], binary: Workplace.binary)
    #expect(free.status == 0, "\(free)")
  }
}
