import RetakeCompare
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeGolden

/// Goldens and runs whose models several devices compute.
@Suite struct DeviceNoiseTests {
  private static let cardA = ModelDevice(provider: "modelled", card: "card-a", driver: "1.2")
  private static let cardB = ModelDevice(provider: "modelled", card: "card-b", driver: "1.2")

  private func run(_ device: ModelDevice?, score: Double = 0.9132) -> SampleRun {
    var run = SampleRun()
    run.manifest.models = ["m.onnx": "00"]
    if let device { run.manifest.devices = ["motion": device] }
    run.setFacts([SampleRun.box(2, score: score)], at: 2)
    return run
  }

  private func golden(fitted: Double? = nil, largest: Double = 0.002) -> SampleRun {
    var golden = run(Self.cardA)
    golden.manifest.fitted =
      fitted.map { allowed in
        [
          .init(
            at: "2026-11-28", sink: "boxes", quantity: "score", largest: largest, allowed: allowed,
            conditions: ["b"], devices: ["motion": Self.cardB])
        ]
      } ?? []
    return golden
  }

  @Test func `devices and their tolerances are read as they were written`() throws {
    var manifest = golden(fitted: 0.003).manifest
    manifest.devices["faces/x"] = ModelDevice(
      provider: "TensorrtExecutionProvider", engine: String(repeating: "0", count: 64))
    let text = manifest.text
    #expect(
      text.contains(
        "devices: {faces/x: {provider: TensorrtExecutionProvider, engine: \"0000"), "\(text)")
    #expect(
      text.contains(
        "fitted: [{at: 2026-11-28, devices: {motion: {provider: modelled, card: card-b, "
          + "driver: \"1.2\"}}, sink: boxes, quantity: score, largest: 0.002, allowed: 0.003, "
          + "conditions: [b]}]"), "\(text)")
    #expect(try GoldenManifest(parsing: text, file: "golden.yml") == manifest)
    let empty = #expect(throws: GoldenError.self) {
      try GoldenManifest(
        parsing: text.replacing("card: card-b", with: "card: \"\""), file: "golden.yml")
    }
    #expect(empty?.place?.pointer == "/fitted/0/devices/motion/card", "\(empty as Any)")
    manifest.devices = [:]
    #expect(!manifest.text.contains("\ndevices:"))
  }

  @Test func `each field of the device belongs to the platform`() {
    let models = ["m.onnx": "00"]
    func name(_ device: ModelDevice?) -> String {
      PlatformKey.name(
        "linux", kernels: .avx2, models: models,
        devices: device.map { ["motion": $0] } ?? [:])
    }
    var engine = Self.cardA
    engine.engine = "ab"
    var driver = Self.cardA
    driver.driver = "1.3"
    let names = [Self.cardA, Self.cardB, engine, driver].map { name($0) }
    #expect(Set(names).count == 4 && names.allSatisfy { $0.hasPrefix("linux-avx2-device-") })
    #expect(name(nil) == "linux-avx2")
  }

  @Test func `another device is not comparable, and each field that differs is named`() throws {
    var driver = Self.cardA
    driver.driver = "1.3"
    var engine = Self.cardA
    engine.engine = String(repeating: "ab", count: 32)
    for (device, words) in [
      (Self.cardB, "another card of 'motion': card-b, the golden has card-a"),
      (driver, "another driver of 'motion': 1.3, the golden has 1.2"),
      (engine, "another engine of 'motion': abababababab…, the golden has none"),
      (nil, "another provider of 'motion': CPUExecutionProvider, the golden has modelled"),
    ] {
      let comparison = try SampleFolders.compare(golden(), run(device))
      #expect(comparison.verdict == .notComparable && comparison.isOtherDevice)
      #expect(comparison.reasons.first == words)
      #expect(comparison.reasons.last == DeviceNoise.advice)
    }
    let processor = try SampleFolders.compare(run(nil), run(Self.cardB))
    #expect(processor.verdict == .notComparable && processor.isOtherDevice)
    // A different session is not a matter of the device.
    var other = run(Self.cardB)
    other.manifest.input.digest = .zero
    let comparison = try SampleFolders.compare(golden(), other)
    #expect(comparison.verdict == .notComparable && !comparison.isOtherDevice)
  }

  @Test(arguments: [
    (0.9132, Verdict.passed), (0.9161, .passed), (0.9162, .passed), (0.9163, .changed),
    (0.9102, .passed), (0.9101, .changed), (0.5, .changed),
  ])
  func `the tolerance of a pair is exact, and applies to this pair alone`(
    score: Double, verdict: Verdict
  ) throws {
    let pair = try SampleFolders.compare(golden(fitted: 0.003), run(Self.cardB, score: score))
    #expect(pair.verdict == verdict)
    let own = try SampleFolders.compare(golden(fitted: 0.003), run(Self.cardA, score: score))
    #expect(own.verdict == (score == 0.9132 ? .passed : .changed))
    var later = Self.cardB
    later.driver = "1.3"
    let other = try SampleFolders.compare(golden(fitted: 0.003), run(later, score: score))
    #expect(other.verdict == .notComparable)
  }

  @Test func `a note says how much of the noise a difference is`() throws {
    func note(_ score: Double) throws -> [String] {
      try SampleFolders.compare(golden(fitted: 0.003), run(Self.cardB, score: score)).notes
        .filter { $0.contains("noise") }
    }
    let place = "between card-a, driver 1.2 and card-b, driver 1.2 (0.002)"
    #expect(
      try note(0.9138)
        == ["boxes.score: the largest difference is 0.3 x the noise measured \(place)"])
    #expect(
      try note(0.9412)
        == ["boxes.score: the largest difference is 14 x the noise measured \(place)"])
    #expect(try note(0.9132).isEmpty)
    // The other device is suspected before the code.
    let changed = try SampleFolders.compare(golden(fitted: 0.003), run(Self.cardB, score: 0.5))
    #expect(changed.suspects.first == "another card of 'motion': card-b, the golden has card-a")
    #expect(changed.rootCauses.first?.origin == .environment)
  }

  @Test func `a stage that one pipeline lacks is no other device`() throws {
    var added = run(Self.cardA)
    added.manifest.devices["faces"] = Self.cardB
    #expect(try SampleFolders.compare(golden(), added).verdict == .passed)
    #expect(try SampleFolders.compare(added, run(Self.cardA)).verdict == .passed)
  }

  @Test func `new evidence replaces evidence of the same devices alone`() throws {
    let folders = try SampleFolders()
    try golden(fitted: 0.003).write(to: folders.golden)
    let rules = try folders.golden.manifest().compare
    func fit(_ allowed: Double, _ device: ModelDevice?) -> GoldenManifest.Fit {
      .init(
        at: "2026-11-29", sink: "boxes", quantity: "score", largest: 0.001, allowed: allowed,
        conditions: ["c"], devices: device.map { ["motion": $0] } ?? [:])
    }
    let cardC = ModelDevice(provider: "modelled", card: "card-c")
    try folders.golden.setRules(rules, fitted: [fit(0.01, cardC)])
    #expect(try folders.golden.manifest().fitted.map(\.allowed) == [0.01, 0.003])
    try folders.golden.setRules(rules, fitted: [fit(0.02, Self.cardB)])
    #expect(try folders.golden.manifest().fitted.map(\.allowed) == [0.02, 0.01])
    try folders.golden.setRules(rules, fitted: [fit(0.03, nil)])
    #expect(try folders.golden.manifest().fitted.map(\.allowed) == [0.03, 0.02, 0.01])
    // An acceptance on the golden's device keeps them, and one on another device does not.
    try run(Self.cardA, score: 0.5).write(to: folders.golden.pending)
    try folders.golden.accept(.init(at: "2026-11-29", reason: "same card"))
    #expect(try folders.golden.manifest().fitted.count == 3)
    try run(Self.cardB, score: 0.4).write(to: folders.golden.pending)
    try folders.golden.accept(.init(at: "2026-11-29", reason: "another card"))
    #expect(try folders.golden.manifest().fitted.map(\.allowed) == [0.03])
  }
}
