import Foundation
import Retake
import RetakeCore
import RetakeGraph
import RetakeStages
import RetakeTestFrames
import Testing

@Suite struct RegistryTests {
  private let registry = StageRegistry.builtIn

  /// Kinds that need a model's file or a program; see `ModelStageTests` and `ProgramStageTests`.
  private static let withFile = [
    "classify", "detect", "detections", "infer", "process", "regress",
  ]

  /// Options that a kind requires.
  private func needed(_ kind: String) -> JSONValue {
    switch kind {
    case "images": .object(["path": .string("pictures")])
    case "join", "latest": .object(["ports": .array([.string("a"), .string("b")])])
    case "debayer": .object(["pattern": .string("rggb")])
    case "route": .object(["class": .object(["label": .string("red")])])
    default: .object([:])
    }
  }

  @Test func `the built-in kinds are these`() {
    #expect(
      registry.kinds == [
        "bandpass", "classify", "convert", "copy", "crop", "debayer", "deinterlace", "detect",
        "detections", "detrend", "digest", "discard",
        "downsample", "find-fingertip", "fingertip", "grey", "heart-variability", "images", "infer",
        "join", "latest", "luminance", "mean-classes", "mean-colour", "merge-detections",
        "merge-scalars", "metadata", "motion",
        "overlay", "perturb", "process", "pulse-rate", "pulse-signal", "region-crop",
        "region-means",
        "regress", "resample",
        "resize", "results", "route", "sample", "screen", "sensor-latest", "sensor-window",
        "session", "steadiness", "synthetic", "throttle", "upright",
      ])
  }

  @Test func `every kind says in a line what it does`() throws {
    for kind in registry.kinds {
      let signature = try #require(registry.signature(of: kind))
      #expect(signature.kind == kind)
      #expect((10...80).contains(signature.summary.count), "\(kind)")
      #expect(signature.summary.first?.isLowercase == true && signature.summary.last != ".")
    }
  }

  @Test func `the options of every kind are written in full and read back the same`() throws {
    for kind in registry.kinds where !Self.withFile.contains(kind) {
      let made = try registry.make(kind: kind, options: needed(kind))
      let again = try registry.make(kind: kind, options: made.options)
      #expect(again.options == made.options)
      #expect(made.signature == registry.signature(of: kind))
      #expect(made.isExportable)
    }
  }

  @Test func `an unknown option is answered with the one that was meant`() throws {
    for (kind, wrong, meant) in [
      ("motion", "treshold", "threshold"), ("downsample", "widht", "width"),
      ("synthetic", "sceen", "scene"), ("throttle", "fsp", "fps"), ("session", "trak", "track"),
      ("sample", "evry", "every"), ("join", "mod", "mode"), ("latest", "port", "ports"),
      ("route", "scaler", "scalar"),
    ] {
      let problem = #expect(throws: OptionProblem.self) {
        try registry.make(kind: kind, options: .object([wrong: .integer(1)]))
      }
      #expect(problem?.pointer == "/\(wrong)")
      #expect(problem?.advice == "Did you mean '\(meant)'?")
    }
  }

  @Test func `a value out of its bounds is named with its pointer`() {
    for (kind, key, value) in [
      ("motion", "threshold", JSONValue.integer(0)), ("motion", "cell", .integer(65)),
      ("motion", "reach", .integer(9)), ("motion", "minimumArea", .integer(0)),
      ("motion", "maximumRegions", .integer(1_025)), ("crop", "x", .integer(-1)),
      ("downsample", "height", .integer(0)), ("downsample", "width", .integer(20_000)),
      ("downsample", "algorithm", .string("magic")), ("convert", "format", .string("I42O")),
      ("fingertip", "percent", .integer(0)), ("throttle", "fps", .integer(0)),
      ("synthetic", "frames", .integer(0)), ("synthetic", "scene", .string("figure")),
      ("session", "track", .integer(-1)), ("sample", "every", .integer(0)),
      ("region-crop", "padding", .number(-0.1)), ("region-crop", "padding", .integer(5)),
      ("resize", "width", .integer(0)), ("resize", "algorithm", .string("lanczos")),
      ("mean-colour", "top", .integer(0)), ("mean-colour", "palette", .array([])),
      ("mean-classes", "top", .integer(0)), ("merge-detections", "iou", .number(1.5)),
      ("merge-detections", "classNames", .array([.string("a"), .string("a")])),
      ("find-fingertip", "coverageMin", .number(1.5)), ("find-fingertip", "redness", .integer(0)),
      ("region-means", "percent", .integer(101)), ("resample", "rate", .integer(4)),
      ("resample", "windowSeconds", .integer(121)), ("resample", "gapMilliseconds", .integer(0)),
      ("pulse-signal", "method", .string("magic")), ("detrend", "lambda", .integer(0)),
      ("bandpass", "low", .integer(0)), ("bandpass", "high", .number(0.25)),
      ("bandpass", "order", .integer(7)), ("pulse-rate", "low", .integer(0)),
      ("pulse-rate", "high", .integer(11)), ("pulse-rate", "qualityMin", .number(1.25)),
      ("heart-variability", "secondsMin", .integer(1)),
    ] {
      let problem = #expect(throws: OptionProblem.self) {
        try registry.make(kind: kind, options: .object([key: value]))
      }
      #expect(problem?.pointer == "/\(key)", "\(kind)")
      #expect(problem?.message.contains("'\(key)'") == true, "\(problem?.message ?? "")")
    }
  }

  @Test func `a word outside a closed set is answered with the set`() {
    let problem = #expect(throws: OptionProblem.self) {
      try registry.make(kind: "synthetic", options: .object(["scene": .string("rain")]))
    }
    #expect(problem?.message == "'scene' is one of 'figures', 'pulse', 'cut', not 'rain'")
  }

  @Test func `pictures need a path`() {
    let problem = #expect(throws: OptionProblem.self) {
      try registry.make(kind: "images", options: .object([:]))
    }
    #expect(problem?.pointer == "/path")
  }

  @Test func `only stages that can fail are waited for`() {
    let failing = registry.kinds.filter { registry.signature(of: $0)?.canFail == true }
    #expect(
      failing == [
        "bandpass", "classify", "crop", "detect", "detections", "infer", "mean-classes",
        "merge-detections", "merge-scalars", "overlay", "process", "pulse-signal", "region-crop",
        "region-means",
        "regress",
      ])
  }

  @Test func `stages whose frames may lie in their input's memory say so`() {
    let keeping = registry.kinds.filter { registry.signature(of: $0)?.keepsInput == true }
    #expect(
      keeping == [
        "convert", "crop", "downsample", "grey", "perturb", "region-crop", "resize", "upright",
      ])
  }
}

