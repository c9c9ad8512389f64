import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import Testing

/// Mistakes have their place in the words of the language in which the pipeline was written.
@Suite struct PipelinePlaceTests {
  private let sink = AnyStage.test("results")

  private var chain: PipelineChain<Frame> {
    Pipeline.named("yard").source(.test("session"))
  }

  private func error(of pipeline: Pipeline) -> PipelineError? {
    let error = #expect(throws: PipelineError.self) { try pipeline.validate() }
    return error
  }

  @Test func `a mistake of a pipeline made in Swift is placed by names`() {
    let wrong: [(pipeline: Pipeline, place: String)] = [
      (
        chain.stage(Gray()).queue(capacity: 0).sink(sink),
        "pipeline 'yard', source 'camera', its edge to 'grey'"
      ),
      (
        chain.stage(Gray()).sink(sink, id: "boxes").changingEdge(to: "boxes") { $0.capacity = 0 },
        "pipeline 'yard', stage 'grey', its edge to 'boxes'"
      ),
      (
        chain.stage(Gray()).cost(.fixed(.milliseconds(-1))).sink(sink),
        "pipeline 'yard', stage 'grey', its cost"
      ),
      (
        chain.stage(Gray()).on(executor: "gpu").sink(sink),
        "pipeline 'yard', stage 'grey', its executor"
      ),
      (
        chain.stage(Gray()).on(executor: "a").executor("a", count: 0).sink(sink),
        "pipeline 'yard', executor 'a', its count"
      ),
      (
        chain.pool("frames").pool("frames", capacity: 0).stage(Gray()).sink(sink),
        "pipeline 'yard', pool 'frames', its capacity"
      ),
      (
        chain.stage(Gray()).sink(sink, precision: ["box": 0.3]),
        "pipeline 'yard', sink 'results', its precision"
      ),
      (
        chain.stage(Gray(), id: "Grey!").sink(sink), "pipeline 'yard', stage 'Grey!'"
      ),
      (Pipeline(name: "yard", nodes: [], edges: []), "pipeline 'yard'"),
    ]
    for (pipeline, place) in wrong {
      let error = error(of: pipeline)
      #expect(error?.place?.description == place)
      #expect(error?.place?.pointer == nil && error?.pointer.hasPrefix("/") == true)
      #expect(error?.description.hasPrefix("\(place): ") == true, "\(place)")
    }
  }

  @Test func `a mistake in the body of a forEach names both`() {
    let frames = chain
    let found = frames.stage(Boxes(options: .init()))
    let pipeline = frames.forEach(found, id: "each") { region in
      region.stage(RegionPixels()).stage(Labels()).concurrency(65)
    }.sink(sink)
    #expect(
      error(of: pipeline)?.place?.description
        == "pipeline 'yard', forEach 'each', stage 'labels', its concurrency")
    let narrow = frames.forEach(found, id: "each") { region in
      region.stage(RegionPixels()).stage(Labels()).queue(capacity: 0)
    }.sink(sink)
    #expect(
      error(of: narrow)?.place?.description
        == "pipeline 'yard', forEach 'each', stage 'crop', its edge to 'labels'")
  }

  @Test func `what nodes share is declared in the language of the pipeline`() {
    let alone = error(of: chain.stage(Gray()).on(executor: "gpu").sink(sink))
    #expect(alone?.advice == "Declare it: .executor(\"gpu\")")
    let pool = error(of: chain.stage(Gray()).pool("frames").sink(sink))
    #expect(pool?.advice == "Declare it: .pool(\"frames\", capacity: 8)")
  }

  @Test func `an edge to a node that does not exist is named by its ends`() {
    var pipeline = chain.stage(Gray()).sink(sink)
    pipeline.edges[1].to = "boxes"
    #expect(
      error(of: pipeline)?.place?.description
        == "pipeline 'yard', stage 'grey', its edge to 'boxes'")
    pipeline.edges[1].from = "gray"
    #expect(
      error(of: pipeline)?.place?.description
        == "pipeline 'yard', the edge from 'gray' to 'boxes'")
  }

  @Test func `a mistake of a document keeps its pointer`() throws {
    let error = #expect(throws: PipelineError.self) {
      try Documents.parse(Documents.motion.replacing(#""from": "grey""#, with: #""from": "gray""#))
    }
    #expect(error?.part == nil && error?.place?.pointer == "/edges/1/from")
    // A document that was read and changed afterwards is still a document.
    var pipeline = try Documents.parse(Documents.motion)
    pipeline.nodes[1].concurrency = 65
    let later = self.error(of: pipeline)
    #expect(later?.part == nil && later?.place?.pointer == "/nodes/1/concurrency")
  }

  @Test func `a conversion that is missing and a closure without a document are named`() {
    let pipeline = chain.stage(Gray()).sink(sink)
    let missing = #expect(throws: PipelineError.self) {
      try pipeline.flattened().insertingConversions(
        sources: ["camera": .rgb], catalog: TestCatalog(knowsConvert: false))
    }
    #expect(missing?.place?.description == "pipeline 'yard', stage 'grey'")
    let closure = #expect(throws: PipelineError.self) {
      try PipelineDocument.json(
        of: chain.map("count") { _, _ in Scalars([]) }.sink(sink))
    }
    #expect(closure?.place?.description == "pipeline 'yard', stage 'count'")
  }
}

extension Pipeline {
  fileprivate func changingEdge(to node: String, _ change: (inout PipelineEdge) -> Void) -> Self {
    var result = self
    for index in edges.indices where edges[index].to == node { change(&result.edges[index]) }
    return result
  }
}
