import Foundation
import RetakeCore
import Testing

@testable import RetakeTimePlane

/// Chains of one to three nodes, from a chip to a heavy case.
private let chains: [[HeatModel.Node]] = [
  [.init(id: "case", capacity: 150_000, resistance: 4_100)],
  [
    .init(id: "chip", capacity: 8_000, resistance: 2_500),
    .init(id: "case", capacity: 150_000, resistance: 4_100),
  ],
  [
    .init(id: "chip", capacity: 1_000, resistance: 500),
    .init(id: "board", capacity: 30_000, resistance: 3_000),
    .init(id: "case", capacity: 120_000, resistance: 5_000),
  ],
  // As fast as is allowed: half of the difference flows in each tick.
  [.init(id: "thin", capacity: 200, resistance: 1_000)],
]

private func model(
  _ nodes: [HeatModel.Node], ambient: Temperature = 25, start: Temperature? = nil
) -> HeatModel {
  HeatModel(
    ambient: ambient, start: start, nodes: nodes,
    limits: .init(fair: 38, serious: 45, critical: 55))
}

/// Femtojoules per tick for a power of 0 to 10 W.
private func energy(_ seed: UInt64, _ tick: Int) -> Int128 {
  let bits = Draw.bits(seed: seed, node: 0, sequence: tick, item: 0, purpose: .cost)
  return Int128(bits % 10_000_001) * Int128(HeatChain.tickNanoseconds)
}

@Suite struct HeatChainTests {
  @Test func `what comes in stays or is given to the air, to the femtojoule`() {
    for (seed, nodes) in chains.enumerated() {
      for start: Temperature in [25, 60, -10] {
        var chain = HeatChain(model(nodes, start: start))
        let first = chain.heat.reduce(0, +)
        var (given, added): (Int128, Int128) = (0, 0)
        for tick in 0..<5_000 {
          let energy = energy(UInt64(seed), tick)
          added += energy
          given += chain.step(adding: energy)
          #expect(chain.heat.reduce(0, +) - first == added - given)
        }
        // Capacity × rise = added energy − emitted energy, up to the rounding of a temperature to a
        // thousandth of a degree.
        for (node, heat) in zip(nodes.indices, chain.heat) {
          let rise = chain.temperature(of: node).millidegrees - 25_000
          let shown = Int128(nodes[node].capacity) * Int128(rise) * 1_000_000_000
          #expect((0..<Int128(nodes[node].capacity) * 1_000_000_000).contains(heat - shown))
        }
      }
    }
  }

  @Test func `more work never gives a lower temperature, at no time and at no node`() {
    for (seed, nodes) in chains.enumerated() {
      var (less, more) = (HeatChain(model(nodes)), HeatChain(model(nodes)))
      for tick in 0..<4_000 {
        let base = energy(UInt64(seed), tick)
        // Sometimes 0, sometimes one femtojoule, which rounding must not turn around, and sometimes
        // much more.
        let extra: Int128 = [0, 1, 0, 0, 999, base][tick % 6]
        less.step(adding: base)
        more.step(adding: base + extra)
        for node in nodes.indices {
          #expect(more.heat[node] >= less.heat[node])
          #expect(more.temperature(of: node) >= less.temperature(of: node))
        }
      }
      #expect(more.heat != less.heat)
    }
  }

  @Test func `one node follows Newton's law of cooling`() {
    // τ = R·C = 615 s; 4 W make it 16.4 K warmer in the end.
    let nodes = chains[0]
    var chain = HeatChain(model(nodes))
    let (tau, rise) = (0.150 * 4.1 * 1_000, 4 * 4.1)
    for tick in 1...30_000 {
      chain.step(adding: 4_000_000 * Int128(HeatChain.tickNanoseconds))
      let seconds = Double(tick) / 10
      let exact = 25 + rise * (1 - exp(-seconds / tau))
      // A step is Δt / 2RC too fast at most: here less than one part in ten thousand.
      #expect(abs(chain.temperature(of: 0).celsius - exact) < rise / 10_000 + 0.001)
    }
    for tick in 1...30_000 {
      chain.step(adding: 0)
      let exact = 25 + (rise * (1 - exp(-3_000 / tau))) * exp(-Double(tick) / 10 / tau)
      #expect(abs(chain.temperature(of: 0).celsius - exact) < rise / 10_000 + 0.001)
    }
  }

  @Test func `a long chain settles at power times all resistances`() {
    let nodes = chains[2]
    var chain = HeatChain(model(nodes))
    for _ in 0..<100_000 { chain.step(adding: 2_000_000 * Int128(HeatChain.tickNanoseconds)) }
    // 2 W × (0.5 + 3 + 5 K/W), and from each node on the remaining resistances, up to the energy of
    // a tick in the neighbors: 0.2 J / 30 J/K.
    for (node, rise) in [17.0, 16.0, 10.0].enumerated() {
      #expect(abs(chain.temperature(of: node).celsius - 25 - rise) < 0.01)
    }
  }

  @Test func `a body that gets what it gives does not change any more`() {
    // 2 W and 1 K/W: 2 K, to the femtojoule. Such a device costs no events.
    var chain = HeatChain(model(chains[3]))
    for _ in 0..<1_000 { chain.step(adding: 2_000_000 * Int128(HeatChain.tickNanoseconds)) }
    let settled = chain
    chain.step(adding: 2_000_000 * Int128(HeatChain.tickNanoseconds))
    #expect(chain == settled)
    #expect(chain.temperature(of: 0) == 27)
  }

  @Test func `no power and no chain within the bounds overflows`() {
    let nodes = (0..<4).map {
      HeatModel.Node(
        id: "\($0)", capacity: HeatModel.capacityMax, resistance: HeatModel.resistanceMax)
    }
    var chain = HeatChain(model(nodes))
    var (given, added): (Int128, Int128) = (0, 0)
    for _ in 0..<100 {
      let energy = Int128(Int64.max) * Int128(HeatChain.tickNanoseconds)
      added += energy
      given += chain.step(adding: energy)
    }
    #expect(chain.temperature(of: 0).celsius <= 1_025)
    #expect(chain.heat.reduce(0, +) == added - given)
  }

  @Test func `a chain that is faster than a tick is refused`() {
    #expect(chains.allSatisfy { model($0).problem == nil })
    let fast = model([.init(id: "chip", capacity: 199, resistance: 1_000)])
    #expect(fast.problem?.node == 0)
    let between = model([
      .init(id: "heavy", capacity: 100_000, resistance: 100),
      .init(id: "light", capacity: 10, resistance: 100_000),
    ])
    #expect(between.problem?.text.contains("'heavy'") == true)
  }
}
