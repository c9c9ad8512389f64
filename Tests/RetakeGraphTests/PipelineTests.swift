import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

@Suite struct PipelineTests {
  private let catalog = TestCatalog()

  private func stage(_ kind: String) throws -> AnyStage {
    try catalog.make(kind: kind, options: .object([:]))
  }

  private func chain() throws -> PipelineChain<Frame> {
    Pipeline.named("chain").source(try stage("session"))
  }

  @Test func `ids are kinds, and from the second of a kind on they are numbered`() throws {
    let pipeline = try chain().stage(Gray()).stage(Gray()).stage(Gray(), id: "last")
      .stage(Gray()).sink(try stage("results"))
    #expect(
      pipeline.nodes.map(\.id) == ["camera", "grey", "grey-2", "last", "grey-3", "results"])
    #expect(
      pipeline.edges.map(\.from) == ["camera", "grey", "grey-2", "last", "grey-3"])
    #expect(pipeline.primarySink == "results")
    try pipeline.validate()
  }

  @Test func `a prefix can be kept and used again`() throws {
    let prefix = try chain().stage(Gray()).cost(.fixed(.milliseconds(5)))
    let sink = try stage("results")
    let one = prefix.queue(capacity: 1, policy: .replace).sink(sink)
    let other = prefix.stage(Boxes(options: .init())).on(executor: "gpu")
      .executor("gpu", count: 2).sink(sink, id: "boxes-out", precision: ["box": 0.01])
    #expect(one.nodes.count == 3)
    #expect(one.edges[0].policy == .replace)
    #expect(other.edges[0].policy == .block)
    #expect(other.nodes.map(\.id) == ["camera", "grey", "boxes", "boxes-out"])
    #expect(other.node("boxes")?.executor == "gpu")
    #expect(other.node("grey")?.cost == .fixed(.milliseconds(5)))
    #expect(other.node("boxes-out")?.precision == ["box": 0.01])
    try one.validate()
    try other.validate()
  }

  @Test func `ranks are longest paths, and ties go by the bytes of ids`() throws {
    let pipeline = Pipeline(
      name: "ranks",
      nodes: try ["z", "B", "a", "e"].map { PipelineNode(id: $0, stage: try stage("grey")) },
      edges: [
        PipelineEdge(from: "z", to: "a"), PipelineEdge(from: "z", to: "B"),
        PipelineEdge(from: "a", to: "e"), PipelineEdge(from: "z", to: "e"),
      ])
    #expect(try pipeline.ranks() == ["z": 0, "a": 1, "B": 1, "e": 2])
    #expect(try pipeline.topologicalOrder().map(\.id) == ["z", "B", "a", "e"])
  }

  @Test func `a stage that cannot take the pixels gets a visible conversion`() throws {
    let pipeline = try chain().stage(Gray()).queue(capacity: 2, policy: .dropOldest)
      .stage(Boxes(options: .init())).sink(try stage("results"))
    let same = try pipeline.insertingConversions(sources: ["camera": .nv12], catalog: catalog)
    #expect(same.nodes.count == 4)
    let converted = try pipeline.insertingConversions(sources: ["camera": .rgb], catalog: catalog)
    #expect(
      try converted.topologicalOrder().map(\.id)
        == ["camera", "grey/convert", "grey", "boxes", "results"])
    #expect(converted.node("grey/convert")?.stage.options["format"] == .string("I420"))
    let edges = converted.edges.filter { $0.to.hasPrefix("grey") }
    #expect(edges.map(\.from) == ["grey/convert", "camera"])
    #expect(edges.map(\.policy) == [.dropOldest, .block])
    try converted.validate()
  }

  @Test func `a gray frame is no I420 frame for the next stage`() throws {
    let pipeline = try chain().stage(Gray()).stage(Gray()).sink(try stage("results"))
    let converted = try pipeline.insertingConversions(sources: ["camera": .i420], catalog: catalog)
    #expect(
      try converted.topologicalOrder().map(\.id)
        == ["camera", "grey", "grey-2/convert", "grey-2", "results"])
  }

  @Test func `without a conversion in the catalog the stage is named`() throws {
    let pipeline = try chain().stage(Gray()).sink(try stage("results"))
    let error = #expect(throws: PipelineError.self) {
      try pipeline.insertingConversions(
        sources: ["camera": .rgb], catalog: TestCatalog(knowsConvert: false))
    }
    #expect(error?.code == "graph.pipeline.unsupported")
    #expect(error?.advice == "Register a stage of kind 'convert'")
  }

  @Test func `what the words of the DSL let through is checked all the same`() throws {
    let sink = try stage("results")
    let wrong: [(pipeline: Pipeline, pointer: String)] = [
      (try chain().stage(Gray()).queue(capacity: 0).sink(sink), "/edges/0/capacity"),
      (
        try chain().stage(Gray()).queue(capacity: 2, policy: .replace).sink(sink),
        "/edges/0/capacity"
      ),
      (try chain().stage(Gray()).cost(.fixed(.milliseconds(-1))).sink(sink), "/nodes/1/cost"),
      (
        try chain().stage(Gray()).cost(.uniform(.seconds(2), .seconds(1))).sink(sink),
        "/nodes/1/cost"
      ),
      (
        try chain().stage(Gray()).cost(.quantiles(p50: .zero, p99: .seconds(1))).sink(sink),
        "/nodes/1/cost"
      ),
      (try chain().stage(Gray()).cost(.fixed(.seconds(3_601))).sink(sink), "/nodes/1/cost"),
      (
        try chain().stage(Gray()).on(executor: "a").executor("a", count: 0).sink(sink),
        "/executors/0/count"
      ),
    ]
    for (pipeline, pointer) in wrong {
      let error = #expect(throws: PipelineError.self, "\(pointer)") { try pipeline.validate() }
      #expect(error?.code == "graph.pipeline.wrongValue")
      #expect(error?.pointer == pointer)
    }
  }

  @Test func `a users' value carries its name, version and bytes`() {
    #expect(TileMap.valueKind.description == "tile-map@2")
    #expect(TileMap(bytes: [1]).digest != TileMap(bytes: [2]).digest)
    #expect(TileMap(bytes: [1]).digest == TileMap(bytes: [1]).digest)
    #expect(TileMap(bytes: [1]).facts.count == 1)
  }
}
