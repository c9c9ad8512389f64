import Foundation
import RetakeBuffers
import Testing

@testable import RetakeRuntime

private enum Caller {
  @TaskLocal static var name: String?
}

/// The threads of a run have the task-local values of the code that starts them.
@Suite struct NamedThreadTests {
  /// The value in a thread that is started here, and in a thread that it starts.
  private static func seen() throws -> [String?] {
    let seen = Locked<[String?]>([])
    try NamedThread("first") {
      seen.withLock { $0.append(Caller.name) }
      let inner = try? NamedThread("second") { seen.withLock { $0.append(Caller.name) } }
      inner?.join()
    }.join()
    return seen.withLock { $0 }
  }

  @Test func `a thread has the task-local values of the task that starts it, and so on`() throws {
    #expect(try Caller.$name.withValue("a test") { try Self.seen() } == ["a test", "a test"])
    #expect(try Self.seen() == [nil, nil])
  }

  @Test func `an expectation on a thread belongs to the test`() throws {
    let test = Locked<Test.ID?>(nil)
    try NamedThread("expecting") { test.withLock { $0 = Test.current?.id } }.join()
    #expect(test.withLock { $0 } == Test.current?.id)
    #expect(Test.current != nil)
  }

  @Test func `code outside of every task starts threads, too`() async throws {
    let names: [String?] = try await withCheckedThrowingContinuation { end in
      Thread.detachNewThread { end.resume(with: Result { try Self.seen() }) }
    }
    #expect(names == [nil, nil])
  }
}
