import Foundation
import RetakeCore
import RetakeReport
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Blobs that must not be merged: each is refused, with its own words.
@Suite struct BadMergeTests {
  private let folder: TemporaryFolder
  /// Six cases in three shards.
  private let plan = ShardPlan(
    (0..<6).map { number in
      var item = ShardPlan.Item(key: "s\(number)/motion")
      (item.frames, item.session) = (100 + number, "digest")
      return item
    }, shards: 3, build: "build", project: "project")

  init() throws {
    folder = try TemporaryFolder()
    for shard in 1...3 { try write(plan, shard, to: "\(shard)") }
  }

  private func records(
    _ keys: [String], _ libraries: [String: String]
  ) throws -> [CaseRecord] {
    try keys.map { key in
      let parts = key.split(separator: "/").map(String.init)
      let item = ReportCase(
        session: parts[0], name: parts[1], pipeline: "p", mode: "every-frame", verdict: .passed,
        reason: "equal")
      let json = """
        {"item": \(String(decoding: try JSONEncoder().encode(item), as: UTF8.self)), "status": 0,
         "platform": "p", "goldenLibraries": {}, "libraries": {}, "frames": 1}
        """
      var record = try JSONDecoder().decode(CaseRecord.self, from: Data(json.utf8))
      record.libraries = libraries
      return record
    }
  }

  private func write(
    _ plan: ShardPlan, _ shard: Int, keys: [String]? = nil, libraries: [String: String] = [:],
    to name: String
  ) throws {
    let report = SuiteReport(
      records: try records(keys ?? plan.items(of: shard).map(\.key), libraries),
      goldens: "/goldens", program: "retake", seconds: 1, time: "2026-01-01T00:00:00Z")
    try ShardBlob(plan: plan, shard: shard, report: report).write(to: folder.file(name).path)
  }

  private func changed(_ change: (inout [ShardPlan.Item]) -> Void) -> ShardPlan {
    var items = plan.items
    change(&items)
    return ShardPlan(items, shards: 3, build: "build", project: "project")
  }

  /// - Parameter names: The files, separated by spaces.
  private func problems(_ names: String) -> [String] {
    ShardMerge(names.split(separator: " ").map { folder.file(String($0)).path }).problems.map {
      "\($0)".replacing(folder.url.path + "/", with: "").replacing(folder.url.path, with: "DIR")
    }
  }

  private func expect(
    _ names: String, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let problems = problems(names)
    #expect(problems.count == words.count, "\(problems)", sourceLocation: sourceLocation)
    for (problem, word) in zip(problems, words) {
      #expect(problem.contains(word), "\(problem)", sourceLocation: sourceLocation)
    }
  }

