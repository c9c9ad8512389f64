import Foundation
import RetakeCompare
import RetakeCore
import Testing

@testable import RetakeGolden

@Suite struct ManifestTests {
  static let example = """
    v: 1
    input: {session: yard, digest: 1f0c5b7a9d3e42c88a6650f3e1b7d204, tracks: {camera: 0}, frames: 6, timeBase: {0: 1/30000}}
    case: {name: motion, pipeline: Pipelines/motion-boxes.json, mode: every-frame, costs: none, seed: 0, overrides: {}}
    pipeline: {name: motion-boxes, digest: 9a1140c2b7e85d3366f0ab14c95d7e01, nodes: [camera, grey, motion, boxes]}
    models: {}
    precision: {boxes: {box: 0.1, score: 0.0001}}
    compare: {boxes: {mode: boxes, iou: 0.5, position: 0, score: 0, unmatchedMax: 0, driftPer1000: 0, order: any}}
    budgets: {droppedMax: 0}
    summary: {captured: 6, delivered: 6, facts: 4, decisions: 18, decisionDigest: 51c00000000000000000000000000000, resultDigest: 77ab0000000000000000000000000000}
    accepted: [{at: 2026-11-21, reason: first golden, rootCauses: [], frames: 6, maxError: 0}]

    """

  @Test func `the example of the format reads and writes as it stands`() throws {
    let manifest = try GoldenManifest(parsing: Self.example, file: "golden.yml")
    #expect(manifest.text == Self.example)
    #expect(manifest.key == "yard/motion" && manifest.budgets.droppedMax == 0)
    #expect(manifest.compare.bySink["boxes"] == .standard)
    #expect(manifest.accepted.first?.reason == "first golden")
  }

  @Test func `texts that look like something else come back as they were`() throws {
    var manifest = try GoldenManifest(parsing: Self.example, file: "golden.yml")
    manifest.input.digest = Digest128(high: 0x1234_5678_9012_3456, low: 0x7890_1234_5678_9012)
    manifest.pipeline.digest = Digest128(high: 0x1234_5678_9012_34e6, low: 0x7890_1234_5678_9012)
    manifest.testCase.seed = .max
    manifest.testCase.overrides = ["a: b": .string("12"), "n": .number(0.5), "t": .bool(true)]
    manifest.models = ["größe": "yes", "x": "- {"]
    manifest.programs = ["a b.py": "12", "y": "no"]
    manifest.accepted = ["null", " lead", "two\nlines", "a: b", "#", "1e3"].map {
      .init(at: "2026-11-21", reason: $0, rootCauses: ["motion@0:12"], frames: 1, maxError: 0.4)
    }
    manifest.expected = [.init(id: "7", frames: "12", url: "https://example.org/7?a=b#c")]
    #expect(try GoldenManifest(parsing: manifest.text, file: "golden.yml") == manifest)
  }

  @Test func `damaged frames are written after the digests, and named by their span`() throws {
    var manifest = try GoldenManifest(parsing: Self.example, file: "golden.yml")
    let (first, last) = (FrameID(track: 0, sequence: 2), FrameID(track: 0, sequence: 4))
    manifest.summary.damaged = .init(frames: 3, first: first, last: last)
    #expect(manifest.text.contains(#"00, damaged: {frames: 3, first: "0:2", last: "0:4"}}"#))
    #expect(try GoldenManifest(parsing: manifest.text, file: "golden.yml") == manifest)
    func text(_ frames: Int, _ last: FrameID) -> String {
      GoldenManifest.Damage(frames: frames, first: first, last: last).text(of: 6)
    }
    let many = "3 of 6 frames are damaged in the session and have no results: "
    #expect(text(3, last) == many + "0:2 to 0:4")
    #expect(text(3, FrameID(track: 0, sequence: 5)) == many + "between 0:2 and 0:5")
    #expect(text(3, FrameID(track: 1, sequence: 4)) == many + "between 0:2 and 1:4")
    #expect(text(1, first) == "1 of 6 frames is damaged in the session and has no results: 0:2")
  }

