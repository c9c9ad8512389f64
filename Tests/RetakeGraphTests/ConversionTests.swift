import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Conversions between pixel formats, in branches, before joins and inside a forEach.
@Suite struct ConversionTests {
  private func converted(
    _ pipeline: Pipeline, _ formats: [String: PixelFormat]
  ) throws -> Pipeline {
    try pipeline.validate()
    return try pipeline.flattened().insertingConversions(sources: formats, catalog: TestCatalog())
  }

  /// Each inserted node with the node before it, the node after it, and its format.
  private func inserted(_ pipeline: Pipeline) -> [String] {
    pipeline.nodes.filter(\.isInserted).map { node in
      let before = pipeline.edges.filter { $0.to == node.id }.map(\.from)
      let behind = pipeline.edges.filter { $0.from == node.id }.map { edge in
        edge.to + (edge.toPort.map { ".\($0)" } ?? "")
      }
      let format = node.stage.options["format"].map(\.canonicalText) ?? ""
      return "\(before.joined()) → \(node.id) \(format) → \(behind.joined())"
    }
  }

  @Test func `each branch gets its own`() throws {
    let frames = Pipeline.named("p").source(.test("session"))
    let pipeline = Pipeline.combining(
      frames.stage(Gray()).sink(.test("results")),
      frames.stage(Labels()).sink(.test("results"), id: "names"),
      frames.sink(.test("results"), id: "plain"))
    #expect(
      inserted(try converted(pipeline, ["camera": .rgb])) == [
        "camera → grey/convert \"I420\" → grey", "camera → labels/convert \"BGRA\" → labels",
      ])
    #expect(
      inserted(try converted(pipeline, ["camera": .bgra])) == [
        "camera → grey/convert \"I420\" → grey"
      ])
  }

  @Test func `a conversion stands in the branch before a join, not behind it`() throws {
    let frames = Pipeline.named("p").source(.test("session"))
    let joined = Pipeline.joining(frames.stage(Labels()), frames, ports: ["labels", "frame"])
    let pipeline = joined.stage(Fusion()).sink(.test("results"))
    #expect(
      inserted(try converted(pipeline, ["camera": .i420])) == [
        "camera → labels/convert \"BGRA\" → labels"
      ])
  }

  @Test func `a route's port is kept`() throws {
    let sizes = Pipeline.named("p").source(.test("session")).routing(.test("split"))
    let pipeline = Pipeline.combining(
      sizes.port("left").stage(Gray()).sink(.test("results"), id: "a"),
      sizes.port("right").sink(.test("results"), id: "b"))
    let complete = try converted(pipeline, ["camera": .rgb])
    #expect(inserted(complete) == ["split → grey/convert \"I420\" → grey"])
    #expect(complete.edges.first { $0.to == "grey/convert" }?.fromPort == "left")
    #expect(complete.edges.first { $0.to == "grey" }?.fromPort == nil)
  }

  @Test func `inside a forEach it stands between the stages of the body`() throws {
    let pipeline = try Documents.parse(Documents.yard)
    let complete = try converted(pipeline, ["camera": .rgb, "rear": .bgra])
    #expect(
      inserted(complete).sorted() == [
        "camera → grey/convert \"I420\" → grey",
        "each/crop → each/name/convert \"BGRA\" → each/name",
        "grey → pairs/frame/convert \"RGB24\" → pairs.frame",
      ])
    #expect(complete.node("each/name/convert")?.scope == "each")
    #expect(complete.node("each/name/convert")?.pointer == "/nodes/5/body/nodes/1")
    #expect(complete.edges.first { $0.to == "pairs" && $0.toPort == "frame" }?.capacity == 8)
    #expect(complete.edges.first { $0.to == "each/name" }?.capacity == 5)
    #expect(throws: Never.self) { try complete.ranks() }
  }

  @Test func `regions are converted once a frame, before the join that they come from`() throws {
    let frames = Pipeline.named("p").source(.test("session"))
    let found = frames.stage(Boxes(options: .init()))
    let joined = Pipeline.joining(frames, found, ports: ["frame", "found"])
    let pixels: PipelineChain<Items> = joined.passing(.test("sample")).forEach(id: "each") {
      $0.stage(RegionPixels())
    }
    let complete = try converted(pixels.sink(.test("results")), ["camera": .nv12])
    #expect(inserted(complete) == ["camera → join/frame/convert \"RGB24\" → join.frame"])
  }

  @Test func `a join of frames and of a forEach's items takes the format of the frames`() throws {
    let frames = Pipeline.named("p").source(.test("session"))
    let found = frames.stage(Boxes(options: .init()))
    let named: PipelineChain<Detections> = frames.forEach(found, id: "first") {
      $0.stage(RegionPixels()).stage(Labels())
    }
    let again = Pipeline.joining(named, frames, ports: ["named", "frame"])
    let pixels: PipelineChain<Items> = again.forEach(id: "second") { $0.stage(RegionPixels()) }
    let complete = try converted(pixels.sink(.test("results")), ["camera": .rgb])
    #expect(inserted(complete) == ["first/crop → first/labels/convert \"BGRA\" → first/labels"])
  }

  @Test func `two forEach of one join that take other pixels are refused by name`() throws {
    let frames = Pipeline.named("p").source(.test("session"))
    let joined = Pipeline.joining(
      frames, frames.stage(Boxes(options: .init())), ports: ["frame", "found"])
    let one: PipelineChain<Items> = joined.forEach(id: "one") { $0.stage(RegionPixels()) }
    let other: PipelineChain<Items> = joined.forEach(id: "other") { $0.stage(GrayRegion()) }
    let pipeline = Pipeline.combining(
      one.sink(.test("results"), id: "a"), other.sink(.test("results"), id: "b"))
    let error = #expect(throws: PipelineError.self) {
      try converted(pipeline, ["camera": .nv12])
    }
    #expect(error?.code == "graph.pipeline.unsupported")
    #expect(error?.advice == "Add a separate join for each forEach")
  }

  @Test func `frames of unknown sources are left as they are`() throws {
    #expect(inserted(try converted(try Documents.parse(Documents.yard), [:])).isEmpty)
  }
}

private struct GrayRegion: PureStage {
  static let kind = "grey-region"
  static let inputFormats: [PixelFormat] = [.gray]

  init() {}
  init(options: NoOptions) {}

  func process(_ region: Region, _ context: StageContext) -> Frame { region.frame }
}
