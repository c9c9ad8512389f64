import Foundation
import RetakeTestSupport
import Testing

/// Another user of the machine has no token, and may connect as often as the system allows.
@Suite struct ServeFloodTests {
  private static let limits =
    (try? runCommand("prlimit", arguments: ["--nofile=96", "true"]).status) == 0
    && (try? runCommand("python3", arguments: ["-c", "import socket"]).status) == 0

  @Test(.enabled(if: limits, "prlimit or python3 does not work here"))
  func `connections that say nothing end neither the server nor a page's own connection`() throws {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 6, size: "64x48")
    let output = workplace.folder.file("address")
    try Data().write(to: output)
    let handle = try FileHandle(forWritingTo: output)
    defer { try? handle.close() }
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["prlimit", "--nofile=96", Workplace.binary, "report", "serve", "--json"]
    process.currentDirectoryURL = workplace.folder.url
    process.standardOutput = handle
    let ended = DispatchSemaphore(value: 0)
    process.terminationHandler = { _ in ended.signal() }
    try process.run()
    defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
    let asked = try runCommand(
      "python3", arguments: ["-c", Self.flood], folder: workplace.folder.url, timeoutSeconds: 300)
    #expect(asked.stdout == "before 200\nkept 200\nafter 200\n", "\(asked.stdout) \(asked.stderr)")
    #expect(process.isRunning)
    kill(process.processIdentifier, SIGINT)
    #expect(ended.wait(timeout: .now() + .seconds(60)) == .success)
    #expect(process.terminationStatus == 130)
  }

  /// A page's connection, then 400 that say nothing, then the page's once more and a new one.
  private static let flood = """
    import http.client, json, select, socket, subprocess, sys
    follow = subprocess.Popen(["tail", "-n", "+1", "-f", "address"], stdout=subprocess.PIPE)
    text = b""
    while b"}" not in text:
        text += follow.stdout.readline()
    follow.kill()
    served = json.loads(text)
    port, path = served["port"], "/" + served["address"].rstrip("/").split("/")[-1] + "/state.json"

    def ask(connection):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        return answer.status

    page = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    print("before", ask(page), flush=True)
    idle = []
    for number in range(400):
        connection = socket.socket()
        connection.settimeout(60)
        connection.connect(("127.0.0.1", port))
        idle.append(connection)
        if number == 20:
            print("kept", ask(page), flush=True)
    # The oldest one was closed by the server: it ends.
    assert idle[0].recv(1) == b""
    print("after", ask(http.client.HTTPConnection("127.0.0.1", port, timeout=60)), flush=True)
    """
}
