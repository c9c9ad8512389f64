import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRuntime

/// A random graph of futures, and the conditions that must hold afterwards.
private final class RandomGraph {
  /// The call of a future, recorded by its body.
  struct Call: Sendable {
    var count = 0
    var thread = ""
    var value: UInt64 = 0
  }

  struct Node {
    var inputs: [Int]
    var lane: Int?
    var future: ValueFuture
    var calls: Locked<Call>
    var dependsOnFirst: Bool
    var isCancelAsked = false
    /// Cancelled while one of its inputs could not exist yet.
    var mustBeCancelled = false
  }

  private(set) var nodes: [Node] = []
  private var generator: SeededGenerator

  init(seed: UInt64) {
    generator = SeededGenerator(seed: seed)
    let count = generator.pick(2...40)
    for index in 0..<count { add(index) }
  }

  private func add(_ index: Int) {
    let inputs =
      index == 0 ? [] : (0..<generator.pick(0...3)).map { _ in generator.pick(0...index - 1) }
    let lane = generator.chance(15) ? generator.pick(0...2) : nil
    let calls = Locked(Call())
    let future = ValueFuture(
      node: index, frame: FrameID(track: 0, sequence: index),
      inputs: inputs.map { nodes[$0].future }, lane: lane, isNeeded: generator.chance(50),
      isDigested: generator.chance(50)
    ) { outcomes in
      let value = Self.value(index, outcomes)
      calls.withLock {
        $0 = Call(count: $0.count + 1, thread: "\(pthread_self())", value: value)
      }
      return .value(Bytes(name: "n", content: withUnsafeBytes(of: value) { Array($0) }))
    }
    nodes.append(
      Node(
        inputs: inputs, lane: lane, future: future, calls: calls,
        dependsOnFirst: inputs.contains { $0 == 0 || nodes[$0].dependsOnFirst }))
  }

  private static func value(_ index: Int, _ outcomes: some Sequence<ValueOutcome>) -> UInt64 {
    var hasher = DigestHasher()
    hasher.append(Int64(index))
    for outcome in outcomes {
      guard case .value(let value) = outcome else {
        hasher.append("cancelled")
        continue
      }
      value.digest(into: &hasher)
    }
    return hasher.finish().low
  }

  /// Submits, cancels, marks and requests in a random order.
  func play(_ workers: Workers) throws {
    var waiting = Array(nodes.indices)
    // The first future is held back, so that no future that depends on it can have begun.
    let isHeld = generator.chance(50)
    if isHeld { waiting.removeFirst() }
    while !waiting.isEmpty {
      let index = waiting.remove(at: generator.pick(0...min(3, waiting.count - 1)))
      workers.submit(nodes[index].future)
      if generator.chance(20) { cancel(generator.pick(0...nodes.count - 1), workers, isHeld) }
      if generator.chance(20) { workers.need(nodes[generator.pick(0...nodes.count - 1)].future) }
      // Inputs have lower numbers, so everything up to the lowest that waits can be requested.
      if generator.chance(10), !isHeld, let bound = waiting.min() ?? nodes.indices.last, bound > 0 {
        _ = try workers.help(nodes[generator.pick(0...bound - 1)].future)
      }
    }
    if isHeld { workers.submit(nodes[0].future) }
    var order = Array(nodes.indices)
    while !order.isEmpty {
      _ = try workers.help(nodes[order.remove(at: generator.pick(0...order.count - 1))].future)
    }
  }

  private func cancel(_ index: Int, _ workers: Workers, _ isHeld: Bool) {
    workers.cancel(nodes[index].future)
    if isHeld, nodes[index].dependsOnFirst, !nodes[index].isCancelAsked {
      nodes[index].mustBeCancelled = true
    }
    nodes[index].isCancelAsked = true
  }

  /// The first condition that does not hold.
  func problem() -> String? {
    var threads: [Int: Set<String>] = [:]
    var others: Set<String> = []
    for (index, node) in nodes.enumerated() {
      let call = node.calls.withLock { $0 }
      switch node.future.outcome {
      case .value where call.count != 1: return "\(index) has a value and ran \(call.count) times"
      case .value where node.mustBeCancelled: return "\(index) ran after it was cancelled"
      case .value:
        let outcomes = node.inputs.compactMap { nodes[$0].future.outcome }
        if outcomes.count != node.inputs.count { return "\(index) ran before its inputs" }
        if Self.value(index, outcomes) != call.value { return "\(index) saw other inputs" }
        if let lane = node.lane { threads[lane, default: []].insert(call.thread) }
        if node.lane == nil { others.insert(call.thread) }
      case .cancelled where !node.isCancelAsked: return "\(index) was lost"
      case .cancelled where call.count != 0: return "\(index) was cancelled and ran"
      case .cancelled: continue
      case .failure, .fault, .later: return "\(index) failed"
      case nil: return "\(index) is not done"
      }
    }
    for (lane, used) in threads where used.count != 1 || !used.isDisjoint(with: others) {
      return "lane \(lane) has not one thread of its own"
    }
    let count = threads.values.reduce(into: Set<String>()) { $0.formUnion($1) }.count
    return count == threads.count ? nil : "two lanes share a thread"
  }
}

@Suite struct StressTests {
  private static let graphs = 250

  @Test(arguments: 0...8)
  func `of thousands of random graphs nothing is lost, run twice or run out of order`(
    workers count: Int
  ) throws {
    let workers = try Workers(count: count, lanes: [0, 1, 2])
    defer { workers.stop() }
    for number in 0..<Self.graphs {
      let seed = UInt64(1_000 * count + number)
      let graph = RandomGraph(seed: seed)
      try graph.play(workers)
      #expect(graph.problem() == nil, "seed \(seed)")
      #expect(workers.queues.allSatisfy { $0.isEmpty }, "seed \(seed)")
      #expect(workers.lanes.values.allSatisfy { $0.queue.isEmpty }, "seed \(seed)")
    }
  }

  @Test(arguments: 0...8)
  func `the same with random delays before every body`(workers count: Int) throws {
    for number in 0..<12 as Range<UInt64> {
      let seed = 50_000 + 100 * UInt64(count) + number
      let workers = try Workers(count: count, lanes: [0, 1, 2], perturbation: seed)
      defer { workers.stop() }
      let graph = RandomGraph(seed: seed)
      try graph.play(workers)
      #expect(graph.problem() == nil, "seed \(seed)")
    }
  }

  @Test(arguments: 0...8)
  func `stopping in the middle leaves nothing running and nothing in memory`(
    workers count: Int
  ) throws {
    for seed in 0..<40 as Range<UInt64> {
      var kept: [() -> Bool] = []
      do {
        let graph = RandomGraph(seed: seed)
        let workers = try Workers(count: count, lanes: [0, 1, 2])
        for node in graph.nodes.dropLast(Int(seed) % 3) {
          workers.submit(node.future)
          kept.append { [weak future = node.future] in future != nil }
        }
        workers.stop()
        #expect(workers.liveThreads.load(ordering: .relaxed) == 0)
        #expect(graph.nodes.prefix(kept.count).allSatisfy { $0.future.isDone })
      }
      #expect(kept.allSatisfy { !$0() }, "seed \(seed)")
    }
  }
}
