/// The colors of a sensor's samples: the pattern that repeats every two columns and two rows, named
/// by its first row and then its second (Bayer, US patent 3,971,065).
public enum Mosaic: String, Hashable, Sendable, CaseIterable, Codable {
  case rggb, bggr, gbrg, grbg

  /// The column and the row of the red sample, 0 or 1. The blue sample is in the other column and
  /// the other row.
  package var red: (column: Int, row: Int) {
    switch self {
    case .rggb: (0, 0)
    case .grbg: (1, 0)
    case .gbrg: (0, 1)
    case .bggr: (1, 1)
    }
  }
}
