import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import Testing

@Suite struct ReplayTests {
  @Test func `a pipeline that brings its own frames needs no session`() throws {
    let replay = try Samples.replay(Samples.own(), reader: nil) { $0.sessionName = nil }
    let summary = try replay.run()
    #expect(summary.session == nil)
    #expect(summary.frames.captured == 12)
    #expect(summary.frames.delivered == 12)
    #expect(replay.tracks.isEmpty)
  }

  @Test func `a pipeline that reads a session says so when there is none`() {
    #expect(throws: ReplayError.noSession(node: "camera")) {
      try Samples.replay(reader: nil)
    }
  }

  @Test func `the summary names the session, the case and the pipeline, and balances`() throws {
    let summary = try Samples.replay { $0.options.mode = .simulate }.run()
    #expect(summary.session == "steps")
    #expect(summary.caseName == "brightness")
    #expect(summary.pipeline == "brightness")
    #expect(summary.mode == "simulate")
    #expect(summary.frames.isBalanced)
    #expect(summary.frames.captured == 12)
    #expect(summary.decisions > 0)
  }

  @Test func `without a choice the first track is read`() throws {
    let replay = try Samples.replay(reader: StepFrames(numbers: [2, 3]))
    #expect(replay.tracks == ["camera": 2])
  }

  @Test func `the choice of a track wins over the node's option`() throws {
    let pipeline = Samples.brightness(track: 2)
    let reader = StepFrames(numbers: [1, 2, 3])
    let byOption = try Samples.replay(pipeline, reader: reader)
    let byRequest = try Samples.replay(pipeline, reader: reader) { $0.tracks = ["camera": 3] }
    let notes = (Notes(), Notes())
    _ = try byOption.run(observers: [notes.0])
    _ = try byRequest.run(observers: [notes.1])
    #expect(notes.0.results.map(\.id.track) == [Int](repeating: 2, count: 12))
    #expect(notes.1.results.map(\.id.track) == [Int](repeating: 3, count: 12))
  }

  @Test(arguments: [
    ([2], []), ([0, 1], ["track 1 (12 frames) is not read by this pipeline"]),
    ([0, 1, 3], ["tracks 1 (12 frames), 3 (12 frames) are not read by this pipeline"]),
  ])
  func `tracks that no source reads are noted`(numbers: [Int], notes: [String]) throws {
    let reader = StepFrames(numbers: numbers)
    #expect(try Samples.replay(reader: reader).unreadNotes(reader) == notes)
    let own = try Samples.replay(Samples.own(), reader: nil)
    #expect(own.unreadNotes(reader).isEmpty && own.unreadNotes(nil).isEmpty)
  }

  @Test func `a sink that got nothing although there were frames is noted`() throws {
    let pipeline = Pipeline.combining(
      Pipeline.named("both").source(.session()).stage(Growth()).sink(.numbers, id: "numbers"),
      Pipeline.named("both").source(.session()).stage(Silent()).sink(.numbers, id: "quiet"))
    let summary = try Samples.replay(pipeline).run()
    #expect(summary.silentSinks == ["quiet"])
    #expect(summary.silenceNotes == ["the sink 'quiet' received no result in any of 12 frames"])
    #expect(try Samples.replay().run().silentSinks == nil)
    let empty = try Samples.replay(pipeline, reader: StepFrames(count: 0)).run()
    #expect(empty.silentSinks == nil, "there were no frames")
  }

  @Test func `a track that is not there names those that are`() throws {
    let error = #expect(throws: RuntimeError.self) {
      try Samples.replay(reader: StepFrames(numbers: [0, 3])) { $0.tracks = ["camera": 7] }.run()
    }
    #expect(error?.code == "runtime.source.noSuchTrack")
    #expect(error?.advice == "It has track 0, 3")
  }

  @Test func `a track for a node that is no source suggests the source`() throws {
    let error = #expect(throws: ReplayError.self) {
      try Samples.replay { $0.tracks = ["camra": 0] }
    }
    #expect(error?.code == "replay.case.unknownSource")
    #expect(error?.advice == "Did you mean 'camera'?")
  }

  @Test func `a coarser precision of the case changes the result digest and no decision`() throws {
    let pipeline = Pipeline.named("thirds").source(.session())
      .map("third") { (frame: Frame, _) in
        Scalars([.init("third", Double(frame.id.sequence) / 3)])
      }.sink(.numbers, id: "numbers")
    let fine = try Samples.replay(pipeline).run()
    let coarse = try Samples.replay(pipeline) {
      $0.precision = ["numbers": ["scalar": 1]]
    }.run()
    #expect(fine.resultDigest != coarse.resultDigest)
    #expect(fine.decisionDigest == coarse.decisionDigest)
  }

  @Test(arguments: [
    (["scaler": 0.1], "Did you mean 'scalar'?"), (["scalar": 0.3], "power"),
    (["box": 0], "power"), (["score": -1], "power"), (["score": .infinity], "power"),
  ])
  func `a precision that cannot be used is refused by name`(
    precision: [String: Double], said: String
  ) throws {
    let error = #expect(throws: ReplayError.self) {
      try Samples.replay { $0.precision = ["numbers": precision] }
    }
    #expect(error?.code == "replay.case.badPrecision")
    #expect(error?.message.contains("'numbers'") == true)
    #expect(error.map { "\($0.message) \($0.advice ?? "")".contains(said) } == true)
  }

  @Test func `a precision for a sink that is not there is refused by name`() throws {
    let error = #expect(throws: ReplayError.self) {
      try Samples.replay { $0.precision = ["number": ["scalar": 1]] }
    }
    #expect(error?.code == "replay.case.unknownSink")
    #expect(error?.advice == "Did you mean 'numbers'?")
  }

  @Test func `workers and delays change no digest`() throws {
    let runs = try [0, 1, 2, 4].map { workers in
      try Samples.replay(Samples.own(frames: 30), reader: nil) {
        $0.options = RunOptions(
          mode: .simulate, workers: workers, perturbation: UInt64(workers) + 1)
      }.run()
    }
    #expect(Set(runs.map(\.decisionDigest)).count == 1)
    #expect(Set(runs.map(\.resultDigest)).count == 1)
  }

  @Test func `an interrupted run is an error, never a short result`() throws {
    let replay = try Samples.replay { $0.options.isInterrupted = { true } }
    #expect(throws: RuntimeError.interrupted) { try replay.run() }
  }
}
