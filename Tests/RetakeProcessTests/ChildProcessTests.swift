import Foundation
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeProcess

@Suite struct ChildProcessTests {
  /// How a shell script ends, and its output.
  private func shell(
    _ script: String, _ change: (inout ChildProcess.Request) -> Void = { _ in }
  ) throws -> (ChildProcess.End?, String) {
    let output = try ChildPipe()
    var request = ChildProcess.Request("/bin/sh", ["-c", script])
    request.output = .pipe(output)
    change(&request)
    let process = try ChildProcess(request)
    let text = Mutex("")
    let drained = DispatchSemaphore(value: 0)
    output.readToEnd { bytes in
      guard let bytes else { return _ = drained.signal() }
      text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
    }
    let end = process.wait()
    drained.wait()
    return (end, text.withLock { $0 })
  }

  @Test func `a status and a signal are told apart`() throws {
    #expect(try shell("exit 0").0 == .exited(0))
    #expect(try shell("exit 255").0 == .exited(255))
    #expect(try shell("kill -KILL $$").0 == .signalled(SIGKILL))
    #expect(try shell("kill -SEGV $$").0 == .signalled(SIGSEGV))
  }

  @Test func `folder, environment and arguments are those that are given`() throws {
    let folder = try TemporaryFolder()
    let (_, text) = try shell("pwd -P; env | sort; echo \"$1\"") {
      $0.arguments += ["name", "two words"]
      $0.folder = folder.url.path
      $0.environment = ["B": "2=3", "A": "ä"]
    }
    let lines = text.split(separator: "\n").map(String.init)
    #expect(lines.first == folder.url.resolvingSymlinksInPath().path)
    #expect(lines.contains("A=ä") && lines.contains("B=2=3"))
    #expect(!lines.contains { $0.hasPrefix("PATH=/") || $0.hasPrefix("HOME=") })
    #expect(lines.last == "two words")
  }

  @Test func `a child leads its group, and has no file but its streams`() throws {
    // Open in this process, and not closed when another program is executed.
    let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let leak = fcntl(file, F_DUPFD, 100)
    defer { for number in [file, leak] { close(number) } }
    try #require(leak >= 100)
    let (_, words) = try shell(
      "for n in 0 1 2 \(leak); do [ -e /proc/$$/fd/$n ] && echo $n; done; true")
    #expect(words.split(separator: "\n") == ["0", "1", "2"])
    let (_, numbers) = try shell("read -r line < /proc/$$/stat; set -- $line; echo $1 $5")
    let ids = numbers.split(whereSeparator: \.isWhitespace)
    #expect(ids.count == 2 && ids.first == ids.last, "\(numbers)")
  }

  @Test func `a child blocks no signal and ignores none, whatever the thread does`() throws {
    let answer = Mutex("")
    let ended = DispatchSemaphore(value: 0)
    // The default action of this signal is to ignore it, so other tests are not affected.
    signal(SIGURG, SIG_IGN)
    defer { signal(SIGURG, SIG_DFL) }
    Thread.detachNewThread {
      var all = sigset_t()
      sigfillset(&all)
      pthread_sigmask(SIG_BLOCK, &all, nil)
      let text = try? self.shell("exec grep -E '^Sig(Blk|Ign)' /proc/self/status").1
      answer.withLock { $0 = text ?? "" }
      ended.signal()
    }
    ended.wait()
    let lines = answer.withLock { $0 }.split(separator: "\n")
    #expect(lines.count == 2)
    // Two signals belong to the C library; it ignores them in every program that it starts.
    let own: UInt64 = 0x1_8000_0000
    #expect(
      lines.allSatisfy { UInt64($0.suffix(16), radix: 16).map { $0 & ~own } == 0 }, "\(lines)")
  }

  @Test func `both outputs are read while the input is given, however much there is`() throws {
    let folder = try TemporaryFolder()
    let bytes = 4 << 20
    try Data(count: bytes).write(to: folder.file("in"))
    let (output, errors) = (try ChildPipe(), try ChildPipe())
    var request = ChildProcess.Request("/bin/sh", ["-c", "tee /dev/stderr"])
    (request.input, request.output) = (.file(folder.file("in").path), .pipe(output))
    request.errors = .pipe(errors)
    let counts = Mutex([0, 0])
    let drained = DispatchSemaphore(value: 0)
    let process = try ChildProcess(request)
    for (number, pipe) in [output, errors].enumerated() {
      pipe.readToEnd { bytes in
        guard let bytes else { return _ = drained.signal() }
        counts.withLock { $0[number] += bytes.count }
      }
    }
    #expect(process.wait() == .exited(0))
    for _ in 0..<2 { drained.wait() }
    #expect(counts.withLock { $0 } == [bytes, bytes])
  }

  @Test func `input that is closed is an end for the child`() throws {
    let (input, output) = (try ChildPipe(), try ChildPipe())
    var request = ChildProcess.Request("/bin/sh", ["-c", "echo in; cat; echo out"])
    (request.input, request.output) = (.pipe(input), .pipe(output))
    let process = try ChildProcess(request)
    #expect(output.readLine() == "in")
    #expect(process.end == nil && input.readEnd == nil && output.writeEnd == nil)
    input.closeWriteEnd()
    #expect(output.readLine() == "out" && output.read(atMost: 1) == nil)
    #expect(process.wait() == .exited(0))
  }

  @Test func `the group ends with its leader where that is asked for`() throws {
    for endsGroup in [true, false] {
      let output = try ChildPipe()
      var request = ChildProcess.Request("/bin/sh", ["-c", "tail -f /dev/null & echo $!"])
      (request.output, request.endsGroup) = (.pipe(output), endsGroup)
      let process = try ChildProcess(request)
      let id = try #require(Int32(output.readLine()))
      #expect(process.wait() == .exited(0))
      if endsGroup {
        #expect(isGone(process: id))
      } else {
        #expect(kill(id, SIGKILL) == 0, "it is still there")
      }
    }
  }

  @Test func `after the end a signal reaches no one, and a late listener is called`() throws {
    let process = try ChildProcess(ChildProcess.Request("/bin/sh", ["-c", "exit 3"]))
    #expect(process.wait() == .exited(3))
    process.send(SIGKILL)
    process.sendToGroup(SIGKILL)
    let heard = Mutex<[ChildProcess.End]>([])
    process.onEnd { end in heard.withLock { $0.append(end) } }
    #expect(heard.withLock { $0 } == [.exited(3)])
  }

  @Test func `what cannot be started is named, with the system's reason`() throws {
    let folder = try TemporaryFolder()
    try folder.write("text", to: "text")
    let cases: [(String, String?, Int32)] = [
      ("/nonexistent/retake", nil, ENOENT), (folder.file("text").path, nil, EACCES),
      ("/bin/sh", folder.file("nowhere").path, ENOENT),
    ]
    for (path, place, number) in cases {
      var request = ChildProcess.Request(path)
      request.folder = place
      let error = #expect(throws: ChildProcessError.self) { try ChildProcess(request) }
      #expect(error == ChildProcessError(executable: path, number: number))
      #expect(error?.localizedDescription.hasPrefix("\(path): ") == true)
    }
  }

  @Test func `many threads start many programs, and each hears of its own`() throws {
    let wrong = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { lane in
      for round in 0..<25 {
        let status = Int32(lane * 25 + round)
        let answer = Result { try shell("echo \(status); exit \(status)") }
        guard case .success(let (end, text)) = answer, end == .exited(status),
          text == "\(status)\n"
        else { return wrong.withLock { $0.append("\(status): \(answer)") } }
      }
    }
    #expect(wrong.withLock { $0 } == [])
  }

  @Test func `a program is looked for in the folders of a path`() throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("#!/bin/sh\n", to: "b/tool")
    #expect(ChildProcess.path(of: "tool", in: folder.file("b").path) == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
    let path = "\(folder.file("a").path):\(folder.file("b").path)"
    #expect(ChildProcess.path(of: "tool", in: path) == file.path)
    #expect(ChildProcess.path(of: "tool", in: nil) == nil)
  }
}

