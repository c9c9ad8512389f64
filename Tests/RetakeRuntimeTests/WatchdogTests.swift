import Dispatch
import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

/// A clock whose deadlines pass at once, but only after a test has said that time is up.
private final class PatientClock: LiveClock {
  private let state = Locked((isUp: false, conditions: [ThreadCondition]()))

  var monotonicNanoseconds: Int64 { 0 }

  func anchor() -> WallAnchor {
    WallAnchor(
      monotonicNanoseconds: 0, unixNanoseconds: 0, bootNanoseconds: 0, uncertaintyNanoseconds: 0)
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    let isUp = state.withLock {
      $0.conditions.append(condition)
      return $0.isUp
    }
    if !isUp { condition.wait() }
  }

  func letTimeBeUp() {
    let conditions = state.withLock {
      $0.isUp = true
      return $0.conditions
    }
    for condition in conditions { condition.signal() }
  }
}

/// Hangs until the test ends.
private final class Trap: Sendable {
  let clock = PatientClock()
  private let door = DispatchSemaphore(value: 0)

  func fall() {
    clock.letTimeBeUp()
    door.wait()
    door.signal()
  }

  func open() { door.signal() }
}

@Suite struct WatchdogTests {
  /// A single frame with the number 3: if its body hangs, no other work can continue.
  private func frame() -> TinyFrames {
    var frames = TinyFrames.at(rate: 30, count: 4)
    frames.shed = [0, 1, 2]
    return frames
  }

  private func options(_ workers: Int, _ trap: Trap) -> RunOptions {
    var options = RunOptions(workers: workers, watchdog: .seconds(60))
    options.clock = trap.clock
    return options
  }

