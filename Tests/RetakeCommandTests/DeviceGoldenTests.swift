import Foundation
import RetakeTestSupport
import Testing

/// Goldens of a case whose model a device computes: modelled devices, so that no test needs one.
@Suite(.enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason))
struct DeviceGoldenTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.record("yard", frames: 24, size: "64x48")
    let model = OnnxModelFile(
      inputs: [.init("images", .float, [1, 3, 8, 8])], outputs: [.init("levels", .float, [1, 3])],
      nodes: [
        .init("GlobalAveragePool", inputs: ["images"], outputs: ["mean"]),
        .init("Flatten", inputs: ["mean"], outputs: ["levels"]),
      ])
    try model.write(to: workplace.folder.file("m.onnx"))
    try workplace.folder.write(
      "v: 1\ncases:\n  level: {pipeline: level.json}\n", to: "retake.yml")
    try writePipeline(provider: "modelled:card.json")
    try write(Card("card-a"))
    try shift(0)
  }

  /// The description of a modelled device.
  struct Card {
    var name: String
    var noise = 0.0
    var seed = 7
    var driver = "1.2"
    var engine: String?

    init(
      _ name: String, noise: Double = 0, seed: Int = 7, driver: String = "1.2",
      engine: String? = nil
    ) {
      (self.name, self.noise, self.seed) = (name, noise, seed)
      (self.driver, self.engine) = (driver, engine)
    }
  }

  private func writePipeline(provider: String) throws {
    try workplace.folder.write(
      """
      {"v": 1, "name": "level",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "level", "kind": "infer",
         "options": {"model": "m.onnx", "provider": "\(provider)"}},
        {"id": "numbers", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "level"}, {"from": "level", "to": "numbers"}]}
      """, to: "level.json")
  }

  private func write(_ card: Card) throws {
    var engine = ""
    if let bytes = card.engine {
      try workplace.folder.write(bytes, to: "card.engine")
      engine = #", "engine": "card.engine""#
    }
    try workplace.folder.write(
      """
      {"v": 1, "name": "\(card.name)", "noise": \(card.noise), "seed": \(card.seed),
       "driver": "\(card.driver)"\(engine)}
      """, to: "card.json")
  }

  /// Lowers each number of the model by this much: a regression.
  private func shift(_ levels: Double) throws {
    try workplace.folder.write(
      #"{"v": 1, "input": {"mean_values": [\#(levels)]}, "output": {"decoder": "regression"}}"#,
      to: "m.model.json")
  }

  private func test() throws -> CommandResult { try workplace.retake("test") }

  private func accept(_ options: String...) throws {
    let result = try workplace.retake(words: ["accept", "--reason", "x"] + options)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private var golden: URL { workplace.folder.file("Goldens/yard/level/golden.yml") }

  /// A golden of card-a, and a tolerance that was fitted to a run of card-b.
  private func fit() throws -> (largest: Double, allowed: Double) {
    try #require(test().status == 3)
    try accept()
    try write(Card("card-b", noise: 1e-4))
    try #require(
      workplace.retake("replay", "yard", "--pipeline", "level", "--output", "b").status == 0)
    let result = try workplace.retake(
      "golden", "calibrate", "--runs", "0", "--run", "b", "--json")
    try #require(result.status == 0, "\(result.stderr)")
    let row = try result.json()[0].rows[0]
    #expect(row.sink.text == "numbers" && row.quantity.text == "scalar")
    #expect(row.devices.text == "between card-a, driver 1.2 and card-b, driver 1.2")
    return (
      try #require(row.largest.number), try #require(row.allowed.number)
    )
  }

  /// A run that is compared with the golden of `fit`.
  struct Planted {
    var card: Card
    var shift = 0.0
    /// The tolerance in golden.yml, in steps of 0.001 from the largest error that was measured;
    /// `nil` for the one that was fitted.
    var stepsFromLargest: Double?
    var status: Int32
    var words = ""

    init(
      _ card: Card, shift: Double = 0, stepsFromLargest: Double? = nil, status: Int32,
      _ words: String = ""
    ) {
      (self.card, self.shift, self.stepsFromLargest) = (card, shift, stepsFromLargest)
      (self.status, self.words) = (status, words)
    }
  }

  /// The largest noise of card-b was fitted with 1e-4.
  private static var planted: [Planted] { belowAndAt + above + otherDevices + regressions }

  private static var belowAndAt: [Planted] {
    var runs: [Planted] = []
    for noise: Double in [0, 1e-6, 1e-5, 2e-5, 5e-5] {
      for seed in 1...3 {
        runs.append(Planted(Card("card-b", noise: noise, seed: seed), status: 0))
      }
    }
    let fitted = Card("card-b", noise: 1e-4)
    runs.append(Planted(fitted, status: 0, noise))
    runs.append(Planted(fitted, stepsFromLargest: 0, status: 0, "is 1.0 x the noise"))
    runs.append(Planted(fitted, stepsFromLargest: 1, status: 0))
    runs.append(Planted(fitted, stepsFromLargest: -1, status: 1))
    return runs
  }

  private static var above: [Planted] {
    var runs: [Planted] = []
    for size: Double in [1e-3, 5e-3, 1e-2] {
      for seed in 1...2 {
        runs.append(Planted(Card("card-b", noise: size, seed: seed), status: 1, noise))
      }
    }
    return runs
  }

  /// Not comparable, whatever their noise is.
  private static var otherDevices: [Planted] {
    var runs: [Planted] = []
    for noise: Double in [0, 1e-5, 1e-4, 1e-2] {
      let words = "another card of 'level': card-c, the golden has card-a"
      runs.append(Planted(Card("card-c", noise: noise), status: 5, words))
    }
    for noise: Double in [0, 1e-5, 1e-2] {
      let words = "another driver of 'level': 1.3, the golden has 1.2"
      runs.append(Planted(Card("card-b", noise: noise, driver: "1.3"), status: 5, words))
    }
    runs.append(Planted(Card("card-a", driver: "1.3"), status: 5, "another driver of 'level'"))
    for card in [
      Card("card-a", engine: "one"), Card("card-b", engine: "one"),
      Card("card-b", noise: 1e-4, engine: "two"),
    ] {
      runs.append(Planted(card, status: 5, "another engine of 'level': "))
    }
    return runs
  }

  /// Changes of the model in the noise, smaller than the noise, and without noise.
  private static var regressions: [Planted] {
    [
      Planted(Card("card-b", noise: 1e-4), shift: 0.05, status: 1, noise),
      Planted(Card("card-b", noise: 1e-4), shift: 0.5, status: 1, "m.model.json changed"),
      Planted(Card("card-b", noise: 1e-5), shift: 0.05, status: 1, noise),
      Planted(Card("card-b"), shift: 0.002, status: 0, "the largest difference is 0."),
      Planted(Card("card-a"), shift: 0.002, status: 1),
      Planted(Card("card-a"), status: 0),
    ]
  }

  private static let noise = " x the noise measured between card-a, driver 1.2 and card-b"

  @Test func `each of forty planted runs gets the right verdict`() throws {
    let (largest, allowed) = try fit()
    let accepted = try String(contentsOf: golden, encoding: .utf8)
    try #require(accepted.contains("allowed: \(allowed)"), "\(accepted)")
    let all = Self.planted
    #expect(all.count >= 40)
    for (number, planted) in all.enumerated() {
      try write(planted.card)
      try shift(planted.shift)
      let steps = planted.stepsFromLargest.map { largest + $0 * 0.001 }
      try workplace.folder.write(
        accepted.replacing("allowed: \(allowed)", with: "allowed: \(steps ?? allowed)"),
        to: "Goldens/yard/level/golden.yml")
      let result = try test()
      #expect(
        result.status == planted.status
          && (planted.words.isEmpty || result.stdout.contains(planted.words)),
        "\(number): \(planted) \(result.stdout)")
    }
  }

  @Test func `a result of another device is accepted in addition to the golden`() throws {
    #expect(try test().status == 3)
    try accept()
    let devices = #"devices: {level: {provider: modelled, card: card-a, driver: "1.2"}}"#
    #expect(try String(contentsOf: golden, encoding: .utf8).contains(devices))
    try write(Card("card-c", noise: 1e-3))
    let other = try test()
    #expect(other.status == 5)
    #expect(other.stdout.contains("retake accept --alternate; or fit a"), "\(other.stdout)")
    #expect(other.stdout.contains("retake accept yard/level --alternate"), "\(other.stdout)")
    #expect(other.stdout.contains("retake golden calibrate yard"), "\(other.stdout)")
    let refused = try workplace.retake("accept", "--reason", "x")
    #expect(refused.status == 2 && refused.stderr.contains("[suite.accept.replacesOther]"))
    try accept("--alternate")
    let alternate = try test()
    #expect(alternate.status == 0, "\(alternate.stdout)")
    #expect(alternate.stdout.contains("compared with the alternate for"))
    try write(Card("card-a"))
    #expect(try test().status == 0)
    // The processor is a device like any other.
    try writePipeline(provider: "CPUExecutionProvider")
    let processor = try test()
    #expect(processor.status == 5)
    #expect(
      processor.stdout.contains(
        "another provider of 'level': CPUExecutionProvider, the golden has modelled"),
      "\(processor.stdout)")
  }

  @Test func `an acceptance from another device drops the noise of the old one`() throws {
    _ = try fit()
    #expect(try String(contentsOf: golden, encoding: .utf8).contains("fitted: [{at: "))
    try write(Card("card-c"))
    #expect(try test().status == 5)
    try accept("--replace")
    let text = try String(contentsOf: golden, encoding: .utf8)
    #expect(text.contains("card: card-c") && !text.contains("fitted"), "\(text)")
  }

  @Test func `the noise of devices is measured without a golden`() throws {
    try write(Card("card-b", noise: 1e-4))
    try #require(
      workplace.retake("replay", "yard", "--pipeline", "level", "--output", "b").status == 0)
    try write(Card("card-a"))
    let words = ["verify", "yard", "--pipeline", "level", "--device-noise", "3", "--run", "b"]
    let result = try workplace.retake(words: words)
    #expect(result.status == 0, "\(result.stderr)")
    let lines = result.stdout.split(separator: "\n")
    try #require(lines.count == 3, "\(result.stdout)")
    #expect(
      lines[0] == "yard/level  on card-a, driver 1.2, 2 runs compared with the first: "
        + "no number differs")
    #expect(
      lines[1] == "yard/level  between card-a, driver 1.2 and card-b, driver 1.2, "
        + "1 run compared with the first")
    #expect(lines[2].hasPrefix("  numbers.scalar (level): "), "\(lines[2])")
    #expect(lines[2].contains(" of 24 frames differ, median "))
    let report = try workplace.retake(words: words + ["--json"]).json()
    let row = report["items"][1].rows[0]
    let figures = try ["median", "p99", "largest", "tolerance"].map {
      try #require(row[$0].number)
    }
    #expect(figures == figures.sorted() && figures[0] > 0 && figures[2] <= 0.013)
    // The measured tolerance is the one that is fitted.
    #expect(try test().status == 3)
    try accept()
    let fitted = try workplace.retake(
      "golden", "calibrate", "--runs", "0", "--run", "b", "--json")
    #expect(try fitted.json()[0].rows[0].allowed.number == figures[3])
  }

  @Test func `options of the measurement that mean nothing are refused`() throws {
    let alone = try workplace.retake("verify", "yard", "--pipeline", "level", "--run", "b")
    #expect(alone.status == 64 && alone.stderr.contains("--device-noise 1"))
    let one = try workplace.retake("verify", "yard", "--pipeline", "level", "--device-noise", "1")
    #expect(one.status == 64 && one.stderr.contains("--device-noise 10"))
    let missing = try workplace.retake(
      "verify", "yard", "--pipeline", "level", "--device-noise", "1", "--run", "nowhere")
    #expect(missing.status == 2 && missing.stderr.contains("[suite.diff.noGolden]"))
  }

  @Test(arguments: [
    ("modelled", "names no device"), ("modelled:none.json", "[inference.device.unreadable]"),
    ("modelled:wrong.json", "a noise is 0 to 1"),
    ("modelled:engine.json", "[inference.engine.unreadable]"),
  ])
  func `a device that cannot be used is named before the first frame`(
    provider: String, words: String
  ) throws {
    try workplace.folder.write(#"{"v": 1, "name": "x", "noise": 2}"#, to: "wrong.json")
    try workplace.folder.write(#"{"v": 1, "name": "x", "engine": "none"}"#, to: "engine.json")
    try writePipeline(provider: provider)
    let result = try workplace.retake("replay", "yard", "--pipeline", "level")
    #expect(result.status == 2)
    #expect(result.stderr.contains(words), "\(result.stderr)")
  }
}
