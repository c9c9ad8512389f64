/// A connected region of moving cells, in pixels.
struct MovingRegion: Hashable, Sendable {
  var left: Int
  var top: Int
  /// One past the last column.
  var right: Int
  /// One past the last row.
  var bottom: Int
  /// Number of changed pixels.
  var area: Int

  var width: Int { right - left }
  var height: Int { bottom - top }

  /// The order in which a bound keeps regions: only identical regions compare as equal.
  static func isLarger(_ one: MovingRegion, _ other: MovingRegion) -> Bool {
    one.area != other.area ? one.area > other.area : isEarlier(one, other)
  }

  /// The order of results.
  static func isEarlier(_ one: MovingRegion, _ other: MovingRegion) -> Bool {
    (one.top, one.left, one.width, one.height, one.area)
      < (other.top, other.left, other.width, other.height, other.area)
  }

  func contains(_ other: MovingRegion) -> Bool {
    left <= other.left && top <= other.top && right >= other.right && bottom >= other.bottom
  }

  mutating func formUnion(_ other: MovingRegion) {
    left = min(left, other.left)
    top = min(top, other.top)
    right = max(right, other.right)
    bottom = max(bottom, other.bottom)
    area += other.area
  }
}

/// Joins moving cells into regions by union-find, in raster order. Bounded by the number of cells;
/// its memory is reused from frame to frame.
struct RegionFinder: Sendable {
  /// Moving cells in raster order, as indices into the grid.
  private var cells: [Int32] = []
  /// The parent of each moving cell, as an index into `cells`; the root is the region's first cell.
  private var parents: [Int32] = []
  /// For each cell of the grid, its index in `cells`, or -1.
  private var places: [Int32] = []

  /// The regions of cells with at least `pixelsMin` changed pixels each, where cells at most
  /// `reach` apart belong together.
  mutating func regions(
    in difference: FrameDifference, pixelsMin: Int, reach: Int
  ) -> [MovingRegion] {
    let columns = difference.columns
    gather(difference.counts, pixelsMin: pixelsMin)
    for place in cells.indices {
      let (row, column) = Int(cells[place]).quotientAndRemainder(dividingBy: columns)
      join(place, row: row, column: column, columns: columns, reach: reach)
    }
    return collect(difference)
  }

  /// Adds up the cells by region. A cell inside its region's current box cannot enlarge it, so its
  /// pixels are not read again.
  private mutating func collect(_ difference: FrameDifference) -> [MovingRegion] {
    var slots = [Int32](repeating: -1, count: cells.count)
    var found: [MovingRegion] = []
    for place in cells.indices {
      let (cell, root) = (Int(cells[place]), root(of: place))
      let slot = Int(slots[root])
      if slot < 0 {
        slots[root] = Int32(found.count)
        found.append(difference.changedBox(ofCell: cell))
      } else if found[slot].contains(difference.square(ofCell: cell)) {
        found[slot].area += Int(difference.counts[cell])
      } else {
        found[slot].formUnion(difference.changedBox(ofCell: cell))
      }
    }
    return found
  }

  private mutating func gather(_ counts: [UInt16], pixelsMin: Int) {
    if places.count != counts.count {
      places = [Int32](repeating: -1, count: counts.count)
    } else {
      // Only the last frame's cells: clearing the grid would cost more than the few that move.
      for cell in cells { places[Int(cell)] = -1 }
    }
    cells.removeAll(keepingCapacity: true)
    for index in counts.indices where Int(counts[index]) >= pixelsMin {
      places[index] = Int32(cells.count)
      cells.append(Int32(index))
    }
    parents = (0..<cells.count).map { Int32($0) }
  }

  /// Joins a cell with the moving cells before it, in raster order, that are within reach. Cells
  /// within reach of its nearest left neighbor have already been joined with that one.
  private mutating func join(_ place: Int, row: Int, column: Int, columns: Int, reach: Int) {
    var firstColumn = max(0, column - reach)
    for beside in stride(from: column - 1, through: firstColumn, by: -1) {
      let left = Int(places[row * columns + beside])
      guard left >= 0 else { continue }
      unite(left, place)
      firstColumn = beside + reach + 1
      break
    }
    let lastColumn = min(columns - 1, column + reach)
    for above in max(0, row - reach)..<row {
      for beside in stride(from: firstColumn, through: lastColumn, by: 1) {
        let other = Int(places[above * columns + beside])
        if other >= 0 { unite(other, place) }
      }
    }
  }

  /// The smaller root wins, so a root is always its region's first cell.
  private mutating func unite(_ one: Int, _ other: Int) {
    let (first, second) = (root(of: one), root(of: other))
    if first < second {
      parents[second] = Int32(first)
    } else {
      parents[first] = Int32(second)
    }
  }

  private mutating func root(of place: Int) -> Int {
    var place = place
    // Ends: a parent never comes after its child.
    while Int(parents[place]) != place {
      // Halves the way to the root, so that long chains of joined cells stay cheap.
      parents[place] = parents[Int(parents[place])]
      place = Int(parents[place])
    }
    return place
  }
}
