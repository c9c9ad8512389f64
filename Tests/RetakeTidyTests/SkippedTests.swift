import Foundation
import RetakeTestSupport
import Testing

/// The report of `make test` at its end: the tests that failed, and the tests that were skipped.
@Suite struct SkippedTests {
  private func run(_ lines: String, status: Int = 0) throws -> CommandResult {
    let folder = try TemporaryFolder()
    let file = try folder.write(lines, to: "lines")
    return try runCommand(
      Repository.url("Scripts/run-tests").path,
      arguments: ["sh", "-c", "cat '\(file.path)'; exit \(status)"],
      environment: ["RETAKE_SKIPPED": nil, "RETAKE_EVENTS": nil])
  }

  @Test func `skipped tests are counted by their reason, and suites are not`() throws {
    let lines = """
      ➜ Suite WindowTests skipped: "Xvfb is not installed"
      ➜ Test "one" skipped: "Xvfb is not installed"
      \u{1b}[90m➜\u{1b}[0m Test "a test that is skipped: so it says" skipped: "no ../shared"
      ➜ Test two() skipped: "Xvfb is not installed"
      ➜ Test three() skipped.
      ✔ Test "what is skipped: is counted" passed after 0.1 seconds.
      ✘ Test run with 5 tests in 2 suites failed after 1.0 seconds with 1 issue.

      """
    let result = try run(lines, status: 1)
    #expect(result.status == 1)
    #expect(
      result.stdout == lines
        + "4 skipped: 2 Xvfb is not installed; 1 no ../shared; 1 no reason is given\n")
  }

  @Test func `skipped tests of Python are counted, too`() throws {
    let lines = """
      test_a (test_x.A.test_a) ... ok
      test_b (test_x.A.test_b) ... skipped 'numpy is not installed'
      test_c (test_x.A.test_c) ... skipped "Python's own"
      test_d (test_x.A.test_d)
      What it checks. ... skipped 'numpy is not installed'
      test_e (test_x.A.test_e) ... FAIL
      ======================================================================
      FAIL: test_e (test_x.A.test_e)
      ----------------------------------------------------------------------
      Ran 5 tests in 0.473s

      FAILED (failures=1, skipped=3)

      """
    let result = try run(lines, status: 1)
    #expect(result.status == 1)
    #expect(
      result.stdout == lines
        + "failed:\n  FAIL: test_e (test_x.A.test_e)\n"
        + "3 skipped: 2 numpy is not installed; 1 Python's own\n")
    #expect(try run("Ran 1 test in 0.1s\n\nOK\n").stdout.hasSuffix("OK\n0 skipped\n"))
  }

  @Test func `what failed is said once more at the end`() throws {
    let issue = "✘ Test \"one\" recorded an issue at OneTests.swift:5:7: Expectation failed: a == b"
    let ending = "✘ Test run with 2 tests in 1 suite failed after 1.0 seconds with 2 issues."
    let lines = """
      a program's line without an end\u{1b}[91m✘\u{1b}[0m\(issue.dropFirst())
      ↳ a is not b
      ✘ Test "one" failed after 0.1 seconds with 1 issue.
      ━ Test "two" recorded a known issue at OneTests.swift:9:7: Issue recorded
      ✘ Suite OneTests failed after 0.2 seconds with 1 issue.
      \(ending)

      """
    let result = try run(lines, status: 1)
    #expect(result.stdout == lines + "failed:\n  \(issue)\n0 skipped\n")

    let many = String(repeating: issue + "\n", count: 21) + ending + "\n"
    #expect(
      try run(many, status: 1).stdout.hasSuffix(
        ending + "\nfailed: the first 20 of 21\n" + String(repeating: "  \(issue)\n", count: 20)
          + "0 skipped\n"))
    let crashed = try run("◇ Test run started.\n", status: 139)
    #expect(crashed.status == 139)
    #expect(
      crashed.stdout.hasSuffix(
        "failed:\n  the tests were ended by SIGSEGV\n"
          + "0 skipped (the tests did not come to their end)\n"))
  }

  @Test func `nothing skipped is said too, and so is a run that did not come to its end`() throws {
    let whole = try run("✔ Test run with 5 tests in 2 suites passed after 1.0 seconds.\n")
    #expect(whole.status == 0 && whole.stdout.hasSuffix("seconds.\n0 skipped\n"))
    let broken = try run("◇ Test run started.\n", status: 139)
    #expect(broken.status == 139)
    #expect(broken.stdout.hasSuffix("0 skipped (the tests did not come to their end)\n"))
  }

  @Test func `the slowest suites are listed with the time of their tests`() throws {
    func event(_ kind: String, _ test: String, _ seconds: Double) -> String {
      #"{"kind":"event","payload":{"instant":{"absolute":\#(seconds),"since1970":9},"#
        + #""kind":"\#(kind)","testID":"ATests.\#(test)"},"version":0}"#
    }
    let tests = (1...17).flatMap { number in
      let name = #"S\#(number)\/`a b\/(c)`()\/S.swift:1:4"#
      // A test waits for its turn between its beginning and that of its first case.
      return [
        event("testStarted", name, 1), event("testCaseStarted", name, 5),
        event("testCaseEnded", name, 5 + Double(number)), event("testEnded", name, 90),
      ]
    }
    // A case that never ends has no time.
    let hung = event("testCaseStarted", #"S1\/`d`()\/S.swift:9:4"#, 6)
    let folder = try TemporaryFolder()
    let events = (tests + [hung]).joined(separator: "\n")
    let result = try runCommand(
      Repository.url("Scripts/run-tests").path, arguments: ["true"],
      environment: [
        "RETAKE_SKIPPED": nil, "RETAKE_EVENTS": try folder.write(events, to: "events").path,
      ])
    let lines = result.stdout.split(separator: "\n")
    #expect(lines.first == "slowest suites, of 153.0 s in all tests:")
    #expect(lines.dropFirst().first == "    17.0 s     1 cases  ATests.S17")
    #expect(lines.dropLast().last == "     3.0 s     1 cases  ATests.S3")
    #expect(lines.count == 17)
  }
}
