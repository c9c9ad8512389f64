import RetakeGraph
import Testing

@Suite struct RunNodeTests {
  @Test func `an observer is told whose servers work on a node, and which track a source reads`()
    throws
  {
    let pipeline = Pipeline.named("shared").source(Nodes.source(.at(rate: 30, count: 2)))
      .stage(Brightness()).on(executor: "vision").passing(Nodes.throttle(15), id: "rate")
      .stage(Counter()).executor("vision", count: 3).sink(Nodes.sink())
    let notes = try pipeline.noted().notes
    #expect(notes.nodes.map(\.id) == ["camera", "brightness", "rate", "counter", "results"])
    #expect(
      notes.nodes.map { $0.executor.map { "\($0.id) \($0.servers)" } } == [
        nil, "vision 3", nil, "counter 1", nil,
      ])
    #expect(notes.nodes.map(\.track) == [0, nil, nil, nil, nil])
  }
}
