import RetakeCore
import RetakeGraph
import RetakeTestCatalog
import RetakeTestSupport
import Testing

/// The warnings of `retake pipeline check`, and whether its advice helps.
@Suite struct AdviceTests {
  private let frames = Pipeline.named("p").source(.test("session"))
  private let results = AnyStage.test("results")
  private let at30 = AnalysisOptions(framesPerSecond: 30)

  private func ms(_ count: Int) -> Cost { .fixed(.milliseconds(count)) }

  /// The only warning. Each of its changes must remove it.
  private func warning(
    _ pipeline: Pipeline, _ options: AnalysisOptions,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> PipelineWarning {
    let warnings = try pipeline.analyzed(options).warnings
    #expect(warnings.count == 1, "\(warnings)", sourceLocation: sourceLocation)
    let warning = try #require(warnings.first, sourceLocation: sourceLocation)
    for fixes in warning.fixes {
      let fixed = try pipeline.applying(fixes).analyzed(options).warnings
      #expect(
        !fixed.contains { $0.kind == warning.kind && $0.pointer == warning.pointer }, "\(fixes)",
        sourceLocation: sourceLocation)
    }
    return warning
  }

  private func detect(_ cost: Int) -> PipelineChain<Detections> {
    frames.stage(Gray()).cost(ms(16)).stage(Boxes(options: .init()), id: "detect").cost(ms(cost))
  }

