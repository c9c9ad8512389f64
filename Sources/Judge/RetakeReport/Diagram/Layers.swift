/// Boxes and the points of long edges, by column: first their order in a column, then their
/// positions.
struct Layers {
  /// A vertex is a box or, for indices from the number of boxes on, a point where a long edge
  /// crosses a column.
  private(set) var layers: [[Int]]
  private(set) var rankOfVertex: [Int]
  /// The vertices that each edge crosses, without the boxes at its ends.
  private(set) var chains: [[Int]] = []
  /// The vertical middle of each vertex.
  private(set) var centers: [Int] = []
  private var heights: [Int]
  private var before: [[Int]] = []
  private var behind: [[Int]] = []
  private let boxes: Int

  /// The most rounds in the search for a better order. Few graphs need more than five.
  private static let roundsMax = 12

  init(
    sizes: [LayeredLayout.Size], ranks: [Int], edges: [(from: Int, to: Int)], lineHeight: Int
  ) {
    boxes = sizes.count
    rankOfVertex = ranks
    heights = sizes.map(\.height)
    layers = Array(repeating: [], count: (ranks.max() ?? -1) + 1)
    for (from, to) in edges {
      var chain: [Int] = []
      if from != to, ranks[from] + 1 < ranks[to] {
        for rank in (ranks[from] + 1)..<ranks[to] {
          chain.append(rankOfVertex.count)
          rankOfVertex.append(rank)
          heights.append(lineHeight)
        }
      }
      chains.append(chain)
    }
    before = Array(repeating: [], count: rankOfVertex.count)
    behind = before
    // An edge of a cycle may lead back or stay in its column. It does not affect the order.
    for ((from, to), chain) in zip(edges, chains) where from != to && ranks[from] < ranks[to] {
      let path = [from] + chain + [to]
      for (left, right) in zip(path, path.dropFirst()) {
        before[right].append(left)
        behind[left].append(right)
      }
    }
    for vertex in firstOrder() { layers[rankOfVertex[vertex]].append(vertex) }
  }

  /// Walks depth-first from each vertex without incoming edges, so that connected vertices are next
  /// to each other.
  private func firstOrder() -> [Int] {
    var seen = Array(repeating: false, count: rankOfVertex.count)
    var found: [Int] = []
    let starts = rankOfVertex.indices.filter { before[$0].isEmpty } + Array(rankOfVertex.indices)
    for start in starts where !seen[start] {
      var open = [start]
      while let vertex = open.popLast() {
        guard !seen[vertex] else { continue }
        seen[vertex] = true
        found.append(vertex)
        // Boxes come before long edges, so that the main line stays on top.
        open += behind[vertex].sorted { ($0 >= boxes ? 1 : 0, $0) < ($1 >= boxes ? 1 : 0, $1) }
          .reversed()
      }
    }
    return found
  }
}

// MARK: - Order

extension Layers {
  /// Sorts each column by the mean position of its neighbors, alternately forwards and
  /// backwards, and keeps the order with the fewest crossings.
  mutating func order() {
    var best = layers
    var fewest = crossings()
    for round in 0..<Self.roundsMax where fewest > 0 {
      let isForward = round.isMultiple(of: 2)
      for rank in isForward ? Array(layers.indices) : layers.indices.reversed() {
        sort(rank, by: isForward ? before : behind)
      }
      let count = crossings()
      // A round can also make the order worse, so the last one is not always the best.
      if count < fewest { (best, fewest) = (layers, count) }
    }
    layers = best
  }

  private mutating func sort(_ rank: Int, by neighbors: [[Int]]) {
    let places = self.places()
    let keys = layers[rank].enumerated().map { place, vertex -> (key: Double, place: Int) in
      let near = neighbors[vertex].map { places[$0] }
      // A vertex without neighbors on that side keeps its place.
      let middle = near.isEmpty ? Double(place) : Double(near.reduce(0, +)) / Double(near.count)
      return (middle, place)
    }
    layers[rank] = keys.sorted { $0 < $1 }.map { layers[rank][$0.place] }
  }

  /// The position of each vertex in its column.
  private func places() -> [Int] {
    var places = Array(repeating: 0, count: rankOfVertex.count)
    for layer in layers { for (place, vertex) in layer.enumerated() { places[vertex] = place } }
    return places
  }

