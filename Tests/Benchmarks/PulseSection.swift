import Foundation
import RetakeInference
import RetakeTestSupport

/// The durations of the five stages of a pulse on frames of 640x480, from recorded timings, and the
/// latency that follows from the timings with a throttle and without a throttle.
///
/// The stages are the stages of a published glucose meter: find the fingertip; mean colors and
/// their spectrum; band-pass; beats and their variability; regression by a tree ensemble.
struct PulseSection {
  /// The published mean of each stage on a phone is in `note`.
  private static let stages: [(name: String, nodes: Set<String>)] = [
    ("finger", ["finger"]), ("spectrum", ["means", "resample", "signal", "rate"]),
    ("band", ["level", "band"]), ("beats", ["beats"]), ("regression", ["numbers", "glucose"]),
  ]
  private static let note =
    "pulse: the published phone takes 2.1 + 4.3 + 1.8 + 3.2 + 5.1 = 16.5 ms, p99 22 ms; at 15 frames "
    + "a second p99 18 ms"
  private static let features = ["rate.bpm", "rate.quality", "beats.rmssd", "beats.sdnn"]

  let scale: Scale

  func run() throws -> SectionReport {
    let folder = try TemporaryFolder("retake-bench-pulse")
    let hasLibrary = (try? OnnxLibrary.load()) != nil
    try write(to: folder, hasLibrary: hasLibrary)
    let frames = scale.count(900, tiny: 240)
    let size = scale.isTiny ? "64x48" : "640x480"
    let record = ["record", "synthetic:pulse", "--name", "finger", "--speed", "max"]
    try retake(record + ["--frames", "\(frames)", "--size", size], in: folder)
    let replay = ["replay", "finger", "--pipeline", "pulse.json", "--json"]
    let run = try retake(replay + ["--write-timings", "pulse.timings"], in: folder)
    let timings = try Timings(
      String(contentsOf: folder.file("pulse.timings"), encoding: .utf8),
      // Before, the window of ten seconds is not full, and less is computed.
      from: scale.count(300, tiny: 200))
    let sweep = try retake(
      replay + ["--costs", "timings:pulse.timings", "--sweep", "pace.fps=15|1000"], in: folder)
    var report = SectionReport(
      name: "pulse",
      title:
        "The five stages of a pulse, 640x480: processor time from timings; latency by those timings "
        + "at 15 and 30 frames a second",
      hash: try JSONDecoder().decode(Run.self, from: run).resultDigest)
    report.figures = figures(timings, try JSONDecoder().decode(Sweep.self, from: sweep))
    report.notes = [Self.note]
    if !hasLibrary {
      report.notes.append("pulse: without the regression, which needs ONNX Runtime")
    }
    return report
  }

  private func figures(_ timings: Timings, _ sweep: Sweep) -> [Figure] {
    func figure(_ name: String, _ nanoseconds: Double) -> Figure {
      Figure(name: "pulse.\(name)", value: nanoseconds / 1e6, unit: "ms")
    }
    let latencies = sweep.rows.compactMap(\.figures.latency?.p99Nanoseconds)
    return Self.stages.map { figure($0.name, timings.mean(of: $0.nodes)) } + [
      figure("mean", timings.mean(of: nil)), figure("p99", timings.p99),
    ] + zip(["throttled.p99", "unthrottled.p99"], latencies).map { figure($0, $1) }
  }

  @discardableResult
  private func retake(_ words: [String], in folder: TemporaryFolder) throws -> Data {
    let result = try runCommand(
      Program.retake, arguments: words, environment: ["CI": nil], folder: folder.url,
      timeoutSeconds: 600)
    guard result.status == 0 else {
      throw Program.Failed(description: "retake \(words.joined(separator: " ")): \(result.stderr)")
    }
    return result.stdoutBytes
  }

