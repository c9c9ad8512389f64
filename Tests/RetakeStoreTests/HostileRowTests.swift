import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeStore

/// Databases with correct checksums, and one value that no session has.
struct HostileRowTests {
  private static let binary = productsFolder.appending(path: "retake").path
  private static let isLong = ProcessInfo.processInfo.environment["RETAKE_FAULTS"] == "long"
  /// The first edge values for every column, and one of the others in turn; the long form uses all.
  private static let edgesOfAllColumns = 2

  /// A recording with a live run, and rows in every table.
  private static func base() throws -> TemporaryFolder {
    let folder = try TemporaryFolder("retake-hostile")
    let recorded = try retake(
      [
        "record", "synthetic:figures", "--name", "base", "--into", "base", "--frames", "8",
        "--size", "64x48", "--speed", "max", "--probe", "skip", "--pipeline",
        "example:motion-boxes",
      ], in: folder)
    try #require(recorded.status == 0, "\(recorded.stderr)")
    let sample = Sample()
    let writer = try StoreWriter(continuing: folder.file("base/base/session.sqlite").path)
    var event = sample.event
    event.ordinal = 1_000
    writer.append([event])
    writer.append([
      FileRecord(path: "NOTES.md", role: "notes", sha256: [UInt8](repeating: 7, count: 32))
    ])
    let samples = SampleWriter(writer)
    let gyroscope = try samples.add(
      name: "gyroscope", kind: "gyroscope", channels: ["x", "y", "z"], source: "test")
    for time: Int64 in 0..<20 {
      try samples.append(gyroscope, time: time * 10_000_000, [0.5, Double(time), -1])
    }
    try samples.finish()
    try writer.close()
    return folder
  }

  private static func retake(
    _ words: [String], in folder: TemporaryFolder, limits: [String] = []
  ) throws -> CommandResult {
    let all = limits + [binary] + words
    return try runCommand(
      all[0], arguments: Array(all.dropFirst()), environment: ["CI": nil, "NO_COLOR": nil],
      folder: folder.url, timeoutSeconds: 600)
  }

  /// Limits for each command: seconds of processor time, and bytes of writable memory.
  private static let (processorSecondsMax, dataBytesMax) = (5, 512 << 20)
  /// Memory that a program takes before its command begins.
  private static let dataBytesOfProgram = 64 << 20

  /// The results of commands, each with the limits. Their number makes one process for all of them
  /// cheaper; a command that starts the program again needs a process.
  private static func results(
    of commands: [[String]], in folder: TemporaryFolder
  ) throws -> [CommandResult] {
    let isOwn = commands.map { $0[0] == "verify" }
    var inside = try CommandList(
      zip(commands, isOwn).filter { !$1 }.map(\.0), in: folder.url,
      processorSecondsMax: processorSecondsMax, dataBytesMax: dataBytesMax - dataBytesOfProgram
    ).run()[...]
    let limits = ["prlimit", "--cpu=\(processorSecondsMax)", "--data=\(dataBytesMax)"]
    return try zip(commands, isOwn).map { words, isOwn in
      isOwn ? try retake(words, in: folder, limits: limits) : inside.removeFirst()
    }
  }

  /// Commands that read a session. The short form runs one of them on every third session, in turn.
  private static func commands(on name: String) -> [[String]] {
    [
      ["session", "info", name],
      ["session", "info", name, "--json"],
      ["session", "check", name, "--deep"],
      ["session", "trim", name, "--from", "20ms", "--into", "Trimmed"],
      ["session", "transcode", name, "--into", "Fast"],
      ["session", "snapshot", name, "--into", "Copies"],
      ["session", "export", name, "--media", "\(name).mkv"],
      ["session", "export", name, "--rows", "decisions", "--json-lines", "-"],
      ["replay", name, "--pipeline", "example:motion-boxes"],
      ["replay", name, "--mode", "reproduce", "--pipeline", "example:motion-boxes"],
      ["verify", name, "--pipeline", "example:motion-boxes"],
    ]
  }

  private static func cases() -> [CraftedRow] {
    var cases: [CraftedRow] = []
    var turn = 0
    for table in Schema.tables {
      for column in table.columns.indices {
        let edges = CraftedValue.edges
        let first = isLong ? edges.count : edgesOfAllColumns
        let other = first + turn % max(1, edges.count - first)
        for place in Array(0..<first) + (isLong ? [] : [other]) {
          cases.append(CraftedRow(table: table, column: column, value: edges[place]))
        }
        turn += 1
      }
    }
    return cases
  }