  func crossings() -> Int {
    let places = self.places()
    return layers.reduce(0) { sum, layer in
      // The ends of the edges, sorted by where the edges start: each pair in the wrong order is a
      // crossing.
      let ends = layer.flatMap { vertex in behind[vertex].map { places[$0] }.sorted() }
      var count = 0
      for (index, end) in ends.enumerated() {
        for later in ends[(index + 1)...] where later < end { count += 1 }
      }
      return sum + count
    }
  }
}

// MARK: - Places

extension Layers {
  /// The most rounds of moving vertices towards their neighbors.
  private static let movesMax = 8

  /// Places each vertex as near to the middle of its neighbors as the other vertices of its column
  /// allow.
  mutating func place(_ spacing: LayeredLayout.Spacing) {
    centers = Array(repeating: 0, count: rankOfVertex.count)
    for layer in layers { settle(layer, wanted: layer.map { _ in 0 }, spacing) }
    for round in 0..<Self.movesMax {
      let isForward = round.isMultiple(of: 2)
      for rank in isForward ? Array(layers.indices) : layers.indices.reversed() {
        let wanted = layers[rank].map { vertex in
          middle(of: isForward ? before[vertex] : behind[vertex], vertex) ?? centers[vertex]
        }
        settle(layers[rank], wanted: wanted, spacing)
      }
    }
    // Vertices move up as well as down; the drawing begins at 0.
    let top = rankOfVertex.indices.map { centers[$0] - heights[$0] / 2 }.min() ?? 0
    for vertex in centers.indices { centers[vertex] -= top }
  }

  /// Edges between boxes pull boxes together, and long edges stay straight.
  private func middle(of neighbors: [Int], _ vertex: Int) -> Int? {
    guard !neighbors.isEmpty else { return nil }
    return Self.median(neighbors.map { (centers[$0], weight(vertex, $0)) })
  }

  /// The weighted median; if two values split the weight evenly, the middle between them.
  private static func median(_ pulls: [(center: Int, weight: Int)]) -> Int {
    let sorted = pulls.sorted { $0.center < $1.center }
    let total = sorted.reduce(0) { $0 + $1.weight }
    var sum = 0
    for (index, pull) in sorted.enumerated() {
      sum += pull.weight
      if 2 * sum > total { return pull.center }
      // There is a next one: weights are positive, so half of the total is not all of it.
      if 2 * sum == total { return (pull.center + sorted[index + 1].center) / 2 }
    }
    return 0
  }

  private func weight(_ one: Int, _ other: Int) -> Int {
    switch (one < boxes, other < boxes) {
    case (true, true): 4
    case (false, false): 16
    default: 1
    }
  }

  /// Finds the positions nearest to the wanted positions, in this order and with the required gaps.
  /// This is the pool-adjacent-violators algorithm with medians: vertices that push each other move
  /// as one block, and a line yields to a box.
  private mutating func settle(
    _ layer: [Int], wanted: [Int], _ spacing: LayeredLayout.Spacing
  ) {
    var offsets = [0]
    for (upper, lower) in zip(layer, layer.dropFirst()) {
      let gap = upper < boxes && lower < boxes ? spacing.rows : spacing.lines
      offsets.append((offsets.last ?? 0) + (heights[upper] + heights[lower]) / 2 + gap)
    }
    var blocks: [(pulls: [(center: Int, weight: Int)], place: Int)] = []
    for (index, vertex) in layer.enumerated() {
      // With the distances subtracted, keeping the order and the gaps means that positions never
      // fall, and the algorithm solves exactly that problem.
      let pull = (wanted[index] - offsets[index], vertex < boxes ? 8 : 1)
      blocks.append(([pull], pull.0))
      while blocks.count > 1, blocks[blocks.count - 2].place > blocks[blocks.count - 1].place {
        let pulls = blocks[blocks.count - 2].pulls + blocks[blocks.count - 1].pulls
        blocks.removeLast(2)
        blocks.append((pulls, Self.median(pulls)))
      }
    }
    var index = 0
    for block in blocks {
      for _ in block.pulls {
        centers[layer[index]] = block.place + offsets[index]
        index += 1
      }
    }
  }
}
