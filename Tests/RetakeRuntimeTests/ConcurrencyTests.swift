import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import Testing

@testable import RetakeRuntime

@Suite struct LaneTests {
  private struct Call: Sendable {
    var number: Int
    var thread: String
  }

  private func future(
    _ number: Int, _ inputs: [ValueFuture] = [], lane: Int? = nil,
    seen: Locked<[Call]>
  ) -> ValueFuture {
    ValueFuture(
      node: number, frame: FrameID(track: 0, sequence: number), inputs: inputs, lane: lane,
      isNeeded: true, isDigested: false
    ) { outcomes in
      let call = Call(number: number, thread: "\(pthread_self())")
      seen.withLock { $0.append(call) }
      return .value(Scalars([.init("n", Double(outcomes.count))]))
    }
  }

  @Test(arguments: [0, 1, 2, 8])
  func `a pinned stage runs on one thread, in order, whatever the others do`(count: Int) throws {
    let workers = try Workers(count: count, lanes: [4])
    defer { workers.stop() }
    let pinned = Locked([Call]())
    let others = Locked([Call]())
    var last: ValueFuture?
    for number in 0..<200 {
      let input = future(number, seen: others)
      let stage = future(
        number, [input] + (last.map { [$0] } ?? []), lane: 4, seen: pinned)
      let after = future(number, [stage], seen: others)
      for future in [input, stage, after] { workers.submit(future) }
      last = stage
      if number % 10 == 9 { _ = try workers.help(after) }
    }
    let calls = pinned.withLock { $0 }
    #expect(calls.map(\.number) == Array(0..<200))
    #expect(Set(calls.map(\.thread)).count == 1)
    #expect(!others.withLock { $0 }.contains { $0.thread == calls[0].thread })
  }

  @Test(arguments: [0, 1, 2])
  func `lanes do not wait for each other`(count: Int) throws {
    let workers = try Workers(count: count, lanes: [0, 1])
    defer { workers.stop() }
    let isOpen = DispatchSemaphore(value: 0)
    let first = ValueFuture(
      node: 0, frame: FrameID(track: 0, sequence: 0), inputs: [], lane: 0, isNeeded: true,
      isDigested: false
    ) { _ in
      isOpen.wait()
      return .cancelled
    }
    let second = ValueFuture(
      node: 1, frame: FrameID(track: 0, sequence: 0), inputs: [], lane: 1, isNeeded: true,
      isDigested: false
    ) { _ in
      isOpen.signal()
      return .cancelled
    }
    workers.submit(first)
    workers.submit(second)
    _ = try workers.help(first)
    _ = try workers.help(second)
    #expect(first.isDone && second.isDone)
    #expect(workers.lanes.count == 2)
  }

  @Test(arguments: [0, 1, 2])
  func `a pinned body that waits for something takes no worker`(count: Int) throws {
    let workers = try Workers(count: count, lanes: [0])
    defer { workers.stop() }
    let isComputed = DispatchSemaphore(value: 0)
    let waiting = ValueFuture(
      node: 0, frame: FrameID(track: 0, sequence: 0), inputs: [], lane: 0, isNeeded: true,
      isDigested: false
    ) { _ in
      isComputed.wait()
      return .cancelled
    }
    let other = ValueFuture(
      node: 1, frame: FrameID(track: 0, sequence: 0), inputs: [], lane: nil, isNeeded: true,
      isDigested: false
    ) { _ in
      isComputed.signal()
      return .cancelled
    }
    workers.submit(waiting)
    workers.submit(other)
    _ = try workers.help(waiting)
    #expect(waiting.isDone && other.isDone)
  }

  @Test(arguments: [0, 1, 2])
  func `a pinned computation that is cancelled in its queue is not held there`(
    count: Int
  ) throws {
    let workers = try Workers(count: count, lanes: [0])
    defer { workers.stop() }
    let isOpen = DispatchSemaphore(value: 0)
    let isInside = DispatchSemaphore(value: 0)
    let seen = Locked([Call]())
    let first = ValueFuture(
      node: 0, frame: FrameID(track: 0, sequence: 0), inputs: [], lane: 0, isNeeded: true,
      isDigested: false
    ) { _ in
      isInside.signal()
      isOpen.wait()
      return .cancelled
    }
    workers.submit(first)
    isInside.wait()
    let second = future(1, lane: 0, seen: seen)
    workers.submit(second)
    #expect(workers.lanes[0]?.queue.isEmpty == false)
    workers.cancel(second)
    #expect(workers.lanes[0]?.queue.isEmpty == true)
    #expect(second.isDone)
    isOpen.signal()
    _ = try workers.help(first)
    #expect(seen.withLock { $0.isEmpty })
  }

  @Test(arguments: RunOptions.Mode.virtual)
  func `a pipeline with pinned stages says the same however it is run`(
    mode: RunOptions.Mode
  ) throws {
    var expected: RunPrint?
    for way in RunOptions.ways(mode: mode, seed: 1) {
      let threads = Locked(Set<String>())
      var pipeline = Pipeline.named("pinned").source(Nodes.source(.at(rate: 30, count: 40)))
        .stage(Brightness()).map("pin") { (input: Scalars, _) in
          let thread = "\(pthread_self())"
          threads.withLock { _ = $0.insert(thread) }
          return input
        }.cost(.fixed(.milliseconds(45))).queue(capacity: 2, policy: .dropOldest)
        .stage(Counter()).sink(Nodes.sink())
      for index in pipeline.nodes.indices
      where ["pin", "counter"].contains(pipeline.nodes[index].id) {
        pipeline.nodes[index].isPinned = true
      }
      let print = try RunPrint(pipeline, way)
      #expect(threads.withLock { $0.count } == 1)
      let difference = expected.flatMap { print.difference(from: $0) }
      #expect(difference == nil, "\(way.workers) workers, ahead \(way.runAhead)")
      expected = expected ?? print
    }
  }
}
