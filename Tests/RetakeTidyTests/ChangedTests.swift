import Foundation
import RetakeTestSupport
import Testing

/// `Scripts/changed`, which chooses the files and tests of `make check`.
@Suite struct ChangedTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for path in [
      "Sources/Judge/RetakeSuite/Run/A.swift", "Sources/Engine/RetakeCore/B.swift",
      "Tests/RetakeSuiteTests/C.swift", "Tests/RetakeDocsTests/D.swift", "Sources/README.md",
    ] {
      try folder.write("1\n", to: path)
    }
    try git("init", "--quiet")
    try git("add", "--all")
    try git("commit", "--quiet", "--message", "first")
  }

  private func git(_ arguments: String...) throws {
    let result = try runCommand(
      "git",
      arguments: ["-c", "user.name=a", "-c", "user.email=a@example.org"] + arguments,
      environment: ["GIT_CONFIG_GLOBAL": "/dev/null"], folder: folder.url)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private func changed(_ what: String) throws -> String {
    let result = try runCommand(
      Repository.url("Scripts/changed").path, arguments: [what], folder: folder.url)
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdout
  }

  @Test func `without a change only the tidy tests run`() throws {
    #expect(try changed("tests") == "^(RetakeTidyTests)\\.\n")
    #expect(try changed("swift").isEmpty)
  }

  @Test func `a module's tests run when it changes, loses a file or gets one`() throws {
    let pattern = "^(RetakeSuiteTests|RetakeTidyTests)\\.\n"
    let module = "Sources/Judge/RetakeSuite"
    try folder.write("2\n", to: "\(module)/New.swift")
    #expect(try changed("tests") == pattern)
    #expect(try changed("swift") == "\(module)/New.swift\n")
    try git("add", "--all")
    #expect(try changed("tests") == pattern)
    try git("reset", "--quiet", "--hard")
    try FileManager.default.removeItem(at: folder.file("\(module)/Run/A.swift"))
    #expect(try changed("tests") == pattern)
    #expect(try changed("swift").isEmpty)
  }

  @Test func `pages and test files have tests, a module without a test target has none`() throws {
    try folder.write("2\n", to: "Sources/README.md")
    try folder.write("2\n", to: "Tests/RetakeSuiteTests/C.swift")
    try folder.write("2\n", to: "Sources/Engine/RetakeCore/B.swift")
    #expect(try changed("tests") == "^(RetakeDocsTests|RetakeSuiteTests|RetakeTidyTests)\\.\n")
  }
}
