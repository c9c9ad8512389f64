/// The pairing of two lists with the largest sum of weights (Kuhn-Munkres with potentials, O(n³)).
enum Assignment {
  /// The column paired with each row, or `nil`. Pairs of weight 0 are not paired.
  ///
  /// - Parameter weights: Not negative; all rows have the same count.
  static func best(_ weights: [[Int]]) -> [Int?] {
    let rows = weights.count
    guard rows > 0, let columns = weights.first?.count, columns > 0 else {
      return Array(repeating: nil, count: rows)
    }
    // Objects that do not touch have no rivals, and need no search.
    if let pairs = undisputed(weights, columns: columns) { return pairs }
    // The solver assigns a column to each row, so there must be at least as many columns as rows.
    if rows > columns {
      let transposed = (0..<columns).map { column in weights.map { $0[column] } }
      var pairs = [Int?](repeating: nil, count: rows)
      for (column, row) in best(transposed).enumerated() {
        if let row { pairs[row] = column }
      }
      return pairs
    }
    let rowOfColumn = Solver(weights, rows: rows, columns: columns).solve()
    var pairs = [Int?](repeating: nil, count: rows)
    // The solver pairs every row. A pair of weight 0 only fills a place and is not a pair.
    for (column, row) in rowOfColumn.enumerated() where row >= 0 && weights[row][column] > 0 {
      pairs[row] = column
    }
    return pairs
  }

  /// The pairing if there is no choice: each row and each column has at most one possible partner.
  private static func undisputed(_ weights: [[Int]], columns: Int) -> [Int?]? {
    var pairs: [Int?] = []
    pairs.reserveCapacity(weights.count)
    var taken = [Bool](repeating: false, count: columns)
    for row in weights {
      var partner: Int?
      for column in 0..<columns where row[column] > 0 {
        if partner != nil || taken[column] { return nil }
        partner = column
      }
      if let partner { taken[partner] = true }
      pairs.append(partner)
    }
    return pairs
  }

  /// Rows 1…n and columns 1…m; index 0 is the starting point. Requires rows ≤ columns.
  private struct Solver {
    let weights: [[Int]]
    let rows: Int
    let columns: Int
    var rowPotential: [Int]
    var columnPotential: [Int]
    var rowOfColumn: [Int]
    var before: [Int]

    init(_ weights: [[Int]], rows: Int, columns: Int) {
      self.weights = weights
      self.rows = rows
      self.columns = columns
      rowPotential = Array(repeating: 0, count: rows + 1)
      columnPotential = Array(repeating: 0, count: columns + 1)
      rowOfColumn = Array(repeating: 0, count: columns + 1)
      before = Array(repeating: 0, count: columns + 1)
    }

    /// The row of each column, counted from 0, or −1.
    consuming func solve() -> [Int] {
      for row in 1...rows {
        rowOfColumn[0] = row
        var column = reachFreeColumn()
        while column != 0 {
          let previous = before[column]
          rowOfColumn[column] = rowOfColumn[previous]
          column = previous
        }
      }
      return rowOfColumn.dropFirst().map { $0 - 1 }
    }

    /// Grows a shortest augmenting path from column 0 until it ends at a free column.
    private mutating func reachFreeColumn() -> Int {
      var least = [Int](repeating: .max, count: columns + 1)
      var used = [Bool](repeating: false, count: columns + 1)
      var column = 0
      repeat {
        used[column] = true
        let row = rowOfColumn[column]
        var delta = Int.max
        var next = 0
        for candidate in 1...columns where !used[candidate] {
          // The method finds the smallest sum of costs, so the weights are negated. Integers are
          // exact: no rounding decides between two pairings.
          let cost =
            -weights[row - 1][candidate - 1] - rowPotential[row] - columnPotential[candidate]
          if cost < least[candidate] {
            least[candidate] = cost
            before[candidate] = column
          }
          // Strictly less: of equal columns the first column wins, in every run.
          if least[candidate] < delta {
            delta = least[candidate]
            next = candidate
          }
        }
        for index in 0...columns {
          if used[index] {
            rowPotential[rowOfColumn[index]] += delta
            columnPotential[index] -= delta
          } else if least[index] != .max {
            least[index] -= delta
          }
        }
        column = next
      } while rowOfColumn[column] != 0
      return column
    }
  }
}
