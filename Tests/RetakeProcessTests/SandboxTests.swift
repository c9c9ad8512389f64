import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeProcess

@Suite(.enabled(if: Sandbox.layers.isComplete, "this kernel has no Landlock or no seccomp"))
struct SandboxTests {
  @Test func `a restricted process reaches its folder alone, no network and no program`() throws {
    let folder = try TemporaryFolder()
    let foreign = try folder.write("private", to: "foreign").path
    let own = folder.file("own")
    try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false)
    #expect(try Sandbox.trial(own: own.path, foreign: foreign) == [])
    #expect(try FileManager.default.contentsOfDirectory(atPath: own.path).isEmpty)
    // A trial that cannot fail would show nothing.
    let inside = try folder.write("private", to: "own/inside").path
    let breach = try Sandbox.trial(own: own.path, foreign: inside)
    #expect(breach == Sandbox.Breach(rawValue: 1 << 0 | 1 << 1))
    let missing = folder.file("missing").path
    #expect(try Sandbox.trial(own: missing, foreign: foreign) == Sandbox.Breach(rawValue: 1 << 5))
  }

  @Test func `a process with several threads, as that of the tests, is not restricted`() throws {
    // No process has this process as its parent and is this process.
    let sandbox = Sandbox(reads: [], writes: [])
    #expect(throws: ChildProcessError(executable: "one thread", number: EBUSY)) {
      try sandbox.enter()
    }
    #expect(throws: Never.self) { _ = try ChildProcess(ChildProcess.Request("/bin/true")) }
  }

  @Test func `a missing layer is named with its effect`() {
    func lack(_ landlock: Int?, _ hasSeccomp: Bool) -> String? {
      Sandbox.Layers(landlock: landlock, hasSeccomp: hasSeccomp).lack
    }
    #expect(lack(7, true) == nil)
    #expect(lack(nil, true)?.contains("no Landlock: ") == true)
    #expect(lack(7, false)?.contains("no limit of memory") == true)
    #expect(lack(nil, false)?.contains("without restrictions") == true)
  }
}