  private func failure(_ pipeline: Pipeline, _ options: RunOptions) -> RuntimeError? {
    #expect(throws: RuntimeError.self) { _ = try pipeline.noted(options) }
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `a body that does not come back ends the run and is named`(workers: Int) throws {
    let trap = Trap()
    defer { trap.open() }
    let pipeline = Pipeline.named("trap").source(Nodes.source(frame())).stage(Brightness())
      .map("stuck") { (input: Scalars, _) in
        trap.fall()
        return input
      }.sink(Nodes.sink())
    let error = try #require(failure(pipeline, options(workers, trap)))
    #expect(error == .hung(node: "stuck", FrameID(track: 0, sequence: 3), seconds: 60))
    #expect(error.code == "runtime.stage.hung")
    #expect(error.description.contains("'stuck' has not returned for 60 s"))
    #expect(error.advice?.contains("--watchdog 600") == true)
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `a sink of a user's that hangs is named too`(workers: Int) throws {
    let trap = Trap()
    defer { trap.open() }
    let sink = AnyStage(
      signature: StageSignature(
        kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in trap.fall() })
    let pipeline = Pipeline.named("trap").source(Nodes.source(frame())).stage(Brightness())
      .sink(sink)
    let error = try #require(failure(pipeline, options(workers, trap)))
    #expect(error == .hung(node: "results", FrameID(track: 0, sequence: 3), seconds: 60))
  }

  @Test(arguments: [0, 1, 2, 4])
  func `a pinned body that hangs is named, and whoever waits behind it is not`(
    count: Int
  ) throws {
    let trap = Trap()
    let watch = RunWatch()
    let isInside = DispatchSemaphore(value: 0)
    let thread = HelpingThread(watch) { watch in
      let workers = try Workers(count: count, lanes: [1], watch: watch)
      defer { workers.stop() }
      let futures = (0..<3).map { number in
        ValueFuture(
          node: 5, frame: FrameID(track: 0, sequence: number), inputs: [], lane: 1, isNeeded: true,
          isDigested: false
        ) { _ in
          isInside.signal()
          trap.fall()
          return .cancelled
        }
      }
      for future in futures { workers.submit(future) }
      isInside.wait()
      _ = try workers.help(futures[2])
    }
    let activity = thread.giveUp { if case .waiting = $0 { true } else { false } }
    let body = WatchedBody(node: 5, frame: FrameID(track: 0, sequence: 0))
    #expect(activity == .waiting(body))
    thread.giveUp { $0 == .stopping }
    #expect(thread.error as? HungBody == HungBody(body: body))
    trap.open()
  }

  @Test func `while the time plane sleeps, the body that runs now is the one to blame`() throws {
    let watch = RunWatch()
    let doors = (0..<3).map { _ in DispatchSemaphore(value: 0) }
    let isInside = DispatchSemaphore(value: 0)
    let thread = HelpingThread(watch) { watch in
      let workers = try Workers(count: 2, lanes: [1], watch: watch)
      defer { workers.stop() }
      // Each body leads to the next body on the other worker's thread, and no body wakes the time
      // plane.
      var chain: [ValueFuture] = []
      for (number, door) in doors.enumerated() {
        chain.append(
          ValueFuture(
            node: number, frame: FrameID(track: 0, sequence: 0), item: 7,
            inputs: chain.last.map { [$0] } ?? [], isNeeded: true, isDigested: false
          ) { _ in
            isInside.signal()
            door.wait()
            return .cancelled
          })
      }
      for future in chain { workers.submit(future) }
      isInside.wait()
      _ = try workers.help(chain[2])
    }
    let isWaiting = { (sight: RunWatch.Sight) in
      if case .waiting = sight.activity { true } else { false }
    }
    var sights = [thread.look(until: isWaiting)]
    for door in doors.dropLast() {
      door.signal()
      isInside.wait()
      sights.append(watch.look())
    }
    let bodies = (0..<3).map {
      WatchedBody(node: $0, frame: FrameID(track: 0, sequence: 0), item: 7)
    }
    #expect(sights.map(\.activity) == bodies.map { .waiting($0) })
    #expect(Set(sights.map(\.turn)).count == 1, "the time plane slept all the while")
    #expect(watch.giveUp(sights[2]))
    thread.giveUp { $0 == .stopping }
    #expect(thread.error as? HungBody == HungBody(body: bodies[2]))
    doors[2].signal()
  }

  @Test func `a hanging body that nobody needs keeps the run from ending, not for ever`() throws {
    let trap = Trap()
    let watch = RunWatch()
    let isInside = DispatchSemaphore(value: 0)
    let thread = HelpingThread(watch) { watch in
      let workers = try Workers(count: 2, lanes: [1], watch: watch)
      let speculation = ValueFuture(
        node: 0, frame: FrameID(track: 0, sequence: 0), inputs: [], isNeeded: false,
        isDigested: false
      ) { _ in
        isInside.signal()
        trap.fall()
        return .cancelled
      }
      workers.submit(speculation)
      isInside.wait()
      workers.cancel(speculation)
      workers.stop()
    }
    thread.giveUp { $0 == .stopping }
    #expect(thread.error == nil)
    trap.open()
  }

  @Test func `without a watchdog the run stays on the thread that asked for it`() throws {
    let caller = ObjectIdentifier(Thread.current)
    let isSame = Locked([Bool]())
    let sink = AnyStage(
      signature: StageSignature(
        kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]),
      body: .sink { _ in
        let same = ObjectIdentifier(Thread.current) == caller
        isSame.withLock { $0.append(same) }
      })
    let pipeline = Pipeline.named("here").source(Nodes.source(frame())).stage(Brightness())
      .sink(sink)
    for watchdog in [nil, .zero, .seconds(60)] as [Duration?] {
      _ = try pipeline.noted(RunOptions(workers: 2, watchdog: watchdog))
    }
    #expect(isSame.withLock { $0 } == [true, true, false])
  }

  @Test func `errors of a run come out of its thread`() {
    let options = RunOptions(isInterrupted: { true })
    let pipeline = Pipeline.named("end").source(Nodes.source(frame())).stage(Brightness())
      .sink(Nodes.sink())
    #expect(throws: RuntimeError.interrupted) { try pipeline.noted(options) }
  }
}

/// Plays the role of the time plane, so that the test can play the role of the watchdog.
private final class HelpingThread: Sendable {
  private let watch: RunWatch
  private let ended = DispatchSemaphore(value: 0)
  private let result = Locked<Result<Void, any Error>?>(nil)

  init(_ watch: RunWatch, _ body: @escaping @Sendable (RunWatch) throws -> Void) {
    self.watch = watch
    Thread { [self] in
      let result = Result { try body(watch) }
      self.result.withLock { $0 = result }
      ended.signal()
    }.start()
  }

  /// Waits for an activity, and abandons it.
  @discardableResult
  func giveUp(when isMeant: (RunWatch.Activity) -> Bool) -> RunWatch.Activity {
    // Ends: the awaited activity happens, or the test never passes.
    while true {
      let sight = look { isMeant($0.activity) }
      if watch.giveUp(sight) { return sight.activity }
    }
  }

  /// Checks until it sees the wanted sight.
  func look(until isMeant: (RunWatch.Sight) -> Bool) -> RunWatch.Sight {
    // Ends: the awaited sight happens, or the test never passes.
    while true {
      let sight = watch.look()
      if isMeant(sight) { return sight }
      sched_yield()
    }
  }

  /// The error that the body threw, after its end.
  var error: (any Error)? {
    ended.wait()
    guard case .failure(let error) = result.withLock({ $0 }) else { return nil }
    return error
  }
}
