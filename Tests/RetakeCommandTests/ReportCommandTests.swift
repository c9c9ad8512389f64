import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Testing

@Suite struct ReportCommandTests {
  /// A workplace with a report about a missing golden.
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
      "#!/bin/sh\nprintf '%s\\n' \"$1\" > opened\n", to: "bin/xdg-open")
    // The command does not wait for the browser; opening a pipe waits for its writer.
    try #require(mkfifo(workplace.folder.file("opened").path, 0o600) == 0)
    try FileManager.default.setAttributes(
      [.posixPermissions: 0o755], ofItemAtPath: opener.path)
    let path = opener.deletingLastPathComponent().path
    let result = try workplace.retake(
      "report", "open", environment: ["PATH": "\(path):/usr/bin:/bin"])
    let page = workplace.folder.file("report/report.html").path
    #expect(result.status == 0)
    #expect(result.stdout.hasSuffix("/report/report.html\n"))
    let waited = try runCommand("cat", arguments: ["opened"], folder: workplace.folder.url)
    #expect(waited.stdout.hasSuffix("/report/report.html\n"), "\(waited.stdout) for \(page)")
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

  @Test func `runs are published on a site, whose trend is shown`() throws {
    let workplace = try ShardCommandTests.changedProject()
    try #require(try workplace.retake("test", "--report", "report").status == 1)
    // The tests may run in a service themselves.
    let unset: [String: String?] = Dictionary(
      uniqueKeysWithValues: PublishedRevision.names.map { ($0, nil) })
    let variables = unset.merging(["CI_COMMIT_REF_NAME": "blue", "CI_COMMIT_SHA": "abc"]) { $1 }
    let published = try workplace.retake("report", "publish", "site", environment: variables)
    #expect(published.status == 0 && published.stdout.hasSuffix("/report.html\n"))
    let named = try workplace.retake(
      "report", "publish", "site", "--branch", "main", "--json", environment: variables)
    #expect(try named.json().branch.text == "main" && named.json().commit.text == "abc")
    let index = try String(
      contentsOf: workplace.folder.file("site/index.html"), encoding: .utf8)
    #expect(index.contains("<td>blue</td>") && index.contains("<td>main</td>"))
    #expect(index.contains("<code>retake accept a/motion --reason"))
    let trend = try workplace.retake("trend", "site", "a", "--branch", "main")
    #expect(trend.status == 0 && trend.stdout.contains("a/motion  boxes."), "\(trend.stdout)")
    #expect(!trend.stdout.contains("b/motion"))
    let row = try workplace.retake("trend", "site", "b/*", "--json").json().rows[0]
    #expect(row.title.text == "b/motion" && row.points.count == 2)
    // Where nothing is allowed, an error has no finite part of it.
    #expect(row.points[0].allowed.number == 0 && row.points[0].eaten.number == nil)
    #expect(try workplace.retake("trend", "site", "c").status == 4)
    let none = try workplace.retake("trend", "elsewhere")
    #expect(none.status == 2 && none.stderr.contains("[report.site.none]"))
    // A folder without git and without a variable.
    let unknown = try workplace.retake("report", "publish", "site", environment: unset)
    #expect(unknown.status == 2 && unknown.stderr.contains("[suite.publish.noBranch]"))
    // A link of the repository must not lead out of the project.
    try FileManager.default.createSymbolicLink(
      at: workplace.folder.file("linked"),
      withDestinationURL: FileManager.default.temporaryDirectory)
    let linked = try workplace.retake("report", "publish", "linked", environment: variables)
    #expect(linked.status == 2 && linked.stderr.contains("[suite.output.notWritable]"))
  }

  @Test func `an interrupted publish ends with 130 and adds no run`() throws {
    let workplace = try ShardCommandTests.changedProject()
    try #require(try workplace.retake("test", "--report", "report").status == 1)
    // A git that waits for the end of its input, which is the end of the command.
    let git = try workplace.folder.write("#!/bin/sh\n: > started\nexec cat\n", to: "bin/git")
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: git.path)
    var variables = Dictionary(uniqueKeysWithValues: PublishedRevision.names.map { ($0, "") })
    variables["PATH"] = "\(workplace.folder.file("bin").path):/usr/bin:/bin"
    let publish = try LongRun(
      ["report", "publish", "site"], in: workplace, environment: variables)
    #expect(publish.wait { workplace.exists("started") })
    #expect(publish.end(SIGINT) == 130)
    #expect(!workplace.exists("site"))
  }

  @Test func `serve prints its address, serves, and ends with Ctrl-C`() throws {
    let workplace = try place()
    let output = try ChildPipe()
    var request = ChildProcess.Request(Workplace.binary, ["report", "serve", "--json"])
    request.folder = workplace.folder.url.path
    request.output = .pipe(output)
    let process = try ChildProcess(request)
    defer { process.endNow() }
    let line = output.readLine()
    let served = try JSON(Data(line.utf8))
    let address = try #require(served.address.text)
    let asked = try runCommand(
      "bash",
      arguments: [
        "-c",
        """
        curl -sS -o state -w '%{http_code}' "${0}state.json"; grep -o yard state | head -n 1
        curl -sS -o /dev/null -w '%{http_code}' -H 'Host: evil.example' "${0}state.json"
        """, address,
      ], folder: workplace.folder.url)
    #expect(asked.stdout.split(separator: "\n") == ["200yard", "421"], "\(asked.stderr)")
    let port = try #require(served.port.int)
    let second = try workplace.retake("report", "serve", "--port", "\(port)")
    #expect(second.status == 2)
    #expect(second.stderr.contains("port \(port) is in use [serve.port.taken]"))
    process.send(SIGINT)
    #expect(process.wait() == .exited(130))
  }
}