  @Test func `the blobs of all shards are merged in any order`() throws {
    for names in ["1 2 3", "3 1 2", "2 3 1"] { #expect(problems(names) == []) }
  }

  @Test func `a missing shard is named with its first case`() throws {
    let shards = (1...3).map { shard in
      "shard \(shard)/3 is missing: 2 cases, the first is \(plan.items(of: shard)[0].key)"
    }
    expect("1 2", shards[2])
    expect("1 3", shards[1])
    expect("2 3", shards[0])
    expect("1", shards[1], shards[2])
    expect("2", shards[0], shards[2])
    expect("3", shards[0], shards[1])
    try write(ShardPlan([plan.items[0]], shards: 2), 1, to: "lonely")
    expect("lonely", "shard 2/2 is missing; it has no case")
  }

  @Test func `a shard that comes twice is named with both files`() throws {
    try write(plan, 2, to: "copy")
    expect("1 1 2 3", "1: 1 is shard 1/3, too")
    expect("1 2 3 2", "2: 2 is shard 2/3, too")
    expect("3 1 2 3", "3: 3 is shard 3/3, too")
    expect("1 2 3 copy", "copy: 2 is shard 2/3, too")
    expect("1 copy 2", "2: copy is shard 2/3, too", "shard 3/3 is missing")
  }

  @Test func `another plan is refused, with the first difference`() throws {
    let others = [
      ("session", changed { $0[1].session = "other" }, "the session of s1/motion differs"),
      ("pipeline", changed { $0[1].pipeline = "other" }, "the pipeline of s1/motion differs"),
      ("model", changed { $0[1].files["m"] = "other" }, "'m' of s1/motion differs"),
      ("golden", changed { $0[1].golden = "other" }, "the golden of s1/motion differs"),
      ("frames", changed { $0[1].frames += 1 }, "the number of frames of s1/motion differs"),
      ("cases", changed { $0[1].key = "x/motion" }, "it has other cases"),
      (
        "build", ShardPlan(plan.items, shards: 3, build: "other", project: "project"),
        "another program wrote it"
      ),
      (
        "project", ShardPlan(plan.items, shards: 3, build: "build", project: "other"),
        "retake.yml differs"
      ),
      (
        "suite",
        ShardPlan(plan.items, shards: 3, build: "build", project: "project", suite: "slow"),
        "the suite differs"
      ),
      (
        "shards", ShardPlan(plan.items, shards: 4, build: "build", project: "project"),
        "4 shards, not 3"
      ),
    ]
    for (name, plan, difference) in others {
      try write(plan, 3, to: name)
      expect("1 2 \(name)", "\(name): this blob has another plan than 1: \(difference)", "3/3 is")
    }
  }

  @Test func `another version of the tool is refused`() throws {
    let text = try String(contentsOf: folder.file("2"), encoding: .utf8)
    let version = "\"version\":\"\(Tool.version)\""
    try folder.write(text.replacing(version, with: "\"version\":\"0.0.9\""), to: "old")
    try folder.write(text.replacing("\"blob\":1", with: "\"blob\":2"), to: "new")
    expect("1 old 3", "old: retake 0.0.9 wrote this, and this is \(Tool.version)", "2/3 is")
    expect("1 new 3", "new: the blob has format 2, and this retake reads 1", "2/3 is")
  }

  @Test func `results of two versions of a library are refused, with both versions`() throws {
    let codec = "libavcodec"
    try write(plan, 1, libraries: [codec: "61.3.100", "onnxruntime": "1.22.0"], to: "1")
    try write(plan, 2, libraries: [codec: "61.3.100"], to: "2")
    // A shard without a case of a model has no version of its library.
    expect("1 2 3")
    try write(plan, 3, libraries: [codec: "61.19.101", "onnxruntime": "1.22.0"], to: "3")
    let (first, other) = (plan.items(of: 1)[0].key, plan.items(of: 3)[0].key)
    let problem =
      "shard 3/3 tested \(other) and 1 more of its cases with libavcodec 61.19.101, "
      + "and \(first) was tested with libavcodec 61.3.100. Install one version"
    for names in ["1 2 3", "3 2 1"] { expect(names, problem) }
    try write(plan, 2, libraries: ["onnxruntime": "1.21.0"], to: "2")
    expect("1 2 3", "with onnxruntime 1.21.0, and \(first)", "with libavcodec 61.19.101")
  }

  @Test func `damage is noticed, wherever it is`() throws {
    let bytes = try Data(contentsOf: folder.file("2"))
    let start = try #require(bytes.firstIndex(of: 0x0A)) + 1
    for (name, place) in [("first", start), ("middle", bytes.count / 2), ("last", bytes.count - 2)]
    {
      var copy = bytes
      copy[place] ^= 1
      try copy.write(to: folder.file(name))
      expect("1 \(name) 3", "\(name): the blob is damaged (its digest differs)", "2/3 is")
    }
    let cuts = [("byte", 1), ("half", bytes.count / 2 - start / 2), ("body", bytes.count - start)]
    for (name, missing) in cuts {
      try bytes.dropLast(missing).write(to: folder.file(name))
      let count = bytes.count - start
      expect("1 \(name) 3", "it has \(count - missing) of \(count) bytes", "2/3 is")
    }
    try (bytes + [0x0A]).write(to: folder.file("longer"))
    expect("1 longer 3", "the blob is damaged (it has", "2/3 is")
  }

  @Test func `a plan that no planner made is damage, although the digest of its blob is right`()
    throws
  {
    let lines = try String(contentsOf: folder.file("2"), encoding: .utf8)
      .split(separator: "\n", maxSplits: 1)
    let (header, body) = (String(lines[0]), String(lines[1]))
    for shards in ["0", "-1", "1001", "1000000000000"] {
      let changed = body.replacing("\"shards\":3", with: "\"shards\":\(shards)")
      let head = header.replacing(
        "\"bytes\":\(body.utf8.count)", with: "\"bytes\":\(changed.utf8.count)"
      ).replacing(
        "\(Digest128(of: Data(body.utf8)))", with: "\(Digest128(of: Data(changed.utf8)))")
      try folder.write("\(head)\n\(changed)", to: "made")
      expect("made 1 3", "made: the blob is damaged (its plan was changed after", "2/3 is missing")
    }
  }

  @Test func `results that are not those of the shard are refused`() throws {
    let keys = plan.items(of: 2).map(\.key)
    try write(plan, 2, keys: plan.items(of: 1).map(\.key), to: "other")
    try write(plan, 2, keys: [keys[0]], to: "fewer")
    try write(plan, 2, keys: keys + [keys[0]], to: "more")
    try write(plan, 2, keys: keys.reversed(), to: "reversed")
    for name in ["other", "fewer", "more", "reversed"] {
      expect("1 \(name) 3", "(its cases are not the cases of its shard)", "2/3 is")
    }
  }

  @Test func `other files are no blobs`() throws {
    try folder.write("", to: "empty")
    try folder.write("{\"v\":1}\n{}\n", to: "report.json")
    try folder.write(String(repeating: "x", count: 5_000), to: "text")
    for name in ["empty", "report.json", "text"] {
      expect("1 \(name) 3", "\(name): this is not a blob", "2/3 is")
    }
    expect("1 absent 3", "absent: the blob cannot be read (there is no such file)", "2/3 is")
    expect("absent", "absent: the blob cannot be read")
    try folder.write("", to: "folder/file")
    expect("1 folder 3", "folder: the blob cannot be read (it is a folder)", "2/3 is")
  }
}
