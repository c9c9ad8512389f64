import Foundation
import RetakeTestSupport
import Testing

/// The pool benchmark has the documented results on every machine.
@Suite struct PoolBenchTests {
  private func page(_ name: String) throws -> String {
    try String(contentsOf: packageRoot.appending(path: "Sources/Lab/\(name)"), encoding: .utf8)
  }

  @Test func `the table and the plot of the lab are what the command gives`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "pools", "--plot", "pools.svg")
    try #require(result.status == 0, "\(result.stderr)")
    #expect(try page("pools.md").contains("\n```\n\(result.stdout)```\n"))
    let plot = try String(contentsOf: workplace.folder.file("pools.svg"), encoding: .utf8)
    #expect(try page("pools.svg") == plot)
  }

  @Test func `the waits of the lab are what the command gives`() throws {
    let result = try Workplace().retake("bench", "pools", "--wait", "1s")
    try #require(result.status == 0, "\(result.stderr)")
    #expect(try page("pools.md").contains("\n```\n\(result.stdout)```\n"))
  }

  @Test(arguments: [
    ("bench articles", "retake-lab articles"),
    ("bench articles allocation --json", "retake-lab articles"),
    ("bench pools --study goal", "retake-lab pools STUDY"),
    ("bench pools --study=goal", "retake-lab pools STUDY"),
    ("bench pools --soak 600s", "retake-lab soak TIME"),
  ])
  func `a study of the lab is refused with its name there`(
    line: String, words: String
  ) throws {
    let result = try Workplace().retake(words: line.split(separator: " ").map(String.init))
    #expect(result.status == 64 && result.stdout.isEmpty)
    #expect(result.stderr.contains(words), "\(result.stderr)")
  }

  @Test func `a wait or a load that cannot be is refused`() throws {
    let workplace = try Workplace()
    let wait = try workplace.retake("bench", "pools", "--wait", "0s")
    #expect(wait.status == 64 && wait.stderr.contains("'--wait 0s' is not a time"))
    try Data(
      #"""
      {"v": 1, "name": "mine", "family": "own", "seed": 7, "fps": 10, "executors": 1,
       "bufferBytes": 1, "resizeTime": "1ms", "repeat": 1, "driverFrames": 2,
       "phases": [{"for": "10s", "costs": [["200ms", "200ms"]]}]}
      """#.utf8
    ).write(to: workplace.folder.file("mine.json"))
    let result = try workplace.retake("bench", "pools", "--load", "mine.json")
    #expect(result.status == 2 && result.stderr.contains("/driverFrames"), "\(result.stderr)")
  }

  /// A load with other members at its end.
  private func load(_ rest: String = "", named name: String = "mine") -> Data {
    Data(
      """
      {"v": 1, "name": "\(name)", "family": "own", "seed": 7, "fps": 10, "executors": 1,
       "bufferBytes": 1, "resizeTime": "1ms", "repeat": 1,
       "phases": [{"for": "10s", "costs": [["200ms", "200ms"]]}]\(rest)}
      """.utf8)
  }

  @Test(arguments: [
    (#", "events": [{"at": "10s", "thermal": "serious"}]"#, "/events/0/at", "the load ends at 10s"),
    (#", "events": [{"at": "1s"}]"#, "/events/0", "either 'thermal' or 'memory'"),
    (
      #", "events": [{"at": "1s", "thermal": "fair", "memory": "normal"}]"#, "/events/0",
      "either 'thermal' or 'memory'"
    ),
  ])
  func `an event of a load that cannot happen is refused`(
    rest: String, place: String, words: String
  ) throws {
    let workplace = try Workplace()
    try load(rest).write(to: workplace.folder.file("mine.json"))
    let result = try workplace.retake("bench", "pools", "--load", "mine.json")
    #expect(result.status == 2 && result.stdout.isEmpty)
    #expect(
      result.stderr.contains(place) && result.stderr.contains(words), "\(result.stderr)")
  }

  @Test func `a load whose camera waits has the table of waits`() throws {
    let workplace = try Workplace()
    try load(#", "wait": "1s""#).write(to: workplace.folder.file("mine.json"))
    let own = try workplace.retake("bench", "pools", "--load", "mine.json")
    try load().write(to: workplace.folder.file("mine.json"))
    let asked = try workplace.retake("bench", "pools", "--load", "mine.json", "--wait", "1s")
    #expect(own.status == 0 && own.stdout.contains("p95 ms"), "\(own.stderr)")
    #expect(own.stdout == asked.stdout)
  }

  @Test func `a load's own wait is never lost`() throws {
    let workplace = try Workplace()
    try load(#", "wait": "1s""#, named: "waits").write(to: workplace.folder.file("waits.json"))
    try load(named: "loses").write(to: workplace.folder.file("loses.json"))
    let words = ["bench", "pools", "--load", "loses.json", "--load", "waits.json"]
    let mixed = try workplace.retake(words: words)
    let rows = mixed.stdout.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(mixed.status == 0 && mixed.stdout.contains("p95 ms"), "\(mixed.stderr)")
    // Of 43 frames that stall, a camera that does not wait loses 43.
    #expect(
      rows.first { $0.starts(with: ["loses", "fixed", "8"]) }?.dropFirst(3)
        == ["43", "43.00", "%", "43", "-", "-", "-", "57.00", "%", "8.00"])
    let waiting = try workplace.retake("bench", "pools", "--load", "waits.json").stdout
    let alone = try #require(waiting.split(separator: "\n").first { $0.contains("fixed 8") })
    #expect(
      rows.contains(alone.split(separator: " ").map(String.init)), "\(mixed.stdout)\(waiting)")
    let plot = try workplace.retake(words: words + ["--plot", "a.svg"])
    #expect(plot.status == 64 && plot.stderr.contains("'waits' has a 'wait'"), "\(plot.stderr)")
    #expect(!workplace.exists("a.svg"))
  }

  @Test func `pools without a breaker are called so`() throws {
    let workplace = try Workplace()
    try load(#", "wait": "1s""#).write(to: workplace.folder.file("mine.json"))
    let rows = try workplace.retake("bench", "pools", "--load", "mine.json", "--json").json()
    let pools = (0..<rows.count).compactMap { rows[$0].pool.text }
    #expect(pools.count == 6 && pools.last == "4-16 ewma, no breaker")
  }

  @Test func `options are not tuned on one family alone`() throws {
    let workplace = try Workplace()
    try load().write(to: workplace.folder.file("mine.json"))
    try load(named: "other").write(to: workplace.folder.file("other.json"))
    let tune = ["bench", "pools", "--tune", "--load", "mine.json"]
    for words in [tune, tune + ["--load", "other.json"], tune + ["--json"]] {
      let result = try workplace.retake(words: words)
      #expect(result.status == 2 && result.stdout.isEmpty)
      #expect(
        result.stderr.contains("only 'own'") && result.stderr.contains("[suite.bench.oneFamily]"),
        "\(result.stderr)")
    }
  }

  @Test func `a name that would not fit in a table is refused with its place`() throws {
    let workplace = try Workplace()
    try load(named: "same").write(to: workplace.folder.file("a.json"))
    try load(named: "same").write(to: workplace.folder.file("b.json"))
    try load(named: "").write(to: workplace.folder.file("empty.json"))
    try load(named: #"two\nlines"#).write(to: workplace.folder.file("lines.json"))
    for (files, words) in [
      (["a", "b"], "b.json, at /name: another load is called 'same', too"),
      (["empty"], "empty.json, at /name: a name is one line"),
      (["lines"], "lines.json, at /name: a name is one line"),
    ] {
      let result = try workplace.retake(
        words: ["bench", "pools"] + files.flatMap { ["--load", "\($0).json"] })
      #expect(result.status == 2 && result.stdout.isEmpty)
      #expect(result.stderr.contains(words), "\(result.stderr)")
    }
  }

  @Test func `what is no file says what it is`() throws {
    let workplace = try Workplace()
    try FileManager.default.createDirectory(
      at: workplace.folder.file("folder"), withIntermediateDirectories: false)
    try #require(mkfifo(workplace.folder.file("pipe").path, 0o600) == 0)
    for (arguments, status, words) in [
      (["--load", "folder"], 2, "(it is a folder) [suite.bench.loadUnreadable]"),
      (["--load", "pipe"], 2, "(it is not a regular file) [suite.bench.loadUnreadable]"),
      (["--wait", "1h"], 64, "'--wait 1h' is not a time above 0s and up to 3600s"),
      (["--plot", ""], 64, "'' names no file; write for example figures.svg"),
    ] as [([String], Int32, String)] {
      let result = try workplace.retake(words: ["bench", "pools"] + arguments)
      #expect(result.status == status && result.stdout.isEmpty)
      #expect(result.stderr.contains(words), "\(result.stderr)")
    }
  }

  @Test func `a plot is XML whatever a load is called`() throws {
    let workplace = try Workplace()
    try load(named: #"<script>&\u0001\""#).write(to: workplace.folder.file("mine.json"))
    let result = try workplace.retake(
      "bench", "pools", "--load", "mine.json", "--plot", "mine.svg")
    try #require(result.status == 0, "\(result.stderr)")
    let plot = try String(contentsOf: workplace.folder.file("mine.svg"), encoding: .utf8)
    #expect(plot.contains(#">&lt;script&gt;&amp;\u{1}&quot;</text>"#), "\(plot.prefix(2_000))")
  }

  @Test func `a plot that does not fit leaves nothing`() throws {
    let workplace = try Workplace()
    let before = try workplace.listing()
    // A file may have one block. Without the trap, the signal would end the program.
    let result = try runCommand(
      "sh",
      arguments: [
        "-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" bench pools --plot pools.svg",
        Workplace.binary,
      ], folder: workplace.folder.url)
    #expect(result.status == 2, "\(result.stderr)")
    #expect(try workplace.listing() == before)
  }

  @Test func `the figures come as JSON too`() throws {
    let workplace = try Workplace()
    let load = workplace.folder.file("mine.json")
    try Data(
      """
      {"v": 1, "name": "mine", "family": "own", "seed": 7, "fps": 10, "executors": 1,
       "bufferBytes": 1000000, "resizeTime": "1ms", "repeat": 1,
       "phases": [{"for": "10s", "costs": [["200ms", "200ms"]]}]}
      """.utf8
    ).write(to: load)
    let result = try workplace.retake("bench", "pools", "--load", "mine.json", "--json")
    try #require(result.status == 0, "\(result.stderr)")
    let rows = try JSONDecoder().decode([Row].self, from: result.stdoutBytes)
    #expect(rows.map(\.pool) == ["fixed 8", "fixed 16", "4-12 ewma", "4-12 ar1", "tuned"])
    #expect(rows.allSatisfy { $0.load == "mine" && $0.frames == 100 })
    // A frame arrives every 100 ms, and a frame is finished every 200 ms: eight buffers are in use
    // when the ninth frame stalls.
    #expect(rows[0].meanBuffersHundredths == 800 && rows[0].peakUsed == 8)
    #expect(rows[0].stalls == 43 && rows[1].stalls == 35)
    #expect(rows[0].meanBytes == 8_000_000 && rows[0].resizes == 0)
  }

  private struct Row: Decodable {
    var load: String
    var pool: String
    var frames: Int
    var stalls: Int
    var meanBuffersHundredths: Int
    var meanBytes: Int
    var peakUsed: Int
    var resizes: Int
  }

  @Test func `what is tuned on some kinds of loads is judged on another`() throws {
    let workplace = try Workplace()
    for (name, cost) in [("calm", "20ms"), ("busy", "150ms")] {
      try Data(
        """
        {"v": 1, "name": "\(name)", "family": "\(name)", "seed": 7, "fps": 10, "executors": 1,
         "bufferBytes": 1, "resizeTime": "1ms", "repeat": 1,
         "phases": [{"for": "6s", "costs": [["\(cost)", "\(cost)"]]}]}
        """.utf8
      ).write(to: workplace.folder.file("\(name).json"))
    }
    let arguments = ["bench", "pools", "--tune", "--load", "calm.json", "--load", "busy.json"]
    let result = try workplace.retake(words: arguments + ["--json"])
    try #require(result.status == 0, "\(result.stderr)")
    let folds = try JSONDecoder().decode([Fold].self, from: result.stdoutBytes)
    #expect(folds.map(\.judgedOn) == ["calm", "busy"])
    #expect(folds.allSatisfy { $0.candidates == 144 })
    #expect(folds[0].meetsGoal && folds[0].fixed16.map(\.stalls) == [0])
    // The pool that was tuned on the busy load is shown only on the calm one.
    #expect(folds[0].chosen.map(\.load) == ["calm"] && folds[1].chosen.map(\.load) == ["busy"])
    let text = try workplace.retake(words: arguments).stdout
    #expect(text.hasPrefix("calm: the goal is met with \(folds[0].adaptive)\n"), "\(text)")
  }

  private struct Fold: Decodable {
    var judgedOn: String
    var adaptive: String
    var candidates: Int
    var chosen: [Row]
    var fixed16: [Row]
    var meetsGoal: Bool
  }

  @Test func `a load that is no load is refused with its place`() throws {
    let workplace = try Workplace()
    try Data(#"{"v": 1, "name": "a", "fsp": 30}"#.utf8).write(to: workplace.folder.file("a.json"))
    let wrong = try workplace.retake("bench", "pools", "--load", "a.json")
    #expect(wrong.status == 2 && wrong.stderr.contains("unknown key 'fsp'"), "\(wrong.stderr)")
    let missing = try workplace.retake("bench", "pools", "--load", "b.json")
    #expect(missing.status == 2 && missing.stdout.isEmpty)
    #expect(missing.stderr.contains("suite.bench.noLoad"), "\(missing.stderr)")
  }
}
