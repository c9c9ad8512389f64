import RetakeTestSupport
import Testing

@Suite struct HelpTests {
  static let commands = [
    "", "init", "build", "import", "record", "session", "session list", "session info",
    "session note",
    "session check", "session recover", "session snapshot", "session trim", "session transcode",
    "session redact",
    "session export", "session pack", "session unpack",
    "session migrate",
    "pipeline", "pipeline check", "pipeline draw", "pipeline example",
    "pipeline stages", "model", "model info", "model check", "replay", "test", "plan", "run-shard",
    "merge", "fleet", "ci", "ci init", "diff",
    "migrate", "review", "accept", "reject", "golden", "golden calibrate", "golden sync-rules",
    "golden list", "coverage", "stress", "compare", "find", "query",
    "verify", "reduce", "bisect", "label", "label import", "label propose",
    "report",
    "report open", "report serve", "cache", "cache info", "cache warm", "cache prune",
    "cache verify", "store", "store push", "store pull", "store verify", "store gc", "view",
    "profile", "profile measure", "profile example", "bench", "bench pools",
    "bench memory", "bench preview", "bench heat", "bench window", "doctor",
  ]

  private func retake(_ line: String, in workplace: Workplace) throws -> CommandResult {
    try workplace.retake(words: line.split(separator: " ").map(String.init))
  }

  @Test(arguments: commands)
  func `help says what a command does, with an example to type`(command: String) throws {
    let result = try retake("\(command) --help", in: Workplace())
    let help = result.stdout
    #expect(result.status == 0)
    #expect(result.stderr.isEmpty)
    let typed = command.isEmpty ? "retake import" : "retake \(command)"
    let lines = help.split(separator: "\n").map { $0.trimmingWhitespace }
    #expect(lines.contains { $0.hasPrefix(typed) }, "\(help)")
    #expect(!help.contains("\u{1B}"))
    #expect(linesBrokenByHand(in: help) == [])
  }

  /// Lines of an option's text that end before they are full, in a help that is 100 columns wide.
  private func linesBrokenByHand(in help: String) -> [Substring] {
    let indent = String(repeating: " ", count: 26)
    let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
    // Above the arguments is the discussion, which is printed as it was written.
    let options = lines.drop { !$0.hasPrefix("ARGUMENTS:") && !$0.hasPrefix("OPTIONS:") }
    return zip(options, options.dropFirst()).compactMap { line, next in
      guard line.hasPrefix(indent), next.hasPrefix(indent) else { return nil }
      let text = next.dropFirst(indent.count)
      let word = text.prefix { $0 != " " }
      return !word.isEmpty && line.count + 1 + word.count < 100 ? line : nil
    }
  }

  @Test func `a line that is broken by hand is found`() {
    let indent = String(repeating: " ", count: 26)
    let full = indent + String(repeating: "a", count: 70)
    let help = "OPTIONS:\n\(full)\n\(indent)long next\n\(indent)last"
    #expect(linesBrokenByHand(in: help).map(String.init) == ["\(indent)long next"])
  }

  @Test func `an example is one line, however long it is`() throws {
    let help = try retake("pipeline check --help", in: Workplace()).stdout
    let longest =
      "retake pipeline check yard.json --session clip --rate rear=15 --budget boxes=200ms --strict"
    #expect(help.contains(longest + "\n"), "\(help)")
  }

  @Test func `every command is listed`() throws {
    let help = try retake("--help", in: Workplace()).stdout
    for command in Self.commands where !command.isEmpty && !command.contains(" ") {
      #expect(help.contains("\n  \(command) "), "\(command)")
    }
  }

