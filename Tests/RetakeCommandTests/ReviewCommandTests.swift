import Foundation
import RetakeTestSupport
import Testing

@Suite struct ReviewCommandTests {
  /// A golden, and a pending one from another threshold next to it.
  private func changed() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard")
    try workplace.writePipeline()
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\n", to: "retake.yml")
    #expect(try workplace.retake("test").status == 3)
    #expect(try workplace.retake("accept", "--reason", "first golden").status == 0)
    try workplace.writePipeline(replacing: "\"threshold\": 24", with: "\"threshold\": 26")
    #expect(try workplace.retake("test").status == 1)
    return workplace
  }

  /// Runs a review with these keys typed at a terminal.
  ///
  /// - Parameter keysMin: VMIN of the terminal, as another program may have left it.
  private func review(
    _ workplace: Workplace, keys: String, keysMin: Int = 1
  ) throws -> CommandResult {
    try runCommand(
      "python3", arguments: ["-c", Self.typist, Workplace.binary, "review"],
      environment: ["CI": nil, "RETAKE_KEYS": keys, "KEYS_MIN": "\(keysMin)"],
      folder: workplace.folder.url)
  }

  /// Types one key each time the program shows its keys or asks for the reason.
  private static let typist = """
    import os, pty, sys, termios
    keys = os.environ["RETAKE_KEYS"].split("|")
    child, terminal = pty.fork()
    if child == 0:
        settings = termios.tcgetattr(0)
        settings[6][termios.VMIN] = int(os.environ["KEYS_MIN"])
        termios.tcsetattr(0, termios.TCSANOW, settings)
        os.execv(sys.argv[1], sys.argv[1:])
    seen = b""
    while True:
        try:
            data = os.read(terminal, 4096)
        except OSError:
            break
        if not data:
            break
        os.write(1, data)
        seen += data
        while keys and (b"q done" in seen or b"accepted changes right? " in seen):
            seen = b""
            os.write(terminal, keys.pop(0).encode())
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """

  @Test func `one key accepts a root cause, and the reason is kept`() throws {
    let workplace = try changed()
    let result = try review(workplace, keys: "a|a better threshold\n")
    #expect(result.status == 0, "\(result.stdout)")
    #expect(result.stdout.contains("1 of 1  yard/motion"))
    #expect(result.stdout.contains("accepted  yard/motion  changed"))
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/motion/golden.yml"), encoding: .utf8)
    #expect(golden.contains("a better threshold"))
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `a terminal that was left without waiting for keys waits for them`() throws {
    let workplace = try changed()
    let result = try review(workplace, keys: "a|a better threshold\n", keysMin: 0)
    #expect(result.status == 0, "\(result.stdout)")
    #expect(result.stdout.contains("accepted  yard/motion  changed"))
  }

  @Test func `an empty reason is asked for again, and the answers stay`() throws {
    let workplace = try changed()
    let result = try review(workplace, keys: "a|\n|  \n|a better threshold\n")
    #expect(result.status == 0, "\(result.stdout)")
    #expect(result.stdout.components(separatedBy: "accepted changes right? ").count == 4)
    #expect(result.stdout.contains("accepted  yard/motion  changed"))
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `the end of the input instead of a reason changes nothing`() throws {
    let workplace = try changed()
    let before = try workplace.listing()
    let result = try review(workplace, keys: "a|\u{4}")
    #expect(result.status == 130, "\(result.stdout)")
    #expect(result.stdout.contains("no reason was given"))
    #expect(try workplace.listing() == before)
  }

  @Test func `a reason without words is refused before anything is asked`() throws {
    let workplace = try changed()
    let result = try workplace.retake("review", "--reason", "  ")
    #expect(result.status == 64 && result.stderr.contains("with a reason"))
  }

  @Test func `Ctrl-C changes nothing and ends with 130`() throws {
    let workplace = try changed()
    let before = try workplace.listing()
    #expect(try review(workplace, keys: "\u{3}").status == 130)
    #expect(try workplace.listing() == before)
  }

  @Test func `r rejects, and the golden stays as it was`() throws {
    let workplace = try changed()
    let result = try review(workplace, keys: "r")
    #expect(result.status == 0, "\(result.stdout)")
    #expect(result.stdout.contains("rejected  yard/motion"))
    #expect(!workplace.exists("Goldens/yard/motion/golden.yml.new"))
    #expect(try workplace.retake("test").status == 1)
  }

  @Test func `without a terminal the error names the command that needs none`() throws {
    let result = try changed().retake("review")
    #expect(result.status == 2)
    #expect(result.stderr.contains("retake accept --root-cause ID"))
  }

  @Test func `accept and reject take a root cause by its id`() throws {
    let workplace = try changed()
    let dry = try workplace.retake("accept", "--reason", "x", "--dry-run", "--json").json()
    let id = try #require(dry[0].rootCauses[0].text)
    #expect(id.hasPrefix("motion@0:"))
    let wrong = try workplace.retake("reject", "--root-cause", "motion@0:9999")
    #expect(wrong.status == 2 && wrong.stderr.contains(id))
    #expect(try workplace.retake("accept", "--root-cause", id, "--reason", "right").status == 0)
    #expect(try workplace.retake("test").status == 0)
  }

  @Test func `stale goldens end with 5 in CI only`() throws {
    let workplace = try changed()
    #expect(try workplace.retake("golden", "list", "--stale").status == 0)
    try workplace.folder.write(
      "v: 1\ncases:\n  other: {pipeline: motion.json}\n", to: "retake.yml")
    let result = try workplace.retake("golden", "list", "--stale")
    #expect(result.status == 0 && result.stdout.contains("yard/motion"))
    #expect(
      try workplace.retake("golden", "list", "--stale", environment: ["CI": "true"]).status == 5)
    #expect(try workplace.retake("golden", "list", "--stale", "--remove").status == 0)
    #expect(!workplace.exists("Goldens/yard"))
    #expect(
      try workplace.retake("golden", "list", "--stale", "nosuch").stderr.contains("no golden fits"))
    try workplace.folder.write(
      "v: 1\ncases:\n  motion: {pipeline: motion.json}\nsuites:\n"
        + "  default: [{sessions: [yrad], cases: [motion]}]\n", to: "retake.yml")
    #expect(try workplace.retake("golden", "list", "--stale", "nosuch").status == 2)
    let missing = try workplace.retake("golden", "list", "--stale")
    #expect(missing.status == 2 && missing.stderr.contains("Did you mean 'yard'?"))
  }
}
