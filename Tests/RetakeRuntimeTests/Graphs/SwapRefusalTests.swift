import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTimePlane
import Testing

/// Stages that cannot replace a node's stage: the old one continues, as if there had been no
/// request.
@Suite struct SwapRefusalTests {
  private struct GraySum: PureStage {
    static let kind = "grey-sum"
    static let inputFormats: [PixelFormat] = [.gray]
    init() {}
    init(options: NoOptions) {}
    func process(_ frame: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private struct GrayLabel: PureStage {
    static let kind = "grey-label"
    static let inputFormats: [PixelFormat] = [.gray]
    init() {}
    init(options: NoOptions) {}
    func process(_ region: Region, _ context: StageContext) -> Classes { Classes([]) }
  }

  private struct RegionSum: PureStage {
    static let kind = "region-sum"
    init() {}
    init(options: NoOptions) {}
    func process(_ region: Region, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  /// Runs with and without the swap, at frame 3 of 8 under load.
  private func check(
    _ pipeline: Pipeline, _ node: String, _ stage: AnyStage, code: String
  ) throws {
    for workers in [0, 1, 4] {
      var options = RunOptions(mode: .simulate, workers: workers)
      let expected = try RunPrint(pipeline, options)
      options.overrides = [
        .swap(
          StageSwap(
            at: .arrival(FrameID(track: 0, sequence: 3)), node: node, stage: stage,
            prepare: .milliseconds(1)))
      ]
      let found = try RunPrint(pipeline, options)
      #expect(found.frames == expected.frames)
      #expect(found.outcome.headline == expected.outcome.headline)
      #expect(found.lines.filter { !$0.kind.rawValue.hasPrefix("swap") } == expected.lines)
      #expect(
        found.lines.filter { $0.kind.rawValue.hasPrefix("swap") }.map(\.description) == [
          "@15000000 \(node) - swapPrepare", "@16000000 \(node) - swapRefused code=\(code)",
        ])
    }
  }

  /// A stage that would fit if it were not a program with sinks.
  private static var program: AnyStage {
    var stage = AnyStage(Brightness())
    stage.programSinks = ["sink"]
    return stage
  }

  @Test(arguments: [
    (Nodes.sink(), "swap.noStage"), (AnyStage(Counter()), "swap.inputMismatch"),
    (AnyStage(Fragile2(failing: [])), "swap.outputMismatch"),
    (AnyStage(GraySum()), "swap.formatMismatch"), (SwapRefusalTests.program, "swap.program"),
  ])
  func `a stage that does not fit leaves the old one running`(
    stage: AnyStage, code: String
  ) throws {
    let pipeline = Pipeline(
      [
        .source(.at(rate: 200, count: 8)), .stage("sum", AnyStage(Brightness()), 7),
        .stage("count", AnyStage(Counter())), .sink(),
      ], ["camera → sum → count → sink"])
    try check(pipeline, "sum", stage, code: code)
  }

  @Test(arguments: [
    (Nodes.sink(), "swap.noStage"), (AnyStage(Brightness()), "swap.inputMismatch"),
    (AnyStage(RegionSum()), "swap.outputMismatch"), (AnyStage(GrayLabel()), "swap.formatMismatch"),
  ])
  func `inside a forEach too, with items in flight`(stage: AnyStage, code: String) throws {
    let pipeline = Pipeline.people(
      [2, 1, 3, 2, 0, 3, 1, 2], frames: .at(rate: 200, count: 8), label: .label(3))
    try check(pipeline, "people/label", stage, code: code)
  }
}