  @Test func `a stage that is too slow for the rate is named, with what is lost and what helps`()
    throws
  {
    let pipeline = detect(45).sink(results)
    let warning = try warning(pipeline, at30)
    #expect(warning.code == "graph.check.overload")
    #expect(warning.pointer == "/nodes/2")
    #expect(
      warning.message
        == "'detect' can process 22.2 of the 30 frames that arrive a second: the queues of camera → "
        + "grey → detect fill, and 'camera' loses about 7.8 frames a second, for all sinks")
    #expect(
      warning.advice
        == "Set the concurrency of 'detect' to 2 (.concurrency(2)), or let frames drop before 'detect' "
        + "(.queue(capacity: 3, policy: .dropOldest))")
    #expect(
      warning.fixes == [
        [.concurrency(node: "detect", count: 2)],
        [.policy(before: "detect", port: nil, .dropOldest)],
      ])
    #expect(try pipeline.analyzed(AnalysisOptions(framesPerSecond: 22)).warnings.isEmpty)
    #expect(try pipeline.analyzed().warnings.isEmpty, "nobody is too slow for an unknown rate")
  }

  @Test func `advice is in the language of the pipeline`() throws {
    var pipeline = detect(45).timeout(.milliseconds(40)).on(executor: "vision").executor("vision")
      .sink(results)
    func advice() throws -> [String] { try pipeline.analyzed(at30).warnings.compactMap(\.advice) }
    let inSwift = try advice().joined(separator: "\n")
    #expect(inSwift.contains("(.concurrency(2))"), "\(inSwift)")
    #expect(inSwift.contains("(.executor(\"vision\", count: 2))"), "\(inSwift)")
    #expect(inSwift.contains("(.queue(capacity: 3, policy: .dropOldest))"), "\(inSwift)")
    #expect(inSwift.contains("(.timeout(.milliseconds(45)))"), "\(inSwift)")
    pipeline.origin = .document
    let inJSON = try advice().joined(separator: "\n")
    #expect(inJSON.contains("(\"concurrency\": 2)"), "\(inJSON)")
    #expect(inJSON.contains("(\"count\": 2)"), "\(inJSON)")
    #expect(inJSON.contains("(\"policy\": \"dropOldest\")"), "\(inJSON)")
    #expect(inJSON.contains("(\"timeout\": \"45ms\")"), "\(inJSON)")
  }

  @Test func `an example of a cost, and what to leave out, are in the language of the pipeline`()
    throws
  {
    func advice(_ pipeline: Pipeline, _ origin: Pipeline.Origin) -> String? {
      var pipeline = pipeline
      pipeline.origin = origin
      do {
        try pipeline.validate()
        return nil
      } catch {
        return error.facts.advice
      }
    }
    let costly = frames.stage(Gray()).cost(.fixed(.seconds(-1))).sink(results)
    #expect(advice(costly, .swift) == "For example .cost(.fixed(.milliseconds(45)))")
    #expect(advice(costly, .document) == "For example {\"fixed\": \"45ms\"}")
    let served = frames.passing(.test("sample")).on(executor: "vision").executor("vision")
      .sink(results)
    #expect(advice(served, .swift) == "Leave out .on(executor:)")
    #expect(advice(served, .document) == "Leave out \"executor\"")
    let hasty = frames.stage(Gray()).timeout(.zero).sink(results)
    #expect(advice(hasty, .swift) == "For example .timeout(.milliseconds(50))")
    #expect(advice(hasty, .document) == "For example \"50ms\"")
  }

  @Test func `a server that is busy all the time is fast enough`() throws {
    let pipeline = detect(40).sink(results)
    #expect(try pipeline.analyzed(AnalysisOptions(framesPerSecond: 25)).warnings.isEmpty)
    #expect(try pipeline.analyzed(AnalysisOptions(framesPerSecond: 25.001)).warnings.count == 1)
    #expect(try pipeline.analyzed(AnalysisOptions(framesPerSecond: 25)).loads.last?.load == 1)
  }

  @Test func `queues that drop are no warning, and say what they let through`() throws {
    let pipeline = detect(45).queue(capacity: 3, policy: .dropNewest).stage(Level()).sink(results)
    let analysis = try pipeline.analyzed(at30)
    #expect(analysis.warnings.isEmpty)
    #expect(
      analysis.notes.contains(
        "'detect' is busy all the time: the queue before 'detect' (dropNewest) lets 22.2 of 30 "
          + "frames a second through"))
    #expect(analysis.loads.last { $0.executor == "detect" }?.load == 1)
  }

  @Test func `a queue that drops further in front relieves too, and no other branch loses frames`()
    throws
  {
    let pipeline = Pipeline.combining(
      frames.stage(Gray()).queue(capacity: 1, policy: .replace)
        .stage(Boxes(options: .init())).cost(ms(100)).sink(results, id: "found"),
      frames.stage(View()).cost(ms(30)).sink(results, id: "screen"))
    let analysis = try pipeline.analyzed(at30)
    #expect(analysis.warnings.isEmpty)
    #expect(
      analysis.notes.contains(
        "'boxes' is busy all the time: the queue before 'grey' (replace) lets 10 of 30 frames a "
          + "second through"))
    #expect(analysis.loads.map { $0.load.map { ($0 * 100).rounded() } } == [0, 100, 90])
  }

  @Test func `a shared executor needs servers, and its nodes slots`() throws {
    let pipeline = frames.stage(Gray()).cost(ms(20)).on(executor: "vision")
      .stage(Boxes(options: .init()), id: "detect").cost(ms(50)).on(executor: "vision")
      .executor("vision").sink(results)
    let warning = try warning(pipeline, at30)
    #expect(warning.pointer == "/executors/0")
    #expect(
      warning.message
        == "the executor 'vision' has 1 server and work for 2.1 ('grey', 'detect'): the queues of "
        + "camera → grey fill, and 'camera' loses about 15.7 frames a second, for all sinks")
    #expect(
      warning.fixes == [
        [.concurrency(node: "detect", count: 2), .servers(executor: "vision", count: 3)],
        [.policy(before: "grey", port: nil, .dropOldest)],
      ])
  }

  @Test func `a stage that remembers gets no slots`() throws {
    let pipeline = frames.stage(Boxes(options: .init())).stage(Level()).cost(ms(50)).sink(results)
    let warning = try warning(pipeline, at30)
    #expect(warning.fixes == [[.policy(before: "brightness", port: nil, .dropOldest)]])
    let wide = frames.stage(Gray()).cost(.fixed(.seconds(3))).sink(results)
    #expect(
      try self.warning(wide, at30).fixes == [[.policy(before: "grey", port: nil, .dropOldest)]])
  }

  @Test func `frames that pile up in a body are dropped in front of the forEach`() throws {
    let named: PipelineChain<Detections> = frames.forEach(frames.stage(Boxes(options: .init()))) {
      $0.stage(RegionPixels()).stage(Labels()).cost(ms(10))
    }
    let options = AnalysisOptions(framesPerSecond: 30, items: 5)
    let warning = try warning(named.sink(results), options)
    #expect(warning.pointer == "/nodes/3/body/nodes/1")
    #expect(warning.message.hasPrefix("'forEach/labels' can process 100 of the 150 items that"))
    #expect(
      warning.fixes == [
        [.concurrency(node: "forEach/labels", count: 2)],
        [.policy(before: "forEach", port: nil, .dropOldest)],
      ])
  }

  @Test func `one slow branch of a join holds both up`() throws {
    let joined = Pipeline.joining(
      frames.stage(Gray(), id: "fast").cost(ms(5)), frames.stage(Gray(), id: "slow").cost(ms(50)))
    let warning = try warning(joined.stage(Fusion()).sink(results), at30)
    #expect(warning.message.contains("camera → slow fill"))
    // Frames that are dropped before one branch would leave their partners alone.
    #expect(warning.fixes.first == [.concurrency(node: "slow", count: 2)])
    let dropped = try joined.stage(Fusion()).sink(results).applying(warning.fixes[1])
      .analyzed(at30).warnings
    #expect(dropped.map(\.kind) == [.partner])
  }

  @Test func `a path that is too long says how much, and which stage would have to change`() throws
  {
    let pipeline = detect(45).stage(Level()).sink(results, id: "boxes")
    let options = AnalysisOptions(budget: .milliseconds(33))
    let warning = try warning(pipeline, options)
    #expect(warning.code == "graph.check.budget")
    #expect(warning.pointer == "/nodes/4")
    #expect(
      warning.message
        == "the path camera → grey → detect → brightness → boxes needs 61 ms; the budget is 33 ms")
    #expect(
      warning.advice
        == "More concurrency does not make one frame faster: let 'detect' take 17 ms instead of 45 ms, or "
        + "raise the budget")
    #expect(warning.fixes.isEmpty)
    let faster = detect(17).stage(Level()).sink(results, id: "boxes")
    #expect(try faster.analyzed(options).warnings.isEmpty)
  }

  @Test func `waiting in full queues goes with slots, or with queues that drop`() throws {
    let pipeline = detect(45).sink(results)
    let options = AnalysisOptions(framesPerSecond: 30, budget: .milliseconds(100))
    let warnings = try pipeline.analyzed(options).warnings
    #expect(warnings.map(\.kind) == [.overload, .budget])
    let budget = try #require(warnings.last)
    #expect(
      budget.message
        == "the path camera → grey → detect → results needs 61 ms, and frames wait up to 299 ms in "
        + "full queues; the budget is 100 ms")
    #expect(
      budget.fixes == [
        [.concurrency(node: "detect", count: 2)], [.policy(before: "detect", port: nil, .replace)],
      ])
    for fixes in budget.fixes {
      #expect(try pipeline.applying(fixes).analyzed(options).warnings.isEmpty, "\(fixes)")
    }
    let halfWay = try pipeline.applying([.policy(before: "detect", port: nil, .dropOldest)])
      .analyzed(options).warnings
    #expect(halfWay.map(\.kind) == [.budget], "three frames at 30 a second are 100 ms")
  }

  @Test func `items of one frame go faster on more concurrency`() throws {
    let named: PipelineChain<Detections> = frames.forEach(frames.stage(Boxes(options: .init()))) {
      $0.stage(RegionPixels()).stage(Labels()).cost(ms(10))
    }
    let options = AnalysisOptions(items: 8, budget: .milliseconds(33))
    let warning = try warning(named.sink(results), options)
    #expect(warning.fixes == [[.concurrency(node: "forEach/labels", count: 8)]])
  }

  @Test func `an executor gets a server for each slot of its own nodes`() throws {
    let named: PipelineChain<Detections> = frames.forEach(frames.stage(Boxes(options: .init()))) {
      $0.stage(RegionPixels()).cost(ms(4)).on(executor: "crops")
        .stage(Labels()).cost(ms(10)).on(executor: "names")
    }
    let pipeline = named.executor("crops").executor("names").sink(results)
    let options = AnalysisOptions(items: 8, budget: .milliseconds(33))
    let warning = try warning(pipeline, options)
    #expect(
      warning.fixes.map(Set.init) == [
        [
          .concurrency(node: "forEach/crop", count: 8),
          .concurrency(node: "forEach/labels", count: 8),
          .servers(executor: "crops", count: 8), .servers(executor: "names", count: 8),
        ]
      ])
  }

  @Test func `each sink can have a budget of its own`() throws {
    let pipeline = Pipeline.combining(
      detect(45).sink(results, id: "boxes"), frames.sink(results, id: "screen"))
    let options = AnalysisOptions(
      budget: .milliseconds(1), budgets: ["boxes": .milliseconds(61)])
    #expect(try pipeline.analyzed(options).warnings.isEmpty)
    let short = AnalysisOptions(budgets: ["boxes": .milliseconds(60)])
    #expect(try pipeline.analyzed(short).warnings.map(\.pointer) == ["/nodes/3"])
  }

  @Test func `a timeout that is shorter than the work, and a part that is always late`() throws {
    let tooShort = try warning(detect(45).timeout(.milliseconds(40)).sink(results), at30.unknown)
    #expect(
      tooShort.message
        == "'detect' always takes longer (45 ms) than its timeout of 40 ms: its frames fail")
    #expect(tooShort.fixes == [[.timeout(node: "detect", .milliseconds(45))]])
    let often = detect(45).cost(.quantiles(p50: .milliseconds(50), p99: .milliseconds(90)))
      .timeout(.milliseconds(50)).sink(results)
    #expect(try often.analyzed().warnings.isEmpty)

    func joined(_ mode: JoinMode) -> Pipeline {
      Pipeline.joining(
        frames.stage(Gray(), id: "fast").cost(ms(5)), frames.stage(Gray(), id: "slow").cost(ms(50)),
        mode: mode, timeout: .milliseconds(45)
      ).stage(Fusion()).sink(results)
    }
    let late = try warning(joined(.any), AnalysisOptions())
    #expect(
      late.message
        == "'join' waits 45 ms from the first part, and 'slow' comes 45 ms after it: it continues "
        + "without")
    #expect(late.pointer == "/nodes/3/timeout")
    #expect(late.fixes == [[.timeout(node: "join", .milliseconds(46))]])
    #expect(try warning(joined(.all), AnalysisOptions()).message.hasSuffix("dropped (timeout)"))
  }

  @Test func `frames that are throttled in one branch leave their partners alone`() throws {
    let joined = Pipeline.joining(
      frames.passing(.test("sample"), id: "third").stage(Gray()), frames, ports: ["grey", "frame"])
    let warning = try warning(joined.stage(Fusion()).sink(results), AnalysisOptions())
    #expect(warning.code == "graph.check.partner")
    #expect(
      warning.message
        == "frames that end at 'third' leave their other parts alone at 'join', which drops them "
        + "(partnerMissing)")
    let sampled = frames.passing(.test("sample"))
    let both = Pipeline.joining(sampled.stage(Gray()), sampled, ports: ["grey", "frame"])
    #expect(try both.stage(Fusion()).sink(results).analyzed().warnings.isEmpty)
    let any = Pipeline.joining(
      frames.passing(.test("sample")), frames, ports: ["grey", "frame"], mode: .any)
    #expect(try any.stage(Fusion()).sink(results).analyzed().warnings.isEmpty)
    let throttled = Pipeline.joining(
      frames.passing(.test("throttle")), frames, ports: ["slow", "frame"])
    let pipeline = throttled.stage(Fusion()).sink(results)
    #expect(try pipeline.analyzed(at30).warnings.map(\.kind) == [.partner])
    #expect(try pipeline.analyzed(AnalysisOptions(framesPerSecond: 15)).warnings.isEmpty)
  }

  @Test func `a pool that the items of one frame empty`() throws {
    let named: PipelineChain<Items> = frames.forEach(frames.stage(Boxes(options: .init()))) {
      $0.stage(RegionPixels()).pool("crops")
    }
    let pipeline = named.pool("crops", capacity: 6).sink(results)
    #expect(try pipeline.analyzed(AnalysisOptions(items: 6)).warnings.isEmpty)
    let warning = try warning(pipeline, AnalysisOptions(items: 7))
    #expect(
      warning.message
        == "each detection in 'forEach' keeps a buffer of 'crops' until the last is done: with more "
        + "than 6 of them the frame never leaves it")
    #expect(warning.advice == "Set the capacity of 'crops' to 7")
  }

  @Test func `what nobody uses is noted`() throws {
    let pipeline = frames.executor("idle").pool("spare", capacity: 2).sink(results)
    #expect(
      try pipeline.analyzed().notes == [
        "executors that serve no stage: idle", "pools that no stage uses: spare",
      ])
  }

  @Test func `the changes that are proposed help, in 100 random pipelines`() throws {
    var random = SeededGenerator(seed: 4)
    var kinds: [PipelineWarning.Kind: Int] = [:]
    for _ in 0..<100 {
      let pipeline = randomPipeline(&random)
      let options = AnalysisOptions(
        framesPerSecond: Double(random.pick(5...60)), items: random.pick(1...6),
        budget: .milliseconds(random.pick(20...300)))
      for warning in try pipeline.analyzed(options).warnings {
        kinds[warning.kind, default: 0] += warning.fixes.count
        #expect(warning.advice?.isEmpty == false)
        for fixes in warning.fixes {
          let rest = try pipeline.applying(fixes).analyzed(options).warnings
          #expect(!rest.contains { $0.kind == warning.kind && $0.pointer == warning.pointer })
        }
      }
    }
    #expect(kinds[.overload, default: 0] > 30 && kinds[.budget, default: 0] > 15, "\(kinds)")
    #expect(kinds[.timeout, default: 0] > 3, "\(kinds)")
  }

  private func randomPipeline(_ random: inout SeededGenerator) -> Pipeline {
    func cost() -> Cost {
      let low = Duration.milliseconds(random.pick(1...40))
      return random.pick([
        .fixed(low), .uniform(low, low * 2), .quantiles(p50: low, p99: low * 3),
      ])
    }
    var left = frames.stage(Gray(), id: "left").cost(cost()).concurrency(random.pick(1...2))
    if random.chance(40) { left = left.on(executor: "shared") }
    if random.chance(30) { left = left.queue(capacity: 2, policy: .dropOldest) }
    var found = left.stage(Boxes(options: .init())).cost(cost())
    if random.chance(40) { found = found.on(executor: "shared") }
    if random.chance(30) { found = found.timeout(.milliseconds(random.pick(10...60))) }
    let joined = Pipeline.joining(
      left, found, ports: ["frame", "found"], mode: random.chance(50) ? .any : .all,
      timeout: random.chance(30) ? .milliseconds(random.pick(5...60)) : nil)
    let named: PipelineChain<Detections> = joined.executor("shared", count: random.pick(1...2))
      .forEach { $0.stage(RegionPixels()).cost(cost()).stage(Labels()).cost(cost()) }
    return Pipeline.combining(
      named.stage(Level()).cost(cost()).sink(results, id: "named"),
      frames.stage(View()).cost(cost()).sink(results, id: "screen"))
  }

  @Test func `a warning about a pipeline made in Swift is placed by names`() throws {
    let pipeline = frames.stage(Gray()).cost(ms(50)).sink(results)
    let warnings = try pipeline.analyzed(at30).warnings
    #expect(warnings.map { $0.place?.description } == ["stage 'grey'"])
    #expect(warnings.map(\.pointer) == ["/nodes/1"])
  }
}

extension AnalysisOptions {
  /// Without rates.
  fileprivate var unknown: AnalysisOptions { AnalysisOptions(items: items, budget: budget) }
}
