import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct FormatRunTests {
  private struct GreyOnly: PureStage {
    static let kind = "grey-only"
    static let inputFormats: [PixelFormat] = [.grey]
    init() {}
    init(options: NoOptions) {}
    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      Scalars([.init("format", frame.format == .grey ? 1 : 0)])
    }
  }

  @Test(arguments: [0, 1, 4])
  func `frames that change their format in mid-stream fail, one by one, and the run goes on`(
    workers: Int
  ) throws {
    var frames = TinyFrames.on("ffff")
    frames.colourFrom = 2
    let pipeline = Pipeline(
      [.source(frames), .stage("strict", AnyStage(GreyOnly())), .sink()],
      ["camera → strict → sink"])
    let (notes, outcome) = try pipeline.noted(RunOptions(mode: .lossless, workers: workers))
    #expect(notes.fates == "..xx")
    #expect(outcome.errors.map(\.code) == ["frame.format", "frame.format"])
  }

  @Test func `a stage that takes any format sees the change`() throws {
    var frames = TinyFrames.on("ffff")
    frames.colourFrom = 2
    let pipeline = Pipeline(
      [.source(frames), .stage("sum", AnyStage(Brightness())), .sink()], ["camera → sum → sink"])
    let (notes, _) = try pipeline.noted(RunOptions(mode: .lossless))
    #expect(notes.fates == "....")
  }
}
