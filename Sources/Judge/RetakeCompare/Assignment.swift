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

  /// A possible pair. Pairs that are not in the list have weight 0.
  struct Edge {
    var row: Int
    var column: Int
    var weight: Int
  }

  /// The same for few possible pairs: the indices of the chosen edges, rising.
  ///
  /// Rows and columns that no edges connect have no influence on each other, so each connected part
  /// is solved alone: the search is cubic in the size of a part.
  ///
  /// - Parameter edges: Each pair at most once.
  static func best(_ edges: [Edge], rows: Int, columns: Int) -> [Int] {
    var parts = Parts(count: rows + columns)
    for edge in edges { parts.join(edge.row, rows + edge.column) }
    // In the order of each part's first edge, so that no order of a Dictionary matters.
    var numbers: [Int: Int] = [:]
    var members: [[Int]] = []
    for (index, edge) in edges.enumerated() {
      let part = parts.root(of: edge.row)
      if let number = numbers[part] {
        members[number].append(index)
      } else {
        numbers[part] = members.count
        members.append([index])
      }
    }
    return members.flatMap { best(edges, of: $0) }.sorted()
  }

  /// The chosen edges of one part.
  private static func best(_ edges: [Edge], of part: [Int]) -> [Int] {
    guard part.count > 1 else { return part.filter { edges[$0].weight > 0 } }
    var rows: [Int: Int] = [:]
    var columns: [Int: Int] = [:]
    for index in part {
      let edge = edges[index]
      if rows[edge.row] == nil { rows[edge.row] = rows.count }
      if columns[edge.column] == nil { columns[edge.column] = columns.count }
    }
    var weights = [[Int]](
      repeating: [Int](repeating: 0, count: columns.count), count: rows.count)
    for index in part {
      let edge = edges[index]
      weights[rows[edge.row] ?? 0][columns[edge.column] ?? 0] = edge.weight
    }
    let pairs = best(weights)
    return part.filter { index in
      let edge = edges[index]
      return edge.weight > 0 && pairs[rows[edge.row] ?? 0] == columns[edge.column]
    }
  }

  /// Which rows and columns are connected.
  private struct Parts {
    private var parent: [Int]

    init(count: Int) { parent = Array(0..<count) }

    mutating func root(of node: Int) -> Int {
      var node = node
      // Ends: each step is nearer to the root, and halves the way for the next caller.
      while parent[node] != node {
        parent[node] = parent[parent[node]]
        node = parent[node]
      }
      return node
    }

    mutating func join(_ left: Int, _ right: Int) {
      let (left, right) = (root(of: left), root(of: right))
      if left != right { parent[max(left, right)] = min(left, right) }
    }
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
