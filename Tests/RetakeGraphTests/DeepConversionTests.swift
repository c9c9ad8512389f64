import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Deep and rarer formats reach only the stages that declare them.
@Suite struct DeepConversionTests {
  private struct Any8: PureStage {
    static let kind = "any8"
    func process(_ frame: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private struct Deep: PureStage {
    static let kind = "deep"
    static let inputFormats: [PixelFormat] = [.i420(bits: 10), .gray]
    func process(_ frame: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private struct DeepAlone: PureStage {
    static let kind = "deep-alone"
    static let inputFormats: [PixelFormat] = [.i420(bits: 10)]
    func process(_ frame: Frame, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private struct OfJoin: PureStage {
    static let kind = "of-join"
    func process(_ joined: Joined, _ context: StageContext) -> Scalars { Scalars([]) }
  }

  private func inserted(
    _ pipeline: Pipeline, _ format: PixelFormat
  ) throws -> [String] {
    try pipeline.validate()
    let complete = try pipeline.flattened().insertingConversions(
      sources: ["camera": format], catalog: TestCatalog())
    return complete.nodes.filter(\.isInserted).map { node in
      let to = node.stage.options["format"]?.canonicalText ?? ""
      return "\(node.id) \(node.convertedFrom?.rawValue ?? "") \(to)"
    }
  }

  private var frames: PipelineChain<Frame> { Pipeline.named("p").source(.test("session")) }

  @Test(arguments: PixelFormat.allCases)
  func `a stage that declares nothing gets 8 bits, and the nearest format`(
    format: PixelFormat
  ) throws {
    let pipeline = frames.stage(Any8()).sink(.test("results"))
    let expected =
      PixelFormat.basic.contains(format)
      ? [] : ["any8/convert \(format.rawValue) \"\(format.nearestBasic.rawValue)\""]
    #expect(try inserted(pipeline, format) == expected)
  }

  @Test func `a stage that declares a deep format gets it, and 8 bits of others`() throws {
    let pipeline = frames.stage(Deep()).sink(.test("results"))
    #expect(try inserted(pipeline, .i420(bits: 10)) == [])
    #expect(try inserted(pipeline, .i420(bits: 12)) == ["deep/convert I420P12 \"GRAY8\""])
    #expect(try inserted(pipeline, .nv12) == ["deep/convert NV12 \"GRAY8\""])
  }

  @Test func `a stage that takes deep formats alone is refused for others`() throws {
    let pipeline = frames.stage(DeepAlone()).sink(.test("results"))
    #expect(try inserted(pipeline, .i420(bits: 10)) == [])
    let error = #expect(throws: PipelineError.self) { try inserted(pipeline, .i420) }
    #expect(error?.code == "graph.pipeline.unsupported")
    let message = try #require(error).message
    #expect(message.contains("takes I420P10, and its frames are I420"))
  }

  @Test func `sinks and nodes that pass frames on are given what comes`() throws {
    let plain = frames.sink(.test("results"))
    #expect(try inserted(plain, .i420(bits: 10)) == [])
  }

  @Test func `a frame of a join is converted before the join`() throws {
    let joined = Pipeline.joining(
      frames.stage(Deep()), frames, ports: ["numbers", "frame"])
    let pipeline = joined.stage(OfJoin()).sink(.test("results"))
    #expect(try inserted(pipeline, .i420) == ["deep/convert I420 \"GRAY8\""])
    #expect(
      try inserted(pipeline, .i420(bits: 10)) == ["join/frame/convert I420P10 \"I420\""])
  }

  @Test func `frames that change to a format of 10 bits are looked at before a stage`() throws {
    let pipeline = frames.stage(Any8()).sink(.test("results")).flattened()
    #expect(try pipeline.stagesToGuard() == [])
    #expect(try pipeline.stagesToGuard(others: [.i420(bits: 10)]) == ["any8"])
  }
}
