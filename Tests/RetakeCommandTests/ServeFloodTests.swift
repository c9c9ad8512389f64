import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// Another user of the machine has no token, and may connect as often as the system permits.
@Suite(.onOwnThread) struct ServeFloodTests {
  private static let limits =
    (try? runCommand("prlimit", arguments: ["--nofile=96", "true"]).status) == 0
    && (try? runCommand("python3", arguments: ["-c", "import socket"]).status) == 0

  @Test(.enabled(if: limits, "prlimit or python3 does not work here"))
  func `connections that say nothing end neither the server nor a page's own connection`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    let output = try ChildPipe()
    var request = ChildProcess.Request(
      try executable("prlimit"), ["--nofile=96", Workplace.binary, "report", "serve", "--json"])
    request.folder = workplace.folder.url.path
    request.output = .pipe(output)
    let process = try ChildProcess(request)
    defer { process.endNow() }
    let asked = try runCommand("python3", arguments: ["-c", Self.flood, output.readLine()])
    #expect(asked.stdout == "before 200\nkept 200\nafter 200\n", "\(asked.stdout) \(asked.stderr)")
    #expect(process.end == nil)
    process.send(SIGINT)
    #expect(process.wait() == .exited(130))
  }

  /// A page's connection, then 400 silent connections, then the page's connection again and
  /// another.
  private static let flood = """
    import http.client, json, socket, sys
    served = json.loads(sys.argv[1])
    port, path = served["port"], "/" + served["address"].rstrip("/").split("/")[-1] + "/state.json"

    def ask(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    page = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    print("before", ask(page), flush=True)
    idle = []
    for number in range(400):
        connection = socket.socket()
        connection.settimeout(600)
        connection.connect(("127.0.0.1", port))
        idle.append(connection)
        if number == 20:
            print("kept", ask(page), flush=True)
    # The oldest one was closed by the server: it ends.
    assert idle[0].recv(1) == b""
    print("after", ask(http.client.HTTPConnection("127.0.0.1", port, timeout=600)), flush=True)
    """
}
