import Foundation
import RetakeTestSupport
import Testing

@Suite struct ReportCommandTests {
  /// A place with a report that says that a golden is missing.
  private func place() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6)
    let result = try workplace.retake(
      "test", "yard", "--pipeline", "example:motion-boxes", "--report", "report")
    try #require(result.status == 3, "\(result.stderr)")
    return workplace
  }

  @Test func `open hands the newest report to the desktop, and says its path`() throws {
    let workplace = try place()
    let opener = try workplace.folder.write(
      "#!/bin/sh\nprintf %s \"$1\" > opened.part && mv opened.part opened\n", to: "bin/xdg-open")
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: opener.path)
    let path = opener.deletingLastPathComponent().path
    let result = try workplace.retake(
      "report", "open", environment: ["PATH": "\(path):/usr/bin:/bin"])
    let page = workplace.folder.file("report/report.html").path
    #expect(result.status == 0)
    #expect(result.stdout.hasSuffix("/report/report.html\n"))
    let waited = try runCommand(
      "bash",
      arguments: ["-c", "until [ -f opened ]; do read -rt 0.05 <> <(:) || :; done; cat opened"],
      folder: workplace.folder.url, timeoutSeconds: 30)
    #expect(waited.stdout.hasSuffix("/report/report.html"), "\(waited.stdout) for \(page)")
  }

  @Test func `open says the path where there is no browser`() throws {
    let workplace = try place()
    for arguments in [["report", "open"], ["report", "open", "report"]] {
      let result = try workplace.retake(words: arguments, environment: ["PATH": "/nowhere"])
      #expect(result.status == 0)
      #expect(result.stdout.hasSuffix("/report/report.html\n"))
      #expect(result.stderr.contains("there is no browser here"))
    }
    let json = try workplace.retake(
      words: ["report", "open", "--json"], environment: ["PATH": "/nowhere"])
    #expect(json.stdout.contains("\"opened\":false"))
  }

  @Test func `without a report open says how to make one`() throws {
    let result = try Workplace().retake("report", "open")
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.report.none]"))
    #expect(result.stderr.contains("retake test --report report"))
  }

  @Test func `what is no page is not opened`() throws {
    let workplace = try Workplace()
    try workplace.folder.write("v: 1\n", to: "retake.yml")
    let result = try workplace.retake("report", "open", "retake.yml")
    #expect(result.status == 2 && result.stderr.contains("[suite.report.none]"))
  }

  @Test func `serve prints its address, serves, and ends with Ctrl-C`() throws {
    let workplace = try place()
    let output = workplace.folder.file("address")
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    defer { try? handle.close() }
    let process = Process()
    process.executableURL = URL(filePath: Workplace.binary)
    process.arguments = ["report", "serve", "--json"]
    process.currentDirectoryURL = workplace.folder.url
    process.standardOutput = handle
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    let asked = try runCommand(
      "bash",
      arguments: [
        "-c",
        """
        until grep -q port address; do read -rt 0.05 <> <(:) || :; done
        address=$(sed -E 's/.*"address":"([^"]*)".*/\\1/' address)
        curl -sS -o state -w '%{http_code}' "${address}state.json"; grep -o yard state | head -n 1
        curl -sS -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "${address}state.json"
        """,
      ], folder: workplace.folder.url, timeoutSeconds: 60)
    #expect(asked.stdout.split(separator: "\n") == ["200yard", "421"], "\(asked.stderr)")
    let served = try JSON(Data(contentsOf: output))
    let port = try #require(served.port.int)
    let second = try workplace.retake("report", "serve", "--port", "\(port)")
    #expect(second.status == 2)
    #expect(second.stderr.contains("port \(port) is taken [serve.port.taken]"))
    kill(process.processIdentifier, SIGINT)
    #expect(ended.wait(timeout: .now() + .seconds(20)) == .success)
    #expect(process.terminationStatus == 130)
  }
}
