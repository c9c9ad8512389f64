import Foundation
import Testing

/// Patterns that must not occur, and proof that each check would find them.
@Suite struct WordTests {
  @Test func `the sources keep the absences`() throws {
    for file in try Repository.swiftFiles(in: ["Sources", "Tests", "Examples"]) {
      let code = SwiftCode(file.text)
      let words = try WordRules.all.flatMap { try $0.findings(in: file, code: code) }
      let safety = try SafetyRule.findings(in: file)
      #expect(words + safety == [])
    }
  }

  @Test(arguments: WordRules.all)
  func `a planted word is found`(rule: WordRule) throws {
    let file = SourceFile(path: rule.planted.path, text: "\n\(rule.planted.text)\n")
    #expect(try rule.findings(in: file) == [Finding(path: file.path, line: 2, rule: rule.name)])
  }

  @Test(arguments: [
    "let now = Date()", "let now = Date.now", "let t = clock_gettime(CLOCK_MONOTONIC, &spec)",
    "let t = ProcessInfo.processInfo.systemUptime", "let deadline = DispatchTime.now() + 1",
    "let seconds = time(nil)", "let text = \"at \\(Date())\"",
  ])
  func `each way to ask the time is known`(text: String) throws {
    let file = SourceFile(path: "Sources/Engine/RetakeRuntime/Queue.swift", text: text)
    #expect(try WordRules.time.findings(in: file).count == 1)
  }

  @Test(arguments: [
    "let source = DispatchSource.makeSignalSource(signal: SIGINT)",
    "var sources: [any DispatchSourceProtocol] = []", "let channel = DispatchIO(type: .stream)",
    "output.fileHandleForReading.readabilityHandler = { _ in }", "try Process.run(url)",
    "let process = Foundation.Process()", "  private let process: Process",
    "queue.asyncAfter(deadline: limit) {}", "process.terminationHandler = { _ in }",
    "URLSession.shared.dataTask(with: url)", "handle.waitForDataInBackgroundAndNotify()",
  ])
  func `each way to libdispatch's events is known`(text: String) throws {
    for folder in ["Sources/Judge/RetakeSuite", "Tests/RetakeSuiteTests", "Examples/First/Sources"]
    {
      let file = SourceFile(path: "\(folder)/Run.swift", text: text)
      #expect(try WordRules.events.findings(in: file).count == 1)
    }
  }

  @Test(arguments: [
    ("Sources/Engine/RetakeRuntime/WallClock.swift", "let start = ContinuousClock.now"),
    ("Sources/Sessions/RetakeStore/Row.swift", "let date = Date(timeIntervalSince1970: seconds)"),
    ("Sources/Judge/RetakeSuite/Suite.swift", "print(verdict)"),
    ("Sources/Judge/RetakeReport/Page.swift", "page.print(verdict) // print(verdict)"),
    ("Sources/Engine/RetakeCore/Unsafe/Digest.swift", "let base = bytes.baseAddress!"),
    (
      "Sources/Engine/RetakeCore/Row.swift",
      "if left != right, !flag, try !isEmpty() { return a!=b }"
    ),
    ("Sources/Sessions/RetakeReplay/Cache.swift", "let name = UUID()"),
    ("Sources/Judge/RetakeSuite/Run.swift", "let process = try ChildProcess(request)"),
    ("Tests/RetakeSuiteTests/Run.swift", "let id = ProcessInfo.processInfo.processIdentifier"),
    ("Tests/RetakeSuiteTests/Run.swift", "DispatchQueue.concurrentPerform(iterations: 2) { _ in }"),
    ("Tests/RetakeClockTests/A.swift", "try await clock.sleep(for: .seconds(1))"),
    ("Sources/Engine/RetakeGraph/Node.swift", "let hint = \"print(ContinuousClock.now)!\""),
  ])
  func `what is allowed is let alone`(path: String, text: String) throws {
    let file = SourceFile(path: path, text: text)
    #expect(try WordRules.all.flatMap { try $0.findings(in: file) } == [])
  }

  @Test func `a pointer without a reason is found`() throws {
    let path = "Sources/Engine/RetakeMedia/Unsafe/Decoder.swift"
    let silent = SourceFile(path: path, text: "let frame = av_frame_alloc()")
    let spoken = SourceFile(path: path, text: "// SAFETY: freed in deinit.\n" + silent.text)
    #expect(try SafetyRule.findings(in: silent).count == 1)
    #expect(try SafetyRule.findings(in: spoken) == [])
  }

  @Test func `an unchecked promise without a reason is found`() throws {
    let path = "Sources/Engine/RetakeRuntime/Box.swift"
    let silent = SourceFile(path: path, text: "\nfinal class Box: @unchecked Sendable {}")
    let spoken = SourceFile(path: path, text: "// @unchecked: written once.\n" + silent.text)
    #expect(try SafetyRule.findings(in: silent).map(\.line) == [2])
    #expect(try SafetyRule.findings(in: spoken) == [])
  }
}
