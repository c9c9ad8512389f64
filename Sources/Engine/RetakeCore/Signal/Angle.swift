/// Cosine and sine of an angle, computed with additions, multiplications and one rounding, so that
/// every machine has the same bits. The C library's functions differ between machines.
package struct Angle: Hashable, Sendable {
  package let cosine: Double
  package let sine: Double

  /// - Parameter turns: The angle as a fraction of a full turn: 0.25 is a right angle. The error is
  ///   about one unit in the last place.
  package init(_ turns: Double) {
    // Exact: both are multiples of the last place of `turns`, or smaller.
    let inTurn = turns - turns.rounded(.toNearestOrEven)
    let quarter = (inTurn * 4).rounded(.toNearestOrEven)
    let angle = (inTurn - quarter / 4) * (2 * Double.pi)
    let square = angle * angle
    let (c, s) = (
      Self.series(square, first: 0, count: 9), angle * Self.series(square, first: 1, count: 9)
    )
    switch Int(quarter) & 3 {
    case 0: (cosine, sine) = (c, s)
    case 1: (cosine, sine) = (-s, c)
    case 2: (cosine, sine) = (-c, -s)
    default: (cosine, sine) = (s, -c)
    }
  }

  /// 1 − x²/((f+1)(f+2)) · (1 − x²/((f+3)(f+4)) · (…)): the Taylor series of the cosine for f = 0,
  /// and of sin(x)/x for f = 1. Up to π/4, ten terms reach the last place.
  private static func series(_ square: Double, first: Int, count: Int) -> Double {
    (1...count).reversed().reduce(1.0) { rest, term in
      let last = 2 * term + first
      return 1 - square / Double((last - 1) * last) * rest
    }
  }
}
