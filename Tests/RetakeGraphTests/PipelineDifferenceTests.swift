import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeGraph

/// The changes between two documents, in words.
@Suite struct PipelineDifferenceTests {
  private static let base = """
    {"v": 1, "name": "yard",
     "nodes": [
      {"id": "camera", "kind": "session", "options": {"track": 0}, "pool": "frames"},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "boxes",
       "options": {"threshold": 24, "region": [0, 0, 10, 10], "net": {"file": "a.onnx", "top": 3}},
       "cost": {"fixed": "45ms"}, "executor": "vision"},
      {"id": "each", "kind": "forEach", "body": {
       "nodes": [
        {"id": "crop", "kind": "crop", "cost": {"fixed": "1ms"}},
        {"id": "name", "kind": "labels", "options": {"top": 3}}],
       "edges": [{"from": "crop", "to": "name", "capacity": 5}],
       "output": "name"}},
      {"id": "split", "kind": "route", "options": {"ports": ["few", "many"]}},
      {"id": "boxes", "kind": "results", "primary": true, "precision": {"box": 0.1}},
      {"id": "rest", "kind": "results", "hold": "16ms"}],
     "edges": [
      {"from": "camera", "to": "grey"},
      {"from": "grey", "to": "motion", "policy": "dropNewest"},
      {"from": "motion", "to": "each"},
      {"from": "each", "to": "split"},
      {"from": "split.few", "to": "boxes"},
      {"from": "split.many", "to": "rest"}],
     "executors": [{"id": "vision", "count": 2}],
     "pools": [{"id": "frames", "capacity": 4, "policy": "drop"}]}
    """

  private static func record(_ text: String) throws -> PipelineRecord {
    try PipelineRecord(parsing: Data(text.utf8))
  }

  private static func texts(_ old: String, _ new: String) throws -> [String] {
    let difference = PipelineDifference(from: try record(old), to: try record(new), limit: .max)
    #expect(difference.count == difference.changes.count)
    return difference.changes.map(\.text)
  }

  struct Edit: Sendable, CustomTestStringConvertible {
    var kind: PipelineChange.Kind
    /// Strings of the document, and their replacements.
    var edits: [(String, String)]
    var says: [String]

    init(_ kind: PipelineChange.Kind, _ edits: [(String, String)], _ says: [String]) {
      (self.kind, self.edits, self.says) = (kind, edits, says)
    }

    var testDescription: String { says.first ?? "nothing" }
  }

