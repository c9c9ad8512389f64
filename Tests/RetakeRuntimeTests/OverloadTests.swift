import RetakeGraph
import RetakeRuntime
import Testing

@Suite struct OverloadTests {
  /// One stage after a queue, as the tests of this suite need it.
  private func pipeline(
    _ frames: TinyFrames, cost: Int, capacity: Int = 3, policy: EdgePolicy
  ) -> Pipeline {
    Pipeline.named("overload").source(Nodes.source(frames))
      .stage(Brightness(), id: "detect").cost(.fixed(.milliseconds(cost)))
      .queue(capacity: capacity, policy: policy)
      .sink(Nodes.sink())
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `45 ms at 30 fps with a queue of three drops exactly the frames that the model says`(
    workers: Int
  ) throws {
    let (notes, outcome) = try pipeline(
      .at(rate: 30, count: 60), cost: 45, policy: .dropNewest
    ).noted(RunOptions(mode: .simulate, workers: workers))

    #expect(
      notes.sequences("drop") == [12, 16, 20, 24, 28, 31, 35, 39, 43, 47, 51, 55, 58])
    #expect(outcome.headline.captured == 60)
    #expect(outcome.headline.delivered == 47)
    #expect(outcome.headline.dropped == ["queue": 13])
    #expect(outcome.headline.isBalanced)
  }

  @Test func `a completion at the nanosecond of an arrival frees the place that it needs`() throws {
    let timeline = "f---f---f---f"
    let fates = try pipeline(.on(timeline), cost: 4, capacity: 1, policy: .dropNewest)
      .noted().notes.fates
    #expect(fates == "....")
    let tooSlow = try pipeline(
      TinyFrames(times: [0, 4_000_000, 7_999_999, 11_999_999]), cost: 4, capacity: 1,
      policy: .dropNewest
    ).noted().notes.fates
    #expect(tooSlow == "....")
    let late = try pipeline(
      TinyFrames(times: [0, 1_000_000, 3_999_999, 4_000_000]), cost: 4, capacity: 1,
      policy: .dropNewest
    ).noted().notes.fates
    #expect(late == "..d.")
  }

  @Test func `the newest frame is dropped when the queue is full`() throws {
    let fates = try pipeline(.on("ffff---------"), cost: 10, capacity: 2, policy: .dropNewest)
      .noted().notes.fates
    #expect(fates == "...d")
  }

  @Test func `the oldest frame is dropped when the queue is full`() throws {
    let fates = try pipeline(.on("ffff---------"), cost: 10, capacity: 2, policy: .dropOldest)
      .noted().notes.fates
    #expect(fates == ".d..")
  }

  @Test func `a replace edge keeps only the newest`() throws {
    let fates = try pipeline(.on("ffff---------"), cost: 10, capacity: 1, policy: .replace)
      .noted().notes.fates
    #expect(fates == ".ss.")
  }

  @Test func `a source in front of a full block edge loses frames before capture`() throws {
    let (notes, outcome) = try pipeline(.on("ffff---------"), cost: 10, capacity: 2, policy: .block)
      .noted()
    #expect(notes.fates == "...")
    #expect(notes.sequences("lost") == [3])
    #expect(outcome.lostBeforeCapture == 1)
    #expect(outcome.headline.captured == 3)
    #expect(notes.sequences("outcome").isEmpty)
  }

  @Test func `frames of one instant count as waiting before they are in the queue`() throws {
    let frames = TinyFrames(times: [0, 0, 0, 0])
    let (notes, outcome) = try pipeline(frames, cost: 1, capacity: 2, policy: .block).noted()
    #expect(notes.sequences("lost") == [2, 3])
    #expect(outcome.headline.captured == 2)
  }

  @Test func `a slow stage holds up the one before it`() throws {
    let pipeline = Pipeline.named("chain").source(Nodes.source(.on("ffffff-------")))
      .stage(Brightness(), id: "fast").cost(.fixed(.milliseconds(1)))
      .queue(capacity: 1, policy: .dropNewest)
      .stage(Counter(), id: "slow").cost(.fixed(.milliseconds(100)))
      .queue(capacity: 1, policy: .block)
      .sink(Nodes.sink())
    let (notes, outcome) = try pipeline.noted()
    #expect(notes.sequences("block") == [2, 3])
    #expect(notes.sequences("unblock") == [2, 3])
    #expect(notes.fates == "....dd")
    #expect(outcome.headline.isBalanced)
  }

  @Test func `decision lines come in one order and in one form`() throws {
    let (notes, _) = try pipeline(.on("ff"), cost: 3, capacity: 1, policy: .dropNewest).noted()
    #expect(
      notes.lines.map(\.description) == [
        "@0 detect 0:0 deliver", "@0 detect 0:0 start", "@1000000 detect 0:1 deliver",
        "@3000000 detect 0:0 done", "@3000000 results 0:0 deliver", "@3000000 detect 0:1 start",
        "@6000000 detect 0:1 done", "@6000000 results 0:1 deliver",
      ])
  }

  @Test func `a drop sends its reason to the sink at its own instant`() throws {
    let (notes, _) = try pipeline(.on("fff"), cost: 9, capacity: 1, policy: .dropNewest).noted()
    let lines = notes.lines.filter { $0.frame?.sequence == 2 }.map(\.description)
    #expect(
      lines == [
        "@2000000 detect 0:2 drop reason=queue",
        "@2000000 results 0:2 outcome fate=drop node=detect reason=queue",
      ])
  }
}
