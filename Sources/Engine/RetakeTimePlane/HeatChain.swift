package import RetakeCore

/// The heat of each body of a chain, tick by tick, in femtojoules. Heat that flows out of one body
/// flows into the next, so no heat is lost to rounding.
///
/// In each tick, heat flows between neighbors, first from the last body to the air and last from
/// the first body to the second: flow = difference of temperature / resistance (Newton's law of
/// cooling). Each flow is computed from the heat that remains after the previous flow. Then the
/// energy of the tick is added to the first body.
///
/// More work never leads to a lower temperature. A flow is Δt / (R·C) parts of a body's heat, at
/// most a half, rounded down. If a body has one femtojoule more, its flow is at most one femtojoule
/// larger. So each step of a tick keeps the order of two states, and so does the sequence of the
/// steps.
package struct HeatChain: Hashable, Sendable {
  /// All temperatures change in these steps, on a grid that begins with the run. How events divide
  /// the time in between has no effect.
  package static let tickNanoseconds: Int64 = 100_000_000
  /// fJ = pK × ns / (mK/W) / 1,000.
  private static let tickFactor = Int128(tickNanoseconds / 1_000)
  /// Femtojoules per millijoule-per-kelvin and thousandth of a degree: pK in mK.
  private static let femtojoulesPerMillidegree: Int128 = 1_000_000_000
  /// A body is at most this much warmer than the air. Heat that a wrong model adds beyond this
  /// limit leaves at once, so that no number overflows.
  private static let millidegreesMax: Int128 = 1_000_000

  private let nodes: [HeatModel.Node]
  private let ambient: Temperature
  /// Above that at the temperature of the air.
  package private(set) var heat: [Int128]

  /// The model must have no `problem`.
  package init(_ model: HeatModel) {
    nodes = model.nodes
    ambient = model.ambient
    let difference = Int128(model.start.millidegrees - model.ambient.millidegrees)
    heat = model.nodes.map {
      Int128($0.capacity) * difference * Self.femtojoulesPerMillidegree
    }
  }

  /// One tick.
  ///
  /// - Parameter femtojoules: The energy that is added to the first body.
  /// - Returns: The heat that left to the air: from the last body, and from bodies above the limit.
  @discardableResult
  package mutating func step(adding femtojoules: Int128) -> Int128 {
    // From the air inwards, and the new energy last: so a body whose inflow equals its outflow has
    // exactly the temperature of Newton's law.
    var given = coolLast()
    for index in nodes.indices.dropLast().reversed() {
      let (node, next) = (nodes[index], nodes[index + 1])
      let (capacity, nextCapacity) = (Int128(node.capacity), Int128(next.capacity))
      let difference = heat[index] * nextCapacity - heat[index + 1] * capacity
      let flow = Self.floor(
        difference * Self.tickFactor, Int128(node.resistance) * capacity * nextCapacity)
      heat[index] -= flow
      heat[index + 1] += flow
    }
    heat[0] += femtojoules
    for index in nodes.indices { given += spill(index) }
    return given
  }

  private mutating func coolLast() -> Int128 {
    let last = nodes.count - 1
    let flow = Self.floor(
      heat[last] * Self.tickFactor, Int128(nodes[last].resistance) * Int128(nodes[last].capacity))
    heat[last] -= flow
    return flow
  }

  /// Limits the heat of a body, and returns the excess.
  private mutating func spill(_ index: Int) -> Int128 {
    let limit =
      Int128(nodes[index].capacity) * Self.millidegreesMax * Self.femtojoulesPerMillidegree
    guard heat[index] > limit else { return 0 }
    defer { heat[index] = limit }
    return heat[index] - limit
  }

  package func temperature(of node: Int) -> Temperature {
    let rise = Self.floor(
      heat[node], Int128(nodes[node].capacity) * Self.femtojoulesPerMillidegree)
    return Temperature(millidegrees: ambient.millidegrees + Int(rise))
  }

  /// Rounds towards minus infinity, also for a body that is colder than its neighbor.
  private static func floor(_ value: Int128, _ divisor: Int128) -> Int128 {
    let (quotient, rest) = value.quotientAndRemainder(dividingBy: divisor)
    return rest < 0 ? quotient - 1 : quotient
  }
}
