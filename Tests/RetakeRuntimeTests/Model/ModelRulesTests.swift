import Testing

/// The model itself, compared with lines that were written by hand from the rules.
@Suite struct ModelRulesTests {
  typealias Model = TimePlaneModel

  /// Nodes sorted by rank and id, edges as "from to" or "from to:port", arrivals at the first node.
  private func lines(
    _ nodes: [Model.Node], _ edges: [String], servers: [Int] = [1, 1, 1], pools: [Model.Pool] = [],
    capacity: Int = 1, at times: [Int64]
  ) -> [String] {
    let edges = edges.map { text in
      let words = text.split { " :.".contains($0) }.map(String.init)
      let index = { (id: String) in nodes.firstIndex { $0.id == id } ?? -1 }
      var edge = Model.Edge(from: index(words[0]), to: index(words[1]), capacity: capacity)
      if words.count == 3 { edge.port = Int(words[2]) ?? 0 }
      return edge
    }
    let model = Model(nodes: nodes, edges: edges, servers: servers, pools: pools)
    for (sequence, time) in times.enumerated() {
      model.addArrival(0, track: 0, sequence: sequence, time: time)
    }
    return model.run()
  }

  private func node(_ id: String, _ rank: Int, _ role: Model.Role, pool: Int? = nil) -> Model.Node {
    Model.Node(id: id, rank: rank, role: role, pool: pool)
  }

  private func stage(
    _ id: String, _ rank: Int, on executor: Int = 0, costs: [Int64], pool: Int? = nil,
    _ change: (inout Model.Stage) -> Void = { _ in }
  ) -> Model.Node {
    var table: [Model.FrameItem: Int64] = [:]
    for (sequence, cost) in costs.enumerated() {
      for item in -1..<2 { table[.init(sequence: sequence, item: item)] = cost }
    }
    var stage = Model.Stage(costs: table, executor: executor)
    change(&stage)
    return node(id, rank, .stage(stage), pool: pool)
  }

  private var sink: Model.Role { .sink(hold: 0) }

