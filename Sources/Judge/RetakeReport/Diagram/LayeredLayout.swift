/// Places boxes of different sizes in columns from left to right (Sugiyama's method). Each box is
/// to the right of the boxes that lead to it. There are few crossings, and lines are straight where
/// possible.
struct LayeredLayout {
  struct Size: Hashable {
    var width: Int
    var height: Int
  }

  struct Point: Hashable {
    var x: Int
    var y: Int
  }

  /// Free space.
  struct Spacing {
    /// Between two columns, by the column on the left.
    var columns: (Int) -> Int
    /// Between two boxes in a column.
    var rows = 22
    /// Between a box and a line that passes it.
    var lines = 14
  }

  /// The top left corner of each box.
  private(set) var corners: [Point] = []
  /// The points of each edge between its two boxes: where it enters and leaves the columns that it
  /// crosses. Empty for an edge between neighboring columns.
  private(set) var bends: [[Point]] = []
  /// The column of each box.
  let ranks: [Int]
  private(set) var width = 0
  private(set) var height = 0

  /// - Parameter edges: Pairs of boxes; an edge from a box to itself is not laid out.
  init(_ sizes: [Size], edges: [(from: Int, to: Int)], spacing: Spacing) {
    ranks = Self.ranks(count: sizes.count, edges)
    var layers = Layers(sizes: sizes, ranks: ranks, edges: edges, lineHeight: 2)
    layers.order()
    layers.place(spacing)
    var lefts: [Int] = []
    var widths: [Int] = []
    var left = 0
    for (rank, layer) in layers.layers.enumerated() {
      lefts.append(left)
      widths.append(layer.compactMap { $0 < sizes.count ? sizes[$0].width : nil }.max() ?? 0)
      width = left + widths[rank]
      left = width + spacing.columns(rank)
    }
    corners = sizes.indices.map { box in
      Point(x: lefts[ranks[box]], y: layers.centers[box] - sizes[box].height / 2)
    }
    bends = layers.chains.map { chain in
      chain.flatMap { vertex -> [Point] in
        let rank = layers.rankOfVertex[vertex]
        let y = layers.centers[vertex]
        return [Point(x: lefts[rank], y: y), Point(x: lefts[rank] + widths[rank], y: y)]
      }
    }
    let bottoms = zip(corners, sizes).map { $0.y + $1.height }
    // A long edge may pass below the lowest box.
    height = max(bottoms.max() ?? 0, bends.flatMap { $0 }.map(\.y).max() ?? 0)
  }

  /// The rank of a box is the length of the longest path to it from a box without incoming edges. A
  /// box without incoming edges then moves right, next to the first box that it leads to. In a
  /// cycle, ranks are limited by the number of boxes.
  static func ranks(count: Int, _ edges: [(from: Int, to: Int)]) -> [Int] {
    var ranks = Array(repeating: 0, count: count)
    // A longest path has fewer edges than there are boxes, so one round for each box is enough.
    for _ in 0..<count {
      var moved = false
      for (from, to) in edges
      where ranks[to] <= ranks[from] && ranks[from] + 1 < count && from != to {
        ranks[to] = ranks[from] + 1
        moved = true
      }
      if !moved { break }
    }
    let receivers = Set(edges.map(\.to))
    for box in 0..<count where !receivers.contains(box) {
      let next = edges.filter { $0.from == box && $0.to != box }.map { ranks[$0.to] }.min()
      if let next, next > 0 { ranks[box] = next - 1 }
    }
    return ranks
  }
}