  @Test(arguments: [
    ("repaly figures", "replay"), ("tset", "test"), ("session lsit", "list"),
    ("pipeline chek a.json", "check"),
  ])
  func `a misspelt command suggests the right one`(line: String, meant: String) throws {
    let result = try retake(line, in: Workplace())
    #expect(result.status == 64)
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains("Did you mean '\(meant)'?"), "\(result.stderr)")
  }

  @Test(arguments: ["replay", "view", "test", "verify", "cache warm", "golden calibrate"])
  func `the help lists the modes that a command takes`(command: String) throws {
    let help = try retake("\(command) --help", in: Workplace()).stdout
    let mode = try #require(help.firstMatch(of: /--mode <mode>[^\n]*\n?[^-]*/)).output
    #expect(mode.contains("simulate"), "\(mode)")
    #expect(mode.contains("reproduce") == (command == "replay"), "\(mode)")
    #expect(
      help.contains("(values: every-frame, simulate") == mode.contains("(values: "), "\(mode)")
  }

  @Test func `reproduce is refused with the command that has it`() throws {
    let result = try retake("view clip -p a --mode reproduce", in: Workplace())
    #expect(result.stderr.contains("only 'retake replay' has --mode reproduce"), "\(result.stderr)")
  }

  @Test(arguments: [
    "build a b", "init a b", "init --swift --pipeline a.json",
    "replay clip --mode fast", "replay clip --workers 1000", "replay clip --workers x",
    "replay clip --override thermal=hot@3s", "verify clip --override thermal=fair",
    "test --override thermal=fair@3s",
    "replay clip --colour", "replay clip --track x", "replay clip --costs tap",
    "replay clip --costs timings --mode every-frame", "replay clip --costs profile:",
    "replay clip --write-timings a.timings --workers 2",
    "replay clip --write-timings a.timings --costs declared",
    "replay clip --write-timings a.timings --strict-costs", "test --costs declared",
    "test --case", "test --mode simulate", "record", "import", "accept", "diff a",
    "session trim yard --into x", "session trim yard --from 5s --to 2s --into x",
    "session trim yard --from soon --into x",
    "session transcode", "session transcode yard --preset copy",
    "session redact yard --pipeline a.json", "session redact yard --as b",
    "session redact yard --pipeline a.json --as b --margin -1",
    "session redact yard --pipeline a.json --as b --hold soon",
    "session redact yard --pipeline a.json --as b --track x",
    "session export yard",
    "session export yard --csv a --json-lines a", "session export yard --csv a --rows cats",
    "session export yard --media -", "session export yard --csv - --json",
    "golden calibrate --runs 0", "golden calibrate --runs 1000", "diff --base", "diff a b --case x",
    "report serve --port 70000", "report serve --port x", "bench pools --tune --plot a.svg",
    "view", "view clip --speed 0", "view clip --speed 17", "view clip --once --frames 3",
    "view clip --screenshot a.png", "view clip --mode simulate", "view clip --start soon",
    "view clip --once --screenshot - --json", "bench window --screenshot -",
    "view clip --once --screenshot clip.mp4", "bench window --screenshot notes.txt",
    "view clip --frames 0", "view clip --size 1x1", "view clip -p a --mode reproduce",
    "test clip -p a --mode reproduce", "verify clip -p a --mode reproduce",
    "cache warm clip -p a --mode reproduce", "golden calibrate clip -p a --mode reproduce",
    "model check a.onnx b --frame x", "model check a.onnx b --frame 1:2:3",
    "model check a.onnx b --output a.jpg", "model check a.onnx b --output -",
    "bench memory --speed 0", "bench memory --speed 21", "bench window --fps 0",
    "bench window --seconds 0", "bench window --vision soon",
    "store push", "store push a --remote http://b", "store gc --grace-days 0",
    "record a --frames 0", "record a --size 3", "record a --speed never", "record a --duration x",
  ])
  func `a wrong option is a usage error and nothing is done`(line: String) throws {
    let workplace = try Workplace()
    let result = try retake(line, in: workplace)
    #expect(result.status == 64, "\(result.stderr)")
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.hasPrefix("error: "), "\(result.stderr)")
    #expect(try workplace.listing().isEmpty)
  }
}

extension Substring {
  fileprivate var trimmingWhitespace: Substring { drop { $0 == " " } }
}