  private static let edits: [Edit] = [
    Edit(.name, [("\"name\": \"yard\"", "\"name\": \"gate\"")], ["name: yard → gate"]),
    Edit(.option, [("24", "40")], ["motion.threshold: 24 → 40"]),
    Edit(
      .option, [("[0, 0, 10, 10]", "[0, 0, 20, 10]")],
      ["motion.region: [0,0,10,10] → [0,0,20,10]"]),
    Edit(
      .option, [("a.onnx\", \"top\": 3", "b.onnx\", \"deep\": true")],
      [
        "motion.net.deep: not set → true", "motion.net.file: a.onnx → b.onnx",
        "motion.net.top: 3 → not set",
      ]),
    Edit(.option, [("{\"top\": 3}}]", "{\"top\": 5}}]")], ["each/name.top: 3 → 5"]),
    Edit(
      .option, [("\"threshold\": 24,", "\"threshold\": 24, \"concurrency\": 2,")],
      ["motion.options.concurrency: not set → 2"]),
    Edit(
      .stage,
      [
        ("\"kind\": \"boxes\"", "\"kind\": \"faces\""), ("24", "40"),
        ("\"region\": [0, 0, 10, 10], ", ""),
      ],
      ["node 'motion' is another stage: boxes → faces", "motion.threshold: 24 → 40"]),
    Edit(.cost, [("45ms", "60ms")], ["motion.cost: 45ms → 60ms"]),
    Edit(
      .cost, [("{\"fixed\": \"45ms\"}", "{\"p50\": \"20ms\", \"p99\": \"45ms\"}")],
      ["motion.cost: 45ms → p50 20ms, p99 45ms"]),
    Edit(.cost, [(", \"cost\": {\"fixed\": \"1ms\"}", "")], ["each/crop.cost: 1ms → none"]),
    Edit(.setting, [(", \"executor\": \"vision\"}", "}")], ["motion.executor: vision → none"]),
    Edit(
      .setting, [("{\"id\": \"grey\",", "{\"id\": \"grey\", \"concurrency\": 2,")],
      ["grey.concurrency: 1 → 2"]),
    Edit(.setting, [("\"box\": 0.1", "\"box\": 0.01")], ["boxes.precision.box: 0.1 → 0.01"]),
    Edit(.setting, [("\"primary\": true, ", "")], ["boxes.primary: true → false"]),
    Edit(.setting, [("16ms", "20ms")], ["rest.hold: 16ms → 20ms"]),
    Edit(.setting, [(", \"pool\": \"frames\"", "")], ["camera.pool: frames → none"]),
    Edit(
      .setting, [("\"output\": \"name\"", "\"output\": \"crop\"")], ["each.output: name → crop"]),
    Edit(
      .queue, [("dropNewest", "dropOldest")],
      ["edge grey to motion, policy: dropNewest → dropOldest"]),
    Edit(
      .queue, [("\"policy\": \"dropNewest\"", "\"capacity\": 8")],
      [
        "edge grey to motion, capacity: 3 → 8", "edge grey to motion, policy: dropNewest → block",
      ]),
    Edit(
      .queue, [("\"capacity\": 5", "\"capacity\": 6")],
      ["edge each/crop to each/name, capacity: 5 → 6"]),
    Edit(
      .port, [("split.few", "split.SWAP"), ("split.many", "split.few"), ("SWAP", "many")],
      [
        "edge split.many to boxes, port: split.few → split.many",
        "edge split.few to rest, port: split.many → split.few",
      ]),
    Edit(
      .edgeAdded,
      [
        (
          "{\"from\": \"motion\", \"to\": \"each\"},",
          "{\"from\": \"motion\", \"to\": \"each\"}, "
            + "{\"from\": \"grey\", \"to\": \"rest\", \"policy\": \"replace\", \"capacity\": 1},"
        )
      ],
      ["edge grey to rest is new (replace)"]),
    Edit(
      .edgeRemoved, [("{\"from\": \"each\", \"to\": \"split\"},", "")],
      ["edge each to split is gone"]),
    Edit(.executor, [("\"count\": 2", "\"count\": 3")], ["executor vision.count: 2 → 3"]),
    Edit(
      .executor, [("\"count\": 2}", "\"count\": 2}, {\"id\": \"gpu\", \"count\": 1}")],
      ["executor 'gpu' is new (count 1)"]),
    Edit(.pool, [("\"capacity\": 4", "\"capacity\": 6")], ["pool frames.capacity: 4 → 6"]),
    Edit(.pool, [(", \"policy\": \"drop\"}", "}")], ["pool frames.policy: drop → block"]),
    Edit(
      .pool, [("\"policy\": \"drop\"", "\"policy\": \"drop\", \"adaptive\": {\"max\": 9}")],
      ["pool frames.adaptive: none → {\"max\":9}"]),
    Edit(
      .order,
      [
        ("{\"id\": \"grey\", \"kind\": \"grey\"},", ""),
        ("\"hold\": \"16ms\"}]", "\"hold\": \"16ms\"}, {\"id\": \"grey\", \"kind\": \"grey\"}]"),
      ],
      ["nodes are in another order"]),
    Edit(
      .other, [("\"v\": 1,", "\"v\": 1, \"notes\": \"two words\",")],
      ["notes: not set → \"two words\""]),
  ]

  @Test(arguments: edits)
  func `a change is told by its place, old and new`(edit: Edit) throws {
    var text = Self.base
    for (from, to) in edit.edits {
      try #require(text.contains(from), "\(from)")
      text = text.replacing(from, with: to, maxReplacements: 1)
    }
    let difference = PipelineDifference(from: try Self.record(Self.base), to: try Self.record(text))
    #expect(difference.changes.map(\.text) == edit.says)
    #expect(difference.changes.first?.kind == edit.kind && difference.count == edit.says.count)
    let back = PipelineDifference(from: try Self.record(text), to: try Self.record(Self.base))
    #expect(back.count == edit.says.count)
    #expect(Set(back.changes.compactMap(\.new)) == Set(difference.changes.compactMap(\.old)))
  }