@Suite struct ExamplePipelineTests {
  @Test func `every example is a valid pipeline of its name`() throws {
    #expect(
      ExamplePipelines.all.map(\.name) == [
        "downsample-digest", "ensemble", "motion-boxes", "motion-classes", "preview", "pulse",
      ])
    for example in ExamplePipelines.all {
      let pipeline = try PipelineDocument.parse(
        Data(example.document.utf8), catalog: StageRegistry.builtIn)
      #expect(throws: Never.self) { try pipeline.validate() }
      #expect(pipeline.name == example.name)
      #expect(!example.summary.isEmpty)
      #expect(ExamplePipelines.named(example.name) == example)
    }
    #expect(ExamplePipelines.named("nothing") == nil)
  }

  @Test func `the words give the same pipelines as the documents`() throws {
    let digest = Pipeline.named("downsample-digest").source(.session(track: 0))
      .downsample(width: 640, height: 480).digest().results()
    let motion = Pipeline.named("motion-boxes").source(.session()).gray()
      .motion(threshold: 24).cost(.fixed(.milliseconds(45))).on(executor: "vision")
      .queue(capacity: 3, policy: .dropNewest).executor("vision")
      .results("boxes", precision: ["box": 0.1, "score": 0.0001])
    for written in [digest, motion] {
      let example = try #require(ExamplePipelines.named(written.name))
      let read = try PipelineDocument.parse(
        Data(example.document.utf8), catalog: StageRegistry.builtIn)
      #expect(try PipelineDocument.json(of: written) == PipelineDocument.json(of: read))
    }
  }
}

@Suite struct WordTests {
  private let picture = frame(.i420, 16, 16) { _, _, _ in 128 }

  @Test func `every word adds its node`() throws {
    let start = Pipeline.named("all").source(.synthetic(SyntheticOptions(scene: .pulse)))
    let pipeline = start.throttle(fps: 10).crop(x: 0, y: 0, width: 320, height: 240)
      .convert(to: .nv12).luminance().discard()
    #expect(
      pipeline.nodes.map(\.kind) == [
        "synthetic", "throttle", "crop", "convert", "luminance", "discard",
      ])
    #expect(throws: Never.self) { try pipeline.validate() }
    #expect(
      start.resize().meanColor(top: 1).results().nodes.map(\.kind).dropFirst() == [
        "resize", "mean-colour", "results",
      ])
    #expect(start.fingertip(percent: 80).results().nodes.map(\.kind).contains("fingertip"))
    let found = Pipeline.joining(start, start.findFingertip(), ports: ["frame", "finger"])
    let band = found.regionMeans().resample().pulseSignal(.chrom).detrend().bandpass()
    #expect(
      Pipeline.combining(band.pulseRate().results("rate"), band.heartVariability().results("beats"))
        .nodes.map(\.kind).dropFirst() == [
          "find-fingertip", "join", "region-means", "resample", "pulse-signal", "detrend",
          "bandpass", "pulse-rate", "results", "heart-variability", "results",
        ])
    let written = try PipelineDocument.json(of: pipeline).canonicalText
    let read = try PipelineDocument.parse(Data(written.utf8), catalog: StageRegistry.builtIn)
    #expect(try PipelineDocument.json(of: read).canonicalText == written)
  }

  @Test func `closures and frames in memory run but have no document`() throws {
    let seen = Pipeline.named("seen").source(.frames([picture])).gray().sink { _ in }
    #expect(throws: Never.self) { try seen.validate() }
    #expect(throws: PipelineError.self) { try PipelineDocument.json(of: seen) }
  }

  @Test func `motion after a color source gets a visible conversion`() throws {
    let pipeline = Pipeline.named("plain").source(.session()).motion().results()
    let complete = try pipeline.insertingConversions(
      sources: ["camera": .i420], catalog: StageRegistry.builtIn)
    #expect(complete.nodes.map(\.id).contains("motion/convert"))
    let gray = Pipeline.named("grey").source(.session()).gray().motion().results()
    #expect(
      try gray.insertingConversions(sources: ["camera": .i420], catalog: StageRegistry.builtIn)
        .nodes.count == gray.nodes.count)
  }
}