  @Test func `two branches work at once, and a join waits for both`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [2]), stage("b", 1, on: 1, costs: [0]),
      node("j", 2, .join(isAny: false, timeout: nil)), node("s", 3, sink),
    ]
    #expect(
      lines(nodes, ["c a", "c b", "a j:0", "b j:1", "j s"], at: [0]) == [
        "@0 a 0:0 deliver", "@0 b 0:0 deliver", "@0 a 0:0 start", "@0 b 0:0 start",
        "@0 b 0:0 done", "@0 j 0:0 deliver", "@2 a 0:0 done", "@2 j 0:0 deliver",
        "@2 j 0:0 join parts=2", "@2 s 0:0 deliver",
      ])
  }

  @Test func `a part that comes at the nanosecond of its join's timeout is late`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [3]), stage("b", 1, on: 1, costs: [0]),
      node("j", 2, .join(isAny: true, timeout: 3)), node("s", 3, sink),
    ]
    #expect(
      lines(nodes, ["c a", "c b", "a j:0", "b j:1", "j s"], at: [0]).suffix(7) == [
        "@0 j 0:0 deliver", "@3 a 0:0 done", "@3 j 0:0 timeout", "@3 j 0:0 join parts=1",
        "@3 j 0:0 deliver", "@3 s 0:0 deliver", "@3 j 0:0 late",
      ])
  }

  @Test func `a join of all without a partner drops the frame, and a failed one goes on`() {
    let failing = stage("a", 1, costs: [0]) { $0.failures = [.init(sequence: 0): .recoverable] }
    let joined: [Model.Node] = [
      stage("b", 1, on: 1, costs: [0]), node("j", 2, .join(isAny: false, timeout: nil)),
      node("s", 3, sink),
    ]
    let edges = ["c a", "c b", "a j:0", "b j:1", "j s"]
    #expect(
      lines([node("c", 0, .source), failing] + joined, edges, at: [0]).suffix(4) == [
        "@0 a 0:0 fail code=model.chosen", "@0 b 0:0 done", "@0 j 0:0 deliver",
        "@0 s 0:0 outcome fate=fail node=a reason=model.chosen",
      ])
    let thinning = node("a", 1, .route(ports: ["x", "y"], choices: [1]))
    #expect(
      lines([node("c", 0, .source), thinning] + joined, edges, at: [0]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 thin port=x", "@0 b 0:0 deliver", "@0 b 0:0 start",
        "@0 b 0:0 done", "@0 j 0:0 deliver", "@0 j 0:0 drop reason=partnerMissing",
        "@0 s 0:0 outcome fate=drop node=j reason=partnerMissing",
      ])
  }

  @Test func `outputs of slots leave in order, one as soon as the one before is accepted`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [5, 2]) { $0.concurrency = 2 },
      node("s", 2, sink),
    ]
    #expect(
      lines(nodes, ["c a", "a s"], servers: [2], at: [0, 1]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1 a 0:1 deliver", "@1 a 0:1 start",
        "@3 a 0:1 done", "@5 a 0:0 done", "@5 s 0:0 deliver", "@5 s 0:1 deliver",
      ])
  }

  @Test func `after a timeout server and slot stay taken until the body's end`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [5, 1]) { $0.timeout = 2 }, node("s", 2, sink),
    ]
    #expect(
      lines(nodes, ["c a", "a s"], at: [0, 1]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1 a 0:1 deliver", "@2 a 0:0 timeout",
        "@2 a 0:0 fail code=timeout", "@2 s 0:0 outcome fate=fail node=a reason=timeout",
        "@5 a 0:0 late", "@5 a 0:1 start", "@6 a 0:1 done", "@6 s 0:1 deliver",
      ])
  }

  @Test func `the value that left last takes the place of a failed frame`() {
    let fallible = stage("a", 1, costs: [1, 1, 1]) {
      $0.hasFallback = true
      $0.failures = [.init(sequence: 0): .recoverable, .init(sequence: 2): .recoverable]
    }
    let nodes = [node("c", 0, .source), fallible, node("s", 2, sink)]
    #expect(
      lines(nodes, ["c a", "a s"], at: [0, 10, 20]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1 a 0:0 fail code=model.chosen",
        "@1 s 0:0 outcome fate=fail node=a reason=model.chosen",
        "@10 a 0:1 deliver", "@10 a 0:1 start", "@11 a 0:1 done", "@11 s 0:1 deliver",
        "@20 a 0:2 deliver", "@20 a 0:2 start", "@21 a 0:2 fail code=model.chosen",
        "@21 a 0:2 fallback from=0:1", "@21 s 0:2 deliver",
      ])
  }

  private func forEach(count: Int, failing: Set<Int> = []) -> [Model.Node] {
    let body = stage("x/a", 4, on: 1, costs: [1]) { stage in
      for item in failing { stage.failures[.init(sequence: 0, item: item)] = .recoverable }
    }
    let detector = stage("d", 1, costs: [0]) {
      $0.makes = .detections
      $0.counts = [count]
    }
    return [
      node("c", 0, .source), detector, node("j", 2, .join(isAny: false, timeout: nil)),
      node("x", 3, .fork(gather: 5)), body, node("x/join", 5, .gather(isClassified: false)),
      node("s", 6, sink),
    ]
  }

  private let forEachEdges = ["c d", "c j:0", "d j:1", "j x", "x x/a", "x/a x/join", "x/join s"]

  @Test func `a forEach offers its items one at a time, and its join gathers them`() {
    #expect(
      lines(forEach(count: 2, failing: [1]), forEachEdges, at: [0]).dropFirst(6) == [
        "@0 x 0:0 deliver", "@0 x 0:0 fanout items=2", "@0 x/a 0:0.0 deliver",
        "@0 x/a 0:0.1 block", "@0 x/a 0:0.0 start", "@0 x/a 0:0.1 unblock",
        "@0 x/a 0:0.1 deliver", "@1 x/a 0:0.0 done", "@1 x/join 0:0.0 deliver",
        "@1 x/a 0:0.1 start", "@2 x/a 0:0.1 itemFail code=model.chosen",
        "@2 x/join 0:0 join failed=1 items=2", "@2 s 0:0 deliver",
      ])
  }

  @Test func `a frame without items is joined at once`() {
    #expect(
      lines(forEach(count: 0), forEachEdges, at: [0]).suffix(4) == [
        "@0 x 0:0 deliver", "@0 x 0:0 fanout items=0", "@0 x/join 0:0 join failed=0 items=0",
        "@0 s 0:0 deliver",
      ])
  }

  @Test func `a latest join reads when all else of its instant is done`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [0, 1]),
      node("l", 2, .latest(ports: [.init(name: "now"), .init(name: "old")])), node("s", 3, sink),
    ]
    #expect(
      lines(nodes, ["c l:0", "c a", "a l:1", "l s"], at: [0, 5]) == [
        "@0 a 0:0 deliver", "@0 l 0:0 deliver", "@0 a 0:0 start", "@0 a 0:0 done",
        "@0 l 0:0 deliver", "@0 l 0:0 latest old=0:0", "@0 s 0:0 deliver",
        "@5 a 0:1 deliver", "@5 l 0:1 deliver", "@5 a 0:1 start", "@5 l 0:1 latest old=0:0",
        "@5 s 0:1 deliver", "@6 a 0:1 done", "@6 l 0:1 deliver",
      ])
  }

  @Test(arguments: [
    (Model.PoolPolicy.drop, "@1 c 0:1 drop reason=pool"),
    (.fail, "@1 c 0:1 fail code=pool.empty"), (.block, "@1 c 0:1 lost reason=pool"),
  ])
  func `a source without a buffer does as its pool says`(policy: Model.PoolPolicy, line: String) {
    let nodes = [
      node("c", 0, .source, pool: 0), stage("a", 1, costs: [3, 3, 3]), node("s", 2, sink),
    ]
    let decided = lines(
      nodes, ["c a", "a s"], pools: [.init(capacity: 1, policy: policy)], at: [0, 1, 3])
    #expect(decided[2] == line)
    #expect(decided.contains("@3 a 0:2 deliver"))
  }

  @Test func `a source that waits is in time at its limit, and what came meanwhile has its turn`() {
    let nodes = [
      node("c", 0, .source, pool: 0), stage("a", 1, costs: [4, 4, 4, 4, 4]), node("s", 2, sink),
    ]
    var pool = Model.Pool(capacity: 1, policy: .block)
    (pool.wait, pool.driverFrames) = (3, 1)
    #expect(
      lines(nodes, ["c a", "a s"], pools: [pool], capacity: 2, at: [0, 1, 2, 3, 7]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1 c 0:1 wait reason=pool",
        "@2 c 0:2 wait reason=turn", "@3 c 0:3 lost reason=wait", "@4 a 0:0 done",
        "@4 s 0:0 deliver", "@4 c 0:1 waited nanoseconds=3", "@4 c 0:2 wait reason=pool",
        "@4 a 0:1 deliver", "@4 a 0:1 start", "@7 c 0:2 lost reason=pool",
        "@7 c 0:4 wait reason=pool", "@8 a 0:1 done", "@8 s 0:1 deliver",
        "@8 c 0:4 waited nanoseconds=1", "@8 a 0:4 deliver", "@8 a 0:4 start", "@12 a 0:4 done",
        "@12 s 0:4 deliver",
      ])
  }

  @Test func `a stage is served before a source that waits for the same pool`() {
    let nodes = [
      node("c", 0, .source, pool: 0), stage("a", 1, costs: [4, 4], pool: 0), node("s", 2, sink),
    ]
    var pool = Model.Pool(capacity: 3, policy: .block)
    pool.wait = 9
    let decided = lines(nodes, ["c a", "a s"], pools: [pool], capacity: 2, at: [0, 1, 2])
    // At 4, two buffers come back: one for the body of frame 1, one for frame 2.
    #expect(decided[3] == "@2 c 0:2 wait reason=pool")
    #expect(
      decided.filter { $0.hasPrefix("@4") } == [
        "@4 a 0:0 done", "@4 s 0:0 deliver", "@4 a 0:1 start", "@4 c 0:2 waited nanoseconds=2",
        "@4 a 0:2 deliver",
      ])
  }

  @Test func `a stage that waits for a buffer which its own input has is stuck`() {
    let nodes = [
      node("c", 0, .source, pool: 0), stage("a", 1, costs: [3], pool: 0), node("s", 2, sink),
    ]
    let pool = Model.Pool(capacity: 1, policy: .block)
    #expect(
      lines(nodes, ["c a", "a s"], pools: [pool], at: [0, 1]) == [
        "@0 a 0:0 deliver", "@1 c 0:1 lost reason=queue", "stuck",
      ])
  }

  @Test func `a server takes the earliest arrival first, then the deepest stage`() {
    let nodes = [
      node("c", 0, .source), stage("a", 1, costs: [2, 2, 2]), stage("b", 2, costs: [2, 2, 2]),
      node("s", 3, sink),
    ]
    #expect(
      lines(nodes, ["c a", "a b", "b s"], at: [0, 1]).filter { $0.hasSuffix("start") } == [
        "@0 a 0:0 start", "@2 b 0:0 start", "@4 a 0:1 start", "@6 b 0:1 start",
      ])
  }

  @Test func `a new rate moves what is due by the difference, and off forgets it`() {
    let limits = [
      Model.Limit(interval: 0), .init(heat: 1, interval: 4), .init(heat: 2, interval: 10),
    ]
    let model = Model(
      nodes: [node("c", 0, .source), node("t", 1, .throttle(limits)), node("s", 2, sink)],
      edges: [.init(from: 0, to: 1), .init(from: 1, to: 2)], servers: [])
    for (sequence, time) in [0, 8, 11, 12, 13, 14, 18].enumerated() {
      model.addArrival(0, track: 0, sequence: sequence, time: Int64(time))
    }
    // Due at 10, so 8 passes, then at 20; the faster rate makes that 14, and then 18.
    for (ordinal, (time, level)) in [(0, 2), (9, 1), (15, 0), (16, 2)].enumerated() {
      model.addHeat(level, time: Int64(time), ordinal: ordinal)
    }
    #expect(
      model.run().filter { $0.contains(" t ") && !$0.contains("deliver") } == [
        "@0 t - throttle interval=10", "@9 t - throttle interval=4", "@11 t 0:2 thin",
        "@12 t 0:3 thin", "@14 t 0:5 thin", "@15 t - throttle interval=0",
        "@16 t - throttle interval=10",
      ])
  }

  @Test func `a swap is in force for what arrives at its instant, not for what is on its way`() {
    let fast = Model.Stage(
      costs: [.init(sequence: 1): 1, .init(sequence: 2): 1], executor: 0)
    let model = Model(
      nodes: [node("c", 0, .source), stage("a", 1, costs: [4, 4, 4]), node("s", 2, sink)],
      edges: [.init(from: 0, to: 1), .init(from: 1, to: 2)], servers: [1])
    for (sequence, time) in [0, 2, 3].enumerated() {
      model.addArrival(0, track: 0, sequence: sequence, time: Int64(time))
    }
    model.addSwap(1, time: 1, .init(ordinal: 0, preparing: 2, stage: fast))
    #expect(
      model.run() == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1 a - swapPrepare", "@2 a 0:1 deliver",
        "@3 a - swap epoch=1", "@3 a 0:2 deliver", "@4 a 0:0 done", "@4 s 0:0 deliver",
        "@4 a 0:1 start", "@8 a 0:1 done", "@8 s 0:1 deliver", "@8 a 0:2 start", "@9 a 0:2 done",
        "@9 s 0:2 deliver",
      ])
  }

  @Test func `a pool that is always full has one buffer more after two windows`() {
    var sizing = Model.Sizing()
    (sizing.min, sizing.max, sizing.window, sizing.alpha) = (1, 3, 1_000_000_000, 1_000)
    sizing.off = [.breaker]
    let second: Int64 = 1_000_000_000
    let nodes = [
      node("c", 0, .source, pool: 0), stage("a", 1, costs: [3 * second, second, second]),
      node("s", 2, sink),
    ]
    let pool = Model.Pool(id: "p", capacity: 1, policy: .block, sizing: sizing)
    #expect(
      lines(nodes, ["c a", "a s"], pools: [pool], at: [0, second, 2 * second]) == [
        "@0 a 0:0 deliver", "@0 a 0:0 start", "@1000000000 c 0:1 lost reason=pool",
        "@2000000000 c - resize from=1 pool=p reason=expand to=2", "@2000000000 a 0:2 deliver",
        "@3000000000 a 0:0 done", "@3000000000 s 0:0 deliver", "@3000000000 a 0:2 start",
        "@4000000000 a 0:2 done", "@4000000000 s 0:2 deliver",
      ])
  }

  @Test func `a screen shows the newest image at a refresh, and counts those it never showed`() {
    let beat: Int64 = 1_000_000_000
    let nodes = [node("c", 0, .source), node("s", 1, .screen(millihertz: 1_000))]
    #expect(
      lines(nodes, ["c s"], at: [0, 1, 2, 3 * beat]) == [
        "@0 s 0:0 deliver", "@0 s 0:0 vsync latency=0 repeats=0 unseen=0", "@1 s 0:1 deliver",
        "@2 s 0:2 deliver", "@1000000000 s 0:2 vsync latency=999999998 repeats=0 unseen=1",
        "@3000000000 s 0:3 deliver", "@3000000000 s 0:3 vsync latency=0 repeats=1 unseen=0",
      ])
  }
}
