package import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeStages

/// The limits for a fingertip on the lens.
package struct FindFingertipOptions: StageOptions, Hashable {
  @OptionValue("smallest share of the frame that a fingertip covers, {range}", in: 0...1)
  package var coverageMin = 0.5
  @OptionValue("how many times brighter red is than green and than blue, {range}", in: 1...10)
  package var redness = 1.5

  package init() {}

  package init(coverageMin: Double, redness: Double) {
    (self.coverageMin, self.redness) = (coverageMin, redness)
  }
}

/// Finds a fingertip on the lens: whether it covers the lens, its box, and a score.
///
/// Blood lets little light through but red. The frame is divided into at most 16 by 12 cells; a
/// cell belongs to the fingertip if its mean red is at least 50 and `redness` times its green and
/// its blue. The score is the share of such cells, and the box is the smallest box around them.
/// Below `coverageMin` the output has no detection. A red wall counts as a fingertip, too; the
/// quality of the pulse distinguishes them. All pixel formats are used without conversion.
package struct FindFingertip: PureStage {
  package static let kind = "find-fingertip"
  package static let summary = "finds the fingertip that covers the lens, and how much of it"
  package static let classNames = ["fingertip"]

  private static let columnsMax = 16
  private static let rowsMax = 12
  /// In levels: darker cells have no color.
  private static let redMin = 50.0

  package let options: FindFingertipOptions

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(options: FindFingertipOptions) throws {
    try options.checkRanges()
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Detections {
    let columns = Self.cells(of: frame.width, countMax: Self.columnsMax)
    let rows = Self.cells(of: frame.height, countMax: Self.rowsMax)
    var covered = Covered()
    for row in rows {
      for column in columns where isRed(frame.colorMeans(columns: column, rows: row)) {
        covered.add(columns: column, rows: row)
      }
    }
    let score = Double(covered.count) / Double(rows.count * columns.count)
    guard let box = covered.box, score >= options.coverageMin else {
      return Detections([], classNames: Self.classNames)
    }
    return Detections([Detection(box: box, score: score)], classNames: Self.classNames)
  }

  private func isRed(_ mean: ColorMeans) -> Bool {
    mean.red >= Self.redMin && mean.red >= options.redness * max(mean.green, mean.blue)
  }

  /// Even starts, so that the chroma of a cell belongs to it; at least one cell.
  private static func cells(of side: Int, countMax: Int) -> [Range<Int>] {
    let count = max(1, min(countMax, side / 2))
    return (0..<count).map { index in
      let start = index * side / count / 2 * 2
      return start..<(index + 1 == count ? side : (index + 1) * side / count / 2 * 2)
    }
  }
}

/// The cells of a fingertip: their number, and the rectangle around them.
private struct Covered {
  var count = 0
  private var columns: Range<Int>?
  private var rows: Range<Int>?

  mutating func add(columns: Range<Int>, rows: Range<Int>) {
    count += 1
    self.columns = self.columns.map { $0.joined(with: columns) } ?? columns
    self.rows = self.rows.map { $0.joined(with: rows) } ?? rows
  }

  var box: Box? {
    guard let columns, let rows else { return nil }
    return Box(
      x: Double(columns.lowerBound), y: Double(rows.lowerBound), width: Double(columns.count),
      height: Double(rows.count))
  }
}

extension Range<Int> {
  fileprivate func joined(with other: Range<Int>) -> Range<Int> {
    Swift.min(lowerBound, other.lowerBound)..<Swift.max(upperBound, other.upperBound)
  }
}