  @Test func `what YAML 1-1 takes for a number is quoted, and a digest that begins alike is not`()
    throws
  {
    for text in ["0b11", "+0b1_0", "0x1f", "0o17", "1_000", "1e3", "017"] {
      #expect(FlowYAML.scalar(text) == "\"\(text)\"")
    }
    let digest = "0b10110a7c0e42c88a6650f3e1b7d204"
    for text in [digest, "0b", "0b12", "2026-11-21", "b11"] {
      #expect(FlowYAML.scalar(text) == text)
    }
    var manifest = try GoldenManifest(parsing: Self.example, file: "golden.yml")
    let plain = manifest.text
    manifest.accepted[0].reason = "0b11"
    #expect(manifest.text == plain.replacing("first golden", with: "\"0b11\""))
    // Plain, as an earlier version wrote it, and quoted are the same string.
    for text in [manifest.text, plain.replacing("first golden", with: "0b11")] {
      #expect(try GoldenManifest(parsing: text, file: "golden.yml") == manifest)
    }
  }

  @Test func `an unknown key is an error with a suggestion`() throws {
    let text = Self.example.replacing("unmatchedMax", with: "unmachedMax")
    let error = #expect(throws: GoldenError.self) {
      try GoldenManifest(parsing: text, file: "golden.yml")
    }
    #expect(
      error?.description
        == "golden.yml, at /compare/boxes/unmachedMax: unknown key 'unmachedMax'. Did you mean 'unmatchedMax'?"
    )
  }

  @Test func `a rule or a step of a sink that is not there names the likely one`() throws {
    for (old, pointer) in [
      ("compare: {boxes:", "/compare/boxse"), ("precision: {boxes:", "/precision/boxse"),
    ] {
      let text = Self.example.replacing(old, with: old.replacing("boxes:", with: "boxse:"))
      let error = #expect(throws: GoldenError.self) {
        try GoldenManifest(parsing: text, file: "golden.yml")
      }
      #expect(error?.place == Place(file: "golden.yml", pointer: pointer))
      #expect(error?.message == "the pipeline has no sink 'boxse'")
      #expect(error?.advice == "Did you mean 'boxes'?")
    }
  }

  @Test(arguments: [
    "", "\u{0}\u{1}garbage", "v: [1", "- 1\n- 2\n", "v: 1\n", "{{{", "v: 1\ninput: 3\n",
  ])
  func `garbage comes with advice`(text: String) throws {
    for (file, advice) in [
      ("Goldens/golden.yml", "git checkout"), ("Goldens/golden.yml.new", "retake test"),
    ] {
      let error = #expect(throws: GoldenError.self) {
        try GoldenManifest(parsing: text, file: file)
      }
      #expect(error?.advice?.contains(advice) == true, "\(String(describing: error))")
    }
  }

  @Test func `each wrong document is a typed error with its place`() throws {
    func check(_ from: String, _ to: String, _ pointer: String) {
      let text = Self.example.replacing(from, with: to)
      let error = #expect(throws: GoldenError.self) {
        try GoldenManifest(parsing: text, file: "golden.yml")
      }
      #expect(
        error?.place == Place(file: "golden.yml", pointer: pointer),
        "\(to): \(String(describing: error))")
    }
    check("v: 1\n", "", "")
    check("frames: 6, timeBase", "frames: six, timeBase", "/input/frames")
    check("1f0c5b7a", "xyz", "/input/digest")
    check("{camera: 0}", "{camera: left}", "/input/tracks/camera")
    check("1/30000", "30", "/input/timeBase/0")
    check("box: 0.1", "box: 0.3", "/precision/boxes/box")
    check("mode: boxes", "mode: boxen", "/compare/boxes/mode")
    check("iou: 0.5", "iou: -1", "/compare/boxes/iou")
    check("droppedMax: 0", "droppedmax: 0", "/budgets/droppedmax")
    check("captured: 6", "captured: -6", "/summary/captured")
    check("seed: 0", "seed: -1", "/case/seed")
    check("accepted: [", "accepted: {", "/accepted")
    check("models: {}", "models: {}\nmodels: {}", "")
  }

  @Test(arguments: [".inf", ".nan", "much"])
  func `a tolerance that is no finite number is named`(word: String) throws {
    let text = Self.example.replacing("iou: 0.5", with: "iou: \(word)")
    let error = #expect(throws: GoldenError.self) {
      try GoldenManifest(parsing: text, file: "golden.yml")
    }
    #expect(error?.place?.pointer == "/compare/boxes/iou")
    #expect(error?.message == "must be a number, is a string")
  }

  @Test func `aliases that name each other in a key are refused at once`() {
    // Each is twice the previous one: 2^60 values, if they were read.
    let names = (1...60).map { "  n\($0): &n\($0) [*n\($0 - 1), *n\($0 - 1)]" }
    let text = "v: 1\nbomb:\n  n0: &n0 [x, x]\n\(names.joined(separator: "\n"))\n? *n60\n: 1\n"
    #expect(
      throws: GoldenError.manifest(
        file: "golden.yml", pointer: "/bomb/n0",
        detail: "anchors and aliases are not read, in line 3",
        advice: "Write the value out in each place")
    ) {
      try GoldenManifest(parsing: text, file: "golden.yml")
    }
  }

  @Test(arguments: [
    "abc", "12..", "..12", "30..12", "1:2:3", "-4", "3..x", "", "9999999999999999999",
  ])
  func `a mark of a known change names frames`(frames: String) {
    let marks = "expected: [{id: a, frames: \"\(frames)\"}]\n"
    let error = #expect(throws: GoldenError.self) {
      try GoldenManifest(parsing: Self.example + marks, file: "golden.yml")
    }
    #expect(error?.place == Place(file: "golden.yml", pointer: "/expected/0/frames"))
    #expect(error?.message == "'\(frames)' is not a frame or a span of frames")
  }

  @Test(arguments: ["12", "12..30", "1:12..1:30", "0:5"])
  func `a mark of a known change may name a span`(frames: String) throws {
    let marks = "expected: [{id: a, frames: \"\(frames)\"}]\n"
    let manifest = try GoldenManifest(parsing: Self.example + marks, file: "golden.yml")
    #expect(manifest.expected.map(\.frames) == [frames])
  }

  @Test func `a later version is refused by name`() {
    let text = Self.example.replacing("v: 1\n", with: "v: 2\n")
    #expect(throws: GoldenError.version(file: "golden.yml", version: 2)) {
      try GoldenManifest(parsing: text, file: "golden.yml")
    }
  }

  @Test func `rules are read by sink or by mode`() throws {
    let rules = try CompareRules(
      StrictDecoder<GoldenError>(
        yaml: "{numeric: {scalar: 0.5}, faces: {iou: 0.3}, boxes: {score: 1}}"))
    #expect(rules.rule(for: "pulse", suited: .numeric).scalar == 0.5)
    #expect(rules.rule(for: "pulse", suited: .numeric).mode == .numeric)
    #expect(rules.rule(for: "faces").iou == 0.3)
    #expect(rules.rule(for: "motion").score == 1)
    #expect(rules.rule(for: "pixels", suited: .exact) == SinkRule(mode: .exact))
  }

  @Test func `a rule for pictures limits the images of a sink with other results, too`() throws {
    let rules = try CompareRules(
      StrictDecoder<GoldenError>(
        yaml: "{boxes: {position: 2, scalar: 1}, pictures: {psnrMin: 38, scalar: 0.5}}"))
    let mixed = rules.rule(for: "road", hasImages: true)
    #expect(mixed.mode == .boxes && mixed.comparesPixels && mixed.position == 2)
    #expect(mixed.psnrMin == 38 && mixed.ssimMin == 1 && mixed.scalar == 0.5)
    #expect(!rules.rule(for: "road").comparesPixels)
    #expect(!rules.rule(for: "road", suited: .exact, hasImages: true).comparesPixels)
    #expect(rules.rule(for: "road", suited: .pictures, hasImages: true).position == 0)
    #expect(rules.imageMode == .pictures && CompareRules().imageMode == .exact)
    #expect(!CompareRules().rule(for: "road", hasImages: true).comparesPixels)
  }

  @Test func `the platform names fused multiplication where the processor has it`() {
    #expect(PlatformKey(hasFusedMultiplyAdd: true).description.hasSuffix("-fma"))
    #expect(!PlatformKey(hasFusedMultiplyAdd: false).description.hasSuffix("-fma"))
  }

  @Test func `only for a case with models the platform names the class of kernels`() {
    #expect(PlatformKey.current(models: [:]) == PlatformKey.current)
    #expect(
      PlatformKey.current(models: ["m.onnx": "00"]).description
        == "\(PlatformKey.current)-\(KernelClass.current.rawValue)")
    #expect(
      PlatformKey.name("linux-x86_64-fma", kernels: .avx2, models: ["a": "1"])
        == "linux-x86_64-fma-avx2")
  }

  /// The processor's flags as Linux lists them on x86; empty elsewhere.
  private static let flags: [Substring] = {
    let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    return text.split(separator: "\n").first { $0.hasPrefix("flags") }?.split(separator: " ") ?? []
  }()

  @Test(.enabled(if: !flags.isEmpty, "the system does not list the processor's flags"))
  func `the processor says what the system's list says`() {
    #expect(
      KernelClass.Registers.current.hasFusedMultiplyAdd == Self.flags.contains("fma"))
  }
}
