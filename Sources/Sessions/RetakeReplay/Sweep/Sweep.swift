/// Every combination of the values of several axes.
package struct Sweep: Hashable, Sendable {
  package static let combinationsMax = 256
  static let tooLarge = ReplayError.badSweep(
    "the sweep has more than \(combinationsMax) combinations",
    advice: "Name fewer values: queue=1|2|4|8 instead of queue=1..8")

  package let axes: [SweepAxis]

  /// Parses `queue=1..6,executors=1..4`.
  ///
  /// - Throws: `ReplayError.badSweep`.
  package init(parsing text: String) throws {
    var axes: [SweepAxis] = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let axis = try SweepAxis(parsing: part)
      guard !axes.contains(where: { $0.target == axis.target }) else {
        throw ReplayError.badSweep("'\(axis.name)' comes twice", advice: "Name each axis once")
      }
      axes.append(axis)
    }
    self.axes = axes
    var count = 1
    for axis in axes {
      // Checked after each factor, so the product cannot overflow.
      count *= axis.values.count
      guard count <= Self.combinationsMax else { throw Self.tooLarge }
    }
  }

  /// A value for each axis. The last axis changes fastest.
  package var combinations: [[SweepAxis.Value]] {
    axes.reduce([[]]) { rows, axis in
      rows.flatMap { row in axis.values.map { row + [$0] } }
    }
  }
}