@Suite struct MarkedProcessesTests {
  @Test func `what has left its group and its parent is found by its environment`() throws {
    let folder = try TemporaryFolder()
    let mark = "RETAKE_TEST_MARK=\(folder.url.path)"
    var request = ChildProcess.Request(
      "/bin/sh",
      ["-c", "setsid sh -c 'echo $$ > id.tmp; mv id.tmp id; exec sleep 3600' & wait"])
    request.folder = folder.url.path
    request.environment = ["PATH": "/usr/bin:/bin", "RETAKE_TEST_MARK": folder.url.path]
    let process = try ChildProcess(request)
    var id: Int32?
    // Ends: the process writes its ID, or the shell ends without it.
    while id == nil, process.end == nil {
      let text = try? String(contentsOf: folder.file("id"), encoding: .utf8)
      id = text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    let stray = try #require(id)
    let marked = MarkedProcesses(mark: mark, number: Self.number(1))
    #expect(marked.ids(descendantsOf: process.id) == [stray])
    process.send(SIGKILL)
    #expect(process.wait() == .signalled(SIGKILL))
    #expect(marked.ids() == [stray])
    #expect(MarkedProcesses(mark: mark + "1", number: Self.number(2)).ids() == [])
    marked.endAll(and: []) {}
    #expect(isGone(process: stray))
    #expect(marked.ids() == [])
  }

  /// Different numbers in processes that run at the same time.
  private static func number(_ test: UInt64) -> UInt64 { UInt64(getpid()) << 8 | test }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/limits"), "no /proc"))
  func `a process without the environment is known by its limit, if it has one`() throws {
    let folder = try TemporaryFolder()
    let script = """
      while [ ! -e go ]; do :; done
      env -i setsid sh -c 'echo $$ > id.tmp; mv id.tmp id; exec sleep 3600' & wait
      """
    var request = ChildProcess.Request("/bin/sh", ["-c", script])
    request.folder = folder.url.path
    request.environment = ["PATH": "/usr/bin:/bin"]
    let process = try ChildProcess(request)
    let marked = MarkedProcesses(mark: "RETAKE_TEST_MARK=none", number: Self.number(3))
    marked.limit(process.id)
    try folder.write("", to: "go")
    var id: Int32?
    // Ends: the process writes its ID, or the shell ends without it.
    while id == nil, process.end == nil {
      let text = try? String(contentsOf: folder.file("id"), encoding: .utf8)
      id = text.flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
    let stray = try #require(id)
    process.send(SIGKILL)
    #expect(process.wait() == .signalled(SIGKILL))
    #expect(marked.ids() == [stray])
    #expect(MarkedProcesses(mark: "RETAKE_TEST_MARK=none", number: Self.number(4)).ids() == [])
    marked.endAll(and: []) {}
    #expect(isGone(process: stray))
  }
}
