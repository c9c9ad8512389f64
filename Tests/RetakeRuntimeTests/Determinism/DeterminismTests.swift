import Foundation
import RetakeCore
import RetakeGraph
import RetakeRuntime
import Synchronization
import Testing

@Suite struct DeterminismTests {
  private func check(_ example: ModelCase, ways: [RunOptions]) throws {
    var expected: RunPrint?
    for way in ways {
      var readers: [GuardedFrames] = []
      let pipeline = example.pipeline {
        readers.append(GuardedFrames($0, chains: 1 + Int(example.seed % 3)))
        return readers[readers.count - 1].source
      }
      let print = try RunPrint(pipeline, way)
      for entry in print.outcome.ledgers { #expect(entry.ledger.isBalanced) }
      #expect(readers.allSatisfy { $0.clashes == 0 })
      let difference = expected.flatMap { print.difference(from: $0) }
      #expect(
        difference == nil,
        "\(way.workers) workers, window \(way.window), ahead \(way.runAhead): \(example)")
      expected = expected ?? print
    }
  }

  @Test(arguments: 1_000..<1_024 as Range<UInt64>)
  func `workers, window, running ahead and delays change the speed and nothing else`(seed: UInt64)
    throws
  {
    let example = ModelCase(seed: seed, shape: .line)
    try check(example, ways: RunOptions.ways(mode: example.mode, seed: seed))
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func `any graph gives one digest however it is run`(batch: UInt64) throws {
    var runs = 0
    for seed in 3_000 + batch * 20..<3_020 + batch * 20 {
      let example = ModelCase(seed: seed, shape: .graph)
      guard (try? example.pipeline.validate()) != nil else { continue }
      let ways = RunOptions.ways(
        mode: example.mode, seed: seed, windows: [24],
        perturbations: [seed.isMultiple(of: 2) ? 1 : nil])
      do {
        try check(example, ways: ways)
        runs += 1
      } catch let error as RuntimeError where error.code == "runtime.core.stuck" {
        continue
      }
    }
    #expect(runs >= 10, "\(runs) of 20 graphs ran to their end")
  }

  @Test func `a busy machine changes nothing`() throws {
    let spinners = Spinners(count: 6)
    defer { spinners.stop() }
    for seed in 2_000..<2_006 as Range<UInt64> {
      let example = ModelCase(seed: seed, shape: .line)
      try check(
        example,
        ways: RunOptions.ways(
          mode: example.mode, seed: seed, workers: [0, 2, 8], windows: [24],
          perturbations: [nil, 7]))
    }
  }

  @Test func `the seed of the costs is what decides`() throws {
    let pipeline = Pipeline.named("drawn").source(Nodes.source(.at(rate: 30, count: 60)))
      .stage(Brightness()).cost(.quantiles(p50: .milliseconds(30), p99: .milliseconds(90)))
      .queue(capacity: 1, policy: .dropNewest).sink(Nodes.sink())
    let digests = try [1, 1, 2].map { seed in
      try RunPrint(pipeline, RunOptions(mode: .simulate, seed: seed)).outcome.decisionDigest
    }
    #expect(digests[0] == digests[1])
    #expect(digests[0] != digests[2])
  }

  @Test func `a stage that is not pure is seen in results, and the decisions stand`() throws {
    let prints = try impurePrints(CallCount())
    #expect(Set(prints.map(\.outcome)).count == 1)
    #expect(Set(prints.map(\.lines)).count == 1)
    #expect(Set(prints.map(\.frames)).count == prints.count)
  }

  private func impurePrints(_ calls: CallCount) throws -> [RunPrint] {
    let pipeline = Pipeline.named("impure").source(Nodes.source(.at(rate: 30, count: 8)))
      .map("impure") { _, _ in Scalars([.init("calls", Double(calls.next()))]) }.sink(Nodes.sink())
    return try RunOptions.ways(mode: .everyFrame, seed: 0, workers: [0, 4]).map {
      try RunPrint(pipeline, $0)
    }
  }
}

/// Counts across threads and runs: state that a stage must not use.
private final class CallCount: Sendable {
  private let count = Atomic<Int>(0)

  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Threads that keep the machine busy.
final class Spinners: Sendable {
  private let isStopped = Atomic<Bool>(false)
  private let running: Atomic<Int>

  init(count: Int) {
    running = Atomic(count)
    for _ in 0..<count {
      Thread { [self] in
        while !isStopped.load(ordering: .relaxed) {}
        running.subtract(1, ordering: .releasing)
      }.start()
    }
  }

  /// Returns when all threads have ended.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    while running.load(ordering: .acquiring) > 0 {}
  }
}