  @Test func `every kind of change is among them`() {
    let missing = Set(PipelineChange.Kind.allCases).subtracting(Self.edits.map(\.kind))
    // These have their own tests.
    #expect(missing == [.nodeAdded, .nodeRemoved])
  }

  @Test func `a node that is put in between is told alone, and so is one that is taken out`() throws
  {
    let with = Self.base
      .replacing(
        "{\"id\": \"motion\",",
        with: "{\"id\": \"blur\", \"kind\": \"soften\"}, {\"id\": \"motion\","
      )
      .replacing(
        "{\"from\": \"grey\", \"to\": \"motion\", \"policy\": \"dropNewest\"}",
        with: "{\"from\": \"grey\", \"to\": \"blur\"}, "
          + "{\"from\": \"blur\", \"to\": \"motion\", \"policy\": \"dropNewest\"}")
    #expect(
      try Self.texts(Self.base, with) == ["node 'blur' is new (soften, between grey and motion)"])
    #expect(
      try Self.texts(with, Self.base) == ["node 'blur' is gone (soften, between grey and motion)"])
    // The queue that existed before no longer exists.
    let blocking = with.replacing(", \"policy\": \"dropNewest\"", with: "")
    #expect(
      try Self.texts(Self.base, blocking) == [
        "node 'blur' is new (soften, between grey and motion)",
        "edge grey to motion is gone (dropNewest)",
      ])
  }

  @Test func `a branch is told with its neighbors, a lone node by its kind`() throws {
    let with = Self.base
      .replacing(
        "\"hold\": \"16ms\"}]",
        with: "\"hold\": \"16ms\"}, {\"id\": \"tap\", \"kind\": \"digest\"}, "
          + "{\"id\": \"idle\", \"kind\": \"digest\"}]"
      )
      .replacing(
        "{\"from\": \"each\", \"to\": \"split\"},",
        with: "{\"from\": \"each\", \"to\": \"split\"}, {\"from\": \"grey\", \"to\": \"tap\"}, "
          + "{\"from\": \"motion\", \"to\": \"tap\", \"policy\": \"dropOldest\"},")
    #expect(
      try Self.texts(Self.base, with) == [
        "node 'tap' is new (digest, after grey, motion)", "node 'idle' is new (digest)",
        "edge motion to tap is new (dropOldest)",
      ])
  }

  @Test func `a default that is said aloud is no difference`() throws {
    let old = PipelineRecord(try Documents.parse(Documents.motion))
    let said = Documents.motion
      .replacing(
        "{\"from\": \"camera\", \"to\": \"grey\"}",
        with: "{\"from\": \"camera\", \"to\": \"grey\", \"capacity\": 3, \"policy\": \"block\"}"
      )
      .replacing(
        "\"kind\": \"grey\"}",
        with: "\"kind\": \"grey\", \"concurrency\": 1, \"pinned\": false, \"primary\": false}"
      )
      .replacing("\"areaMin\": 2}", with: "\"areaMin\": 2.0, \"classes\": [\"motion\"]}")
    #expect(said != Documents.motion)
    let new = PipelineRecord(try Documents.parse(said))
    #expect(PipelineDifference(from: old, to: new).count == 0 && new.digest == old.digest)
  }

  @Test func `numbers that are the same in another spelling are no difference`() throws {
    let other = Self.base.replacing("24", with: "24.0").replacing("[0, 0,", with: "[0.0, 0,")
    #expect(try Self.texts(Self.base, other) == [])
  }

  @Test func `changes come in the order of the document`() throws {
    let new = Self.base
      .replacing("yard", with: "gate").replacing("\"count\": 2", with: "\"count\": 3")
      .replacing("dropNewest", with: "dropOldest").replacing("24", with: "40")
      .replacing("\"track\": 0", with: "\"track\": 1")
      .replacing("\"capacity\": 4", with: "\"capacity\": 5")
    let expected = [
      "camera.track: 0 → 1", "motion.threshold: 24 → 40",
      "edge grey to motion, policy: dropNewest → dropOldest", "executor vision.count: 2 → 3",
      "pool frames.capacity: 4 → 5", "name: yard → gate",
    ]
    for _ in 0..<20 { #expect(try Self.texts(Self.base, new) == expected) }
  }

  @Test func `the first changes are kept and all are counted`() throws {
    func options(_ value: Int) -> String {
      let list = (0..<500).map { "\"o\(String(1_000 + $0))\": \(value)" }.joined(separator: ", ")
      return Self.base.replacing("\"threshold\": 24", with: list)
    }
    let difference = PipelineDifference(
      from: try Self.record(options(1)), to: try Self.record(options(2)))
    #expect(difference.count == 500)
    #expect(difference.changes.count == PipelineDifference.changesMax)
    #expect(difference.changes.first?.text == "motion.o1000: 1 → 2")
    #expect(difference.changes.last?.text == "motion.o1009: 1 → 2")
  }

  @Test func `kinds that are ignored are neither kept nor counted`() throws {
    let new = Self.base.replacing("45ms", with: "60ms").replacing("24", with: "40")
    let difference = PipelineDifference(
      from: try Self.record(Self.base), to: try Self.record(new), ignoring: [.cost])
    #expect(difference.count == 1 && difference.changes.map(\.kind) == [.option])
  }

  @Test func `of long values the part that differs is shown`() throws {
    let long = String(repeating: "model/", count: 40)
    let old = Self.base.replacing("a.onnx", with: long + "a.onnx")
    let new = Self.base.replacing("a.onnx", with: long + "b.onnx")
    let text = try #require(try Self.texts(old, new).first)
    #expect(text.hasPrefix("motion.net.file: …") && text.count < 120, "\(text)")
    #expect(text.contains("/a.onnx → …") && text.hasSuffix("/b.onnx"), "\(text)")
    let list = (0..<40).map { "\($0)" }.joined(separator: ",")
    let place = try Self.texts(
      Self.base.replacing("[0, 0, 10, 10]", with: "[\(list)]"),
      Self.base.replacing("[0, 0, 10, 10]", with: "[\(list.replacing("17", with: "99"))]"))
    #expect(place == ["motion.region[17]: 17 → 99"])
  }

  /// Any change in a pull request is reported or counted within a short time.
  @Test func `documents that no one would write end in words, too`() throws {
    var random = SeededGenerator(seed: 7)
    let bytes = Array(Self.base.utf8)
    var compared = 0
    for _ in 0..<3_000 {
      var changed = bytes
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        changed[Int.random(in: 0..<changed.count, using: &random)] = UInt8.random(
          in: 0x20...0x7e, using: &random)
      }
      guard let record = try? PipelineRecord(parsing: Data(changed)) else { continue }
      compared += 1
      let difference = PipelineDifference(from: try Self.record(Self.base), to: record)
      #expect(difference.changes.allSatisfy { $0.text.count <= 301 && !$0.text.isEmpty })
      #expect(difference.count >= difference.changes.count)
    }
    #expect(compared > 300)
    let count = 20_000
    func document(_ id: String, _ port: String) throws -> PipelineRecord {
      let nodes = (0..<count).map { "{\"id\": \"\(id)\($0)\", \"kind\": \"x\"}" }
      let edges = (0..<count).map {
        "{\"from\": \"\(id)\($0)\(port)\", \"to\": \"\(id)\(($0 * 7 + 1) % count)\"}"
      }
      return try Self.record(
        "{\"v\": 1, \"nodes\": [\(nodes.joined(separator: ","))], "
          + "\"edges\": [\(edges.joined(separator: ","))]}")
    }
    let ports = PipelineDifference(from: try document("n", ".a"), to: try document("n", ".b"))
    #expect(ports.count == count && ports.changes.allSatisfy { $0.kind == .port })
    let others = PipelineDifference(from: try document("n", ""), to: try document("m", ""))
    #expect(others.count == 2 * count)
  }
}