  @Test(.enabled(if: (try? runCommand("prlimit", arguments: ["--cpu=5", "true"]).status) == 0))
  func `no value of any column ends a command by a signal`() throws {
    let folder = try Self.base()
    let manager = FileManager.default
    let recordings = folder.file("Recordings")
    try manager.createDirectory(at: recordings, withIntermediateDirectories: true)
    var made: [(name: String, row: CraftedRow)] = []
    for (number, row) in Self.cases().enumerated() {
      let name = "s\(number)"
      try manager.copyItem(at: folder.file("base/base"), to: recordings.appending(path: name))
      let path = recordings.appending(path: name).appending(path: "session.sqlite").path
      if try row.write(to: path) {
        made.append((name, row))
      } else {
        try manager.removeItem(at: recordings.appending(path: name))
      }
    }
    #expect(made.count > 240)

    var asked: [(row: CraftedRow, words: [String])] = []
    for (number, (name, row)) in made.enumerated() {
      let others = Self.commands(on: name)
      let turn = number % 3 == 0 ? [others[number / 3 % others.count]] : []
      let chosen = Self.isLong ? others : turn
      asked += ([["session", "check", name]] + chosen).map { (row, $0) }
    }
    let results = try Self.results(of: asked.map(\.words), in: folder)
    #expect(results.count == asked.count)
    for ((row, words), result) in zip(asked, results) {
      // A live run that is reproduced with other rows may decide differently.
      let mayDiffer = words.contains("reproduce") && result.status == 1
      #expect(
        result.status == 0 || result.status == 2 || mayDiffer,
        """
        \(row.name) = \(row.value): \(words): \(result.status as Any) \(result.signal as Any)
        \(result.stderr)
        """)
      #expect(!(result.stdout + result.stderr).contains("\u{1B}"), "\(row.name): \(words)")
    }
    // Its output for each session is the same as the output of `session info`.
    let list = try Self.retake(["session", "list"], in: folder)
    #expect(list.status == 0, "\(list)")
    #expect(list.stdout.split(separator: "\n").count == made.count)

    // One bad session never ends a suite: each is a separate case with a verdict.
    let test = try Self.retake(
      ["test", "--pipeline", "example:motion-boxes", "--json"] + made.map(\.name), in: folder)
    #expect(test.status == 2, "\(test.status as Any) \(test.signal as Any) \(test.stderr)")
    let report = try JSONSerialization.jsonObject(with: test.stdoutBytes) as? [String: Any]
    let verdicts = (report?["cases"] as? [[String: Any]])?.compactMap { $0["verdict"] as? String }
    #expect(verdicts?.count == made.count)
    #expect(Set(verdicts ?? []).isSubset(of: ["missing", "errored"]))
    #expect(verdicts?.contains("missing") == true && verdicts?.contains("errored") == true)
  }

  @Test func `a packet larger than FFmpeg counts is an error that names its row`() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    let size = try #require(PacketRecord.table.columns.firstIndex { $0.name == "size" })
    let row = CraftedRow(table: PacketRecord.table, column: size, value: .integer((1 << 31) - 1))
    #expect(try row.write(to: path))

    let reader = try StoreReader(opening: path)
    #expect(try reader.checkRows().isEmpty)
    let error = #expect(throws: StoreError.self) {
      try reader.packets(track: 0, indexes: 0..<10)
    }
    #expect(
      error?.cause
        == "packet.size of track 0, index 0 is 2147483647, which no session has")
  }

  @Test(arguments: [
    "record lost", "", "zu spät", "line\nbreak", String(repeating: "a", count: 300),
  ])
  func `a cause that is not one word is an error that names its row`(cause: String) throws {
    let folder = try TemporaryFolder()
    let path = folder.file("session.sqlite").path
    try Sample().write(path)
    let column = try #require(FrameRecord.table.columns.firstIndex { $0.name == "cause" })
    let row = CraftedRow(table: FrameRecord.table, column: column, value: .text(cause))
    #expect(try row.write(to: path))

    let reader = try StoreReader(opening: path)
    #expect(try reader.checkRows().isEmpty)
    let error = #expect(throws: StoreError.self) {
      try reader.frames(track: 0, sequences: 0..<10)
    }
    #expect(error?.code == "store.corrupt")
    #expect(error?.cause?.hasPrefix("frame.cause of track 0, sequence 0 is ") == true)
  }
}
