import Foundation
import RetakeTestSupport
import Synchronization
import Testing

/// How many tasks are inside at once.
private final class Inside: Sendable {
  private let counts = Mutex((now: 0, most: 0))

  func enter() {
    counts.withLock { counts in
      counts.now += 1
      counts.most = max(counts.most, counts.now)
    }
  }

  func leave() { counts.withLock { $0.now -= 1 } }
  var most: Int { counts.withLock { $0.most } }
}

/// Tests that run one at a time.
@Suite struct TurnTests {
  @Test func `one task at a time holds the lock`() async {
    let lock = TurnLock()
    let inside = Inside()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          await lock.hold {
            inside.enter()
            await Task.yield()
            inside.leave()
          }
        }
      }
    }
    #expect(inside.most == 1)
  }

  @Test func `waiting holds no thread, and a failure gives the lock back`() async throws {
    struct Fails: Error {}
    let lock = TurnLock()
    let gate = AsyncStream<Void>.makeStream()
    // More than the machine has threads for tasks: if they held threads, the last could not open
    // the gate.
    async let all: Void = withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await lock.hold { for await _ in gate.stream { break } } }
      for _ in 0..<100 { group.addTask { await lock.hold {} } }
      try await group.waitForAll()
    }
    await Task { _ = gate.continuation.yield() }.value
    try await all
    await #expect(throws: Fails.self) { try await lock.hold { throw Fails() } }
    await lock.hold {}
  }

  @Test func `a lock that a task holds already is not taken twice`() async {
    let lock = TurnLock()
    let answer = await lock.hold { await lock.hold { 7 } }
    #expect(answer == 7)
  }

  @Test func `suites with displays, browsers, servers and recorders take turns`() throws {
    let files = try Repository.swiftFiles(in: ["Tests"])
    #expect(try files.contains { try TurnRule.needsTurns($0) })
    for file in files { #expect(try TurnRule.findings(in: file) == []) }
  }

  @Test func `a suite that takes no turns is found`() throws {
    let text = "@Suite struct A {\n  let x = try Xvfb()\n}"
    let path = "Tests/RetakePreviewTests/A.swift"
    #expect(try TurnRule.findings(in: SourceFile(path: path, text: text)).map(\.line) == [2])
    let spoken = SourceFile(
      path: path, text: text.replacing("@Suite", with: "@Suite(.oneAtATime)"))
    #expect(try TurnRule.findings(in: spoken) == [])
  }
}

/// Tests that start a display, a browser, a faulty server or a recorder in a separate process have
/// `.oneAtATime`, or belong to a suite that has it.
enum TurnRule {
  private static let starts =
    #"(?<!class )(?<!init )\b(Xvfb|Chromium|FaultServer|LiveRecording|BusyMachine)\("#

  static func needsTurns(_ file: SourceFile) throws -> Bool {
    guard file.target != "RetakeTestSupport", file.target != "RetakeTidyTests" else { return false }
    return try !LinePattern(starts).lines(in: SwiftCode(file.text).text).isEmpty
  }

  static func findings(in file: SourceFile) throws -> [Finding] {
    guard try needsTurns(file), !file.text.contains(".oneAtATime"),
      !file.text.contains("extension FaultSuites")
    else { return [] }
    return try LinePattern(starts).lines(in: SwiftCode(file.text).text).map {
      Finding(path: file.path, line: $0, rule: "the suite needs .oneAtATime")
    }
  }
}
