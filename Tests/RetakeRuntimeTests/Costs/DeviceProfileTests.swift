import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime
@testable import RetakeTimePlane

@Suite struct DeviceProfileTests {
  private static let pipeline = Pipeline(
    name: "p",
    nodes: [
      PipelineNode(id: "camera", stage: Nodes.source(.at(rate: 30, count: 1))),
      PipelineNode(id: "light", stage: AnyStage(Brightness()), executor: "vision"),
      PipelineNode(id: "sink", stage: Nodes.sink()),
    ],
    edges: [
      PipelineEdge(from: "camera", to: "light"), PipelineEdge(from: "light", to: "sink"),
    ], executors: [PipelineExecutor(id: "vision"), PipelineExecutor(id: "other", count: 3)],
    pools: [PipelinePool(id: "frames"), PipelinePool(id: "others", capacity: 5)])

  @Test func `a profile replaces the servers and the buffers that it names`() {
    let profile = DeviceProfile(
      name: "p", executors: ["vision": 2, "nothing": 9], pools: ["frames": 4])
    let applied = profile.applied(to: Self.pipeline)
    #expect(applied.executors.map(\.count) == [2, 3])
    #expect(applied.pools.map(\.capacity) == [4, 5])
    #expect(applied.nodes.count == Self.pipeline.nodes.count)
  }

  @Test func `what fits nothing is told, with the name that was meant`() throws {
    let two = try #require(DecimalRatio(parsing: "2"))
    let profile = DeviceProfile(
      name: "slow", scale: ["*": two, "light": two, "light/convert": two, "ligth": two],
      executors: ["vison": 2], pools: ["fames": 6])
    let notes = profile.notes(for: Self.pipeline)
    #expect(notes.count == 3)
    #expect(notes[0].contains("stage 'ligth'") && notes[0].contains("Did you mean 'light'?"))
    #expect(notes[1].contains("executor 'vison'") && notes[1].contains("Did you mean 'vision'?"))
    #expect(notes[2].contains("pool 'fames'") && notes[2].contains("Did you mean 'frames'?"))
    #expect(DeviceProfile(name: "slow", scale: ["*": two]).notes(for: Self.pipeline).isEmpty)
  }

  @Test func `a profile that heats none of the stages is told`() {
    func notes(_ busy: [String: Int64]) -> [String] {
      DeviceProfile(
        name: "phone",
        heat: HeatModel(
          ambient: 25, nodes: [.init(id: "case", capacity: 5_000, resistance: 10_000)],
          busyMicrowatts: busy, limits: .init(fair: 30, serious: 35, critical: 42))
      ).notes(for: Self.pipeline).filter { $0.contains("heats") }
    }
    #expect(
      notes(["gpu": 3_000_000]) == [
        "no stage of this pipeline heats the device while it is busy: the profile 'phone' has no "
          + "power for 'vision'. Add them to its 'busy', or '*' for all"
      ])
    #expect(notes([:]).count == 1)
    #expect(notes(["gpu": 3_000_000, "vision": 1]).isEmpty)
    #expect(notes(["*": 1]).isEmpty)
  }

  @Test func `the digest is of everything that it says`() throws {
    let two = try #require(DecimalRatio(parsing: "2.0"))
    let base = DeviceProfile(name: "slow", scale: ["*": two])
    #expect(
      base.digest
        == DeviceProfile(name: "slow", scale: ["*": try #require(.init(parsing: "2"))]).digest)
    var others = [base, base, base, base, base]
    others[0].name = "fast"
    others[1].scale["light"] = .one
    others[2].executors["vision"] = 2
    others[3].pools["frames"] = 6
    others[4].thermal = [.init(after: .seconds(3), scale: two)]
    #expect(Set(others.map(\.digest) + [base.digest]).count == 6)
  }

  @Test func `costs are named after their content`() throws {
    let timings = try RecordedTimings.of([("a", 0, -1, 5)])
    let profile = DeviceProfile(name: "slow")
    var costs = RunCosts.declared
    #expect(costs.text == "declared")
    costs.timings = timings
    #expect(costs.text == "timings:\(timings.digest.short)")
    costs.profile = profile
    #expect(costs.text == "timings:\(timings.digest.short)+profile:slow@\(profile.digest.short)")
    costs.timings = nil
    #expect(costs.text == "profile:slow@\(profile.digest.short)")
    costs.meter = CostMeter { 0 }
    #expect(costs.text == "measured")
  }
}
