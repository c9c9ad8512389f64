import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct FormatRunTests {
  private struct GrayOnly: PureStage {
    static let kind = "grey-only"
    static let inputFormats: [PixelFormat] = [.gray]
    init() {}
    init(options: NoOptions) {}
    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      Scalars([.init("format", frame.format == .gray ? 1 : 0)])
    }
  }

  @Test(arguments: [0, 1, 4])
  func `frames that change their format in mid-stream fail, one by one, and the run goes on`(
    workers: Int
  ) throws {
    var frames = TinyFrames.on("ffff")
    frames.colorFrom = 2
    let pipeline = Pipeline(
      [.source(frames), .stage("strict", AnyStage(GrayOnly())), .sink()],
      ["camera → strict → sink"])
    let (notes, outcome) = try pipeline.noted(RunOptions(mode: .everyFrame, workers: workers))
    #expect(notes.fates == "..xx")
    #expect(outcome.failures.map(\.code) == ["frame.format", "frame.format"])
  }

  private struct GrayRegions: PureStage {
    static let kind = "grey-regions"
    static let inputFormats: [PixelFormat] = [.gray]
    init() {}
    init(options: NoOptions) {}
    func process(_ region: Region, _ context: StageContext) -> Classes {
      Classes([.init(label: region.frame.format.rawValue, score: 1)])
    }
  }

  @Test(arguments: [0, 1, 4])
  func `regions that change their format fail, item by item, and their frames go on`(
    workers: Int
  ) throws {
    var frames = TinyFrames.on("ffff")
    frames.colorFrom = 2
    let pipeline = Pipeline.people(
      [1, 2, 2, 1], frames: frames, label: .stage("label", AnyStage(GrayRegions())))
    for mode in RunOptions.Mode.virtual {
      let (notes, outcome) = try pipeline.noted(RunOptions(mode: mode, workers: workers))
      #expect(notes.fates == "....")
      #expect(
        notes.lines("itemFail").map { $0.split(separator: " ").dropFirst().joined(separator: " ") }
          == [
            "people/label 0:2.0 itemFail code=frame.format",
            "people/label 0:2.1 itemFail code=frame.format",
            "people/label 0:3.0 itemFail code=frame.format",
          ])
      #expect(outcome.failureCount == 3)
      #expect(
        notes.lines.filter { $0.node == "people/join" && $0.kind == .join }.map { $0["failed"] }
          == ["0", "0", "2", "1"])
    }
  }

  @Test func `a stage that takes any format sees the change`() throws {
    var frames = TinyFrames.on("ffff")
    frames.colorFrom = 2
    let pipeline = Pipeline(
      [.source(frames), .stage("sum", AnyStage(Brightness())), .sink()], ["camera → sum → sink"])
    let (notes, _) = try pipeline.noted(RunOptions(mode: .everyFrame))
    #expect(notes.fates == "....")
  }
}
