import Foundation
import RetakeTestSupport
import Testing

/// Other models in a pipeline: one in another's place while frames arrive, and several side by
/// side.
@Suite(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
struct ModelSwapTests {
  private static let workers = [0, 1, 2, 4, 8]

  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.record("yard", frames: 12, size: "64x48")
  }

  /// Writes a classifier of three labels that begin with its name.
  private func write(_ name: String, last: String = "Identity") throws {
    let model = OnnxModelFile(
      inputs: [.init("images", .float, [1, 3, 8, 8])], outputs: [.init("scores", .float, [1, 3])],
      nodes: [
        .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["flat"]),
        .init(last, inputs: ["flat"], outputs: ["scores"]),
      ])
    try model.write(to: workplace.folder.file("\(name).onnx"))
    try workplace.folder.write(
      """
      {"v": 1, "input": {"scale_values": [255]}, "output": {"decoder": "softmax", "topk": 3},
       "labels": ["\(name)-red", "\(name)-green", "\(name)-blue"]}
      """, to: "\(name).model.json")
  }

  /// A classifier downstream of a queue that drops. By default it needs longer than a frame.
  private func writeLoad(cost: String = "50ms") throws {
    try workplace.folder.write(
      """
      {"v": 1, "name": "mood",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "mood", "kind": "classify", "options": {"model": "old.onnx"},
         "cost": {"fixed": "\(cost)"}},
        {"id": "labels", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "mood", "policy": "dropOldest", "capacity": 2},
        {"from": "mood", "to": "labels"}]}
      """, to: "mood.json")
  }

  private func writeEnsemble(slow: String) throws {
    try workplace.folder.write(
      """
      {"v": 1, "name": "mood",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "small", "kind": "classify", "options": {"model": "old.onnx"},
         "cost": {"fixed": "5ms"}},
        {"id": "large", "kind": "classify", "options": {"model": "new.onnx"},
         "cost": {"fixed": "\(slow)"}},
        {"id": "both", "kind": "join", "options": {"mode": "any", "ports": ["small", "large"]},
         "timeout": "20ms"},
        {"id": "mean", "kind": "mean-classes", "options": {"top": 6}},
        {"id": "labels", "kind": "results", "primary": true}],
       "edges": [
        {"from": "camera", "to": "small"}, {"from": "camera", "to": "large", "policy": "replace"},
        {"from": "small", "to": "both.small"}, {"from": "large", "to": "both.large"},
        {"from": "both", "to": "mean"}, {"from": "mean", "to": "labels"}]}
      """, to: "mood.json")
  }

  private struct Run: Equatable {
    /// The labels of each captured frame, without the part from `-` on, each once and in their
    /// order; empty for a frame that was dropped.
    var models: [[String]] = []
    /// The sum of the scores of each frame.
    var sums: [Double] = []
    var decisions: [String] = []
    var digests: [String?] = []

    var withoutSwaps: [String] { decisions.filter { !$0.contains(" swap") } }
  }

  private func run(_ options: String..., workers: Int = 2) throws -> Run {
    let result = try workplace.retake(
      words: [
        "replay", "yard", "--pipeline", "mood.json", "--mode", "simulate", "--output", "run",
        "--decisions", "lines.txt", "--workers", "\(workers)",
        "--json",
      ] + options)
    try #require(result.status == 0, "\(result.stderr)")
    let facts = try result.json()
    var run = Run(digests: [facts.decisionDigest.text, facts.resultDigest.text])
    func lines(_ path: String) throws -> [String] {
      try String(contentsOf: workplace.folder.file(path), encoding: .utf8)
        .split(separator: "\n").map(String.init)
    }
    run.decisions = try lines("lines.txt").filter { $0.hasPrefix("@") }
    for line in try lines("run/results-00000.gold") {
      if line.hasPrefix("F ") {
        run.models.append([])
        run.sums.append(0)
      } else if line.hasPrefix("C - ") {
        let parts = line.dropFirst(4).split(separator: "=")
        let model = String(parts[0].prefix { $0 != "-" })
        let last = run.models.count - 1
        if !run.models[last].contains(model) { run.models[last].append(model) }
        run.sums[last] += try #require(Double(parts[1]))
      }
    }
    return run
  }

  @Test func `a model takes another's place between two frames under load, and none is lost`()
    throws
  {
    try write("old")
    try write("new")
    try writeLoad()
    let plain = try run()
    let swap = #"swap:mood@frame3,prepare=80ms={"model": "new.onnx"}"#
    let swapped = try run("--override", swap)
    // Frame 3 arrives after 100 ms, so that frame 6, after 200 ms, is the first to arrive later.
    let expected = plain.models.enumerated().map { index, models in
      models.isEmpty ? [] : [index < 6 ? "old" : "new"]
    }
    #expect(plain.models.allSatisfy { $0.isEmpty || $0 == ["old"] })
    #expect(plain.models.contains([]), "nothing was dropped, so there was no load")
    #expect(swapped.models == expected)
    #expect(swapped.withoutSwaps == plain.decisions)
    #expect(swapped.decisions.count == plain.decisions.count + 2)
    for workers in Self.workers {
      #expect(try run("--override", swap, workers: workers) == swapped)
    }
  }

  /// Frames arrive each 33.3 ms, and the queue drops no frame: frame 4 arrives after 133.3 ms,
  /// frame 5 after 166.7.
  @Test(arguments: [(3, "0ms", 3), (3, "80ms", 6), (4, "33ms", 5), (4, "34ms", 6)])
  func `the new model has the first frame that arrives when it is prepared, and no earlier one`(
    frame: Int, prepare: String, first: Int
  ) throws {
    try write("old")
    try write("new")
    try writeLoad(cost: "5ms")
    let run = try run(
      "--override", "swap:mood@frame\(frame),prepare=\(prepare)={\"model\": \"new.onnx\"}")
    #expect(run.models == (0..<12).map { [$0 < first ? "old" : "new"] })
  }

  @Test func `a cache that the old model filled gives the new one nothing`() throws {
    try write("old")
    try write("new")
    try writeLoad()
    let swap = #"swap:mood@frame3,prepare=80ms={"model": "new.onnx"}"#
    let swapped = try run("--override", swap)
    let plain = try run("--cache", "auto")
    #expect(plain.models.allSatisfy { $0.isEmpty || $0 == ["old"] })
    for _ in 0..<2 { #expect(try run("--cache", "auto", "--override", swap) == swapped) }
    // Another model in the same file.
    try write("new", last: "Neg")
    let other = try run("--cache", "auto", "--override", swap)
    #expect(other.models == swapped.models && other.digests != swapped.digests)
    #expect(try run("--override", swap) == other)
  }

  @Test(arguments: [
    (#"{"model": "nothing.onnx"}"#, "nothing.onnx: the model cannot be read"),
    (#"{"model": "boxes.onnx"}"#, "returns no classes for 'classify'"),
    (#"{"model": "new.onnx", "input": {"color_space": "GRAY"}}"#, "GRAY has 1 channel"),
  ])
  func `a model that does not fit is refused before the first frame`(
    options: String, says: String
  ) throws {
    try write("old")
    try write("new")
    try OnnxModelFile.squares.write(
      "boxes", sidecar: OnnxModelFile.squaresSidecar, into: workplace.folder)
    try writeLoad()
    let before = try workplace.listing()
    let result = try workplace.retake(
      "replay", "yard", "--pipeline", "mood.json", "--mode", "simulate", "--output", "run",
      "--override", "swap:mood@frame3=\(options)")
    #expect(result.status == 2)
    #expect(result.stderr.contains("the override 'swap:mood@frame3="), "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(try workplace.listing() == before)
  }

  @Test func `two models vote, and one that is late does not hold the other up`() throws {
    try write("old")
    try write("new")
    try writeEnsemble(slow: "15ms")
    let both = try run()
    #expect(both.models.count == 12 && both.models.allSatisfy { Set($0) == ["old", "new"] })
    #expect(both.sums.allSatisfy { abs($0 - 1) < 0.01 })
    try writeEnsemble(slow: "30ms")
    let late = try run()
    #expect(late.models == Array(repeating: ["old"], count: 12))
    #expect(late.sums.allSatisfy { abs($0 - 1) < 0.01 })
    for workers in Self.workers { #expect(try run(workers: workers) == late) }
  }
}