  private func write(to folder: TemporaryFolder, hasLibrary: Bool) throws {
    try OnnxModelFile.forest(trees: 100, depth: 6, features: Self.features.count).write(
      "glucose",
      sidecar: """
        {"v": 1, "input": {"features": ["\(Self.features.joined(separator: "\", \""))"]},
         "output": {"decoder": "regression"}, "labels": ["glucose"]}
        """, into: folder)
    let regression =
      #"{"id": "glucose", "kind": "regress", "options": {"model": "glucose.onnx"}}, "#
    let last = hasLibrary ? "glucose" : "numbers"
    try folder.write(
      """
      {"v": 1, "name": "pulse",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "pace", "kind": "throttle", "options": {"fps": 1000}},
        {"id": "finger", "kind": "find-fingertip"},
        {"id": "found", "kind": "join", "options": {"ports": ["frame", "finger"]}},
        {"id": "means", "kind": "region-means"},
        {"id": "resample", "kind": "resample"},
        {"id": "signal", "kind": "pulse-signal", "options": {"method": "red"}},
        {"id": "level", "kind": "detrend"},
        {"id": "band", "kind": "bandpass"},
        {"id": "rate", "kind": "pulse-rate"},
        {"id": "beats", "kind": "heart-variability"},
        {"id": "both", "kind": "join", "options": {"ports": ["rate", "beats"]}},
        {"id": "numbers", "kind": "merge-scalars"}, \(hasLibrary ? regression : "")
        {"id": "result", "kind": "results"}],
       "edges": [
        {"from": "camera", "to": "pace"}, {"from": "pace", "to": "finger"},
        {"from": "pace", "to": "found.frame"}, {"from": "finger", "to": "found.finger"},
        {"from": "found", "to": "means"}, {"from": "means", "to": "resample"},
        {"from": "resample", "to": "signal"}, {"from": "signal", "to": "level"},
        {"from": "level", "to": "band"}, {"from": "band", "to": "rate"},
        {"from": "band", "to": "beats"}, {"from": "rate", "to": "both.rate"},
        {"from": "beats", "to": "both.beats"}, {"from": "both", "to": "numbers"},
        \(hasLibrary ? #"{"from": "numbers", "to": "glucose"},"# : "")
        {"from": "\(last)", "to": "result"}]}
      """, to: "pulse.json")
  }

  private struct Run: Decodable { var resultDigest: String }

  private struct Sweep: Decodable {
    struct Row: Decodable {
      struct Figures: Decodable {
        struct Latency: Decodable { var p99Nanoseconds: Double }
        var latency: Latency?
      }
      var figures: Figures
    }
    var rows: [Row]
  }
}

/// The costs of timings from a frame on; docs/costs.md has the format.
private struct Timings {
  private var frames: [String: [String: Double]] = [:]

  init(_ text: String, from first: Int) throws {
    for line in text.split(separator: "\n") where line.hasPrefix("S ") {
      let fields = line.split(separator: " ")
      guard fields.count == 9, let number = fields[2].split(separator: ":").last,
        let sequence = Int(number), let start = Double(fields[4]), let end = Double(fields[5])
      else { throw Program.Failed(description: "the timings have the line '\(line)'") }
      guard sequence >= first else { continue }
      frames[String(fields[2]), default: [:]][String(fields[1])] = end - start
    }
  }

  /// The sum of these nodes, or of all, in nanoseconds a frame.
  func mean(of nodes: Set<String>?) -> Double {
    let sums = frames.values.map { costs in
      costs.reduce(0.0) { nodes?.contains($1.key) ?? true ? $0 + $1.value : $0 }
    }
    return sums.reduce(0, +) / Double(max(1, sums.count))
  }

  /// Of all nodes together, by nearest rank.
  var p99: Double {
    let sums = frames.values.map { $0.values.reduce(0, +) }.sorted()
    return sums.isEmpty ? 0 : sums[(sums.count * 99 + 99) / 100 - 1]
  }
}

extension OnnxModelFile {
  /// Trees that each compare the features with drawn numbers, as a gradient booster writes them.
  fileprivate static func forest(trees: Int, depth: Int, features: Int) -> OnnxModelFile {
    var generator = SeededGenerator(seed: 18)
    let (inner, all) = (1 << depth - 1, 2 << depth - 1)
    let nodes = (0..<trees).flatMap { tree in (0..<all).map { (tree: tree, node: $0) } }
    let leaves = nodes.filter { $0.node >= inner }
    func integers(_ value: ((tree: Int, node: Int)) -> Int) -> Attribute {
      .integers(nodes.map { Int64(value($0)) })
    }
    return OnnxModelFile(
      inputs: [Port("x", .float, ["batch", .fixed(Int64(features))])],
      outputs: [Port("y", .float, ["batch", 1])],
      nodes: [
        Node(
          "TreeEnsembleRegressor", domain: "ai.onnx.ml", inputs: ["x"], outputs: ["y"],
          [
            "n_targets": .integer(1), "nodes_treeids": integers { $0.tree },
            "nodes_nodeids": integers { $0.node },
            "nodes_featureids": integers { $0.node < inner ? ($0.tree + $0.node) % features : 0 },
            "nodes_values": .floats(
              nodes.map { $0.node < inner ? Float(generator.pick(0...120)) : 0 }),
            "nodes_modes": .strings(nodes.map { $0.node < inner ? "BRANCH_LEQ" : "LEAF" }),
            "nodes_truenodeids": integers { $0.node < inner ? 2 * $0.node + 1 : 0 },
            "nodes_falsenodeids": integers { $0.node < inner ? 2 * $0.node + 2 : 0 },
            "target_treeids": .integers(leaves.map { Int64($0.tree) }),
            "target_nodeids": .integers(leaves.map { Int64($0.node) }),
            "target_ids": .integers(leaves.map { _ in 0 }),
            "target_weights": .floats(leaves.map { _ in Float(generator.pick(-100...100)) / 50 }),
          ])
      ])
  }
}
