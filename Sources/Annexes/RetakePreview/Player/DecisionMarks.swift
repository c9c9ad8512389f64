package import RetakeCore

/// The decisions of a run as marks on its time line, by node.
package struct DecisionMarks: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable, CaseIterable {
    case start, drop, thin, fail
  }

  package struct Mark: Hashable, Sendable {
    /// On the run's own time line, in nanoseconds from its origin.
    package var time: Int64
    package var kind: Kind
  }

  package struct Lane: Hashable, Sendable {
    package var node: String
    package fileprivate(set) var marks: [Mark] = []
  }

  /// More marks than anyone would look through; they use 16 MB.
  package static let marksMax = 1 << 20

  /// In the order of the pipeline.
  package private(set) var lanes: [Lane]
  /// Whether marks are missing because there were more than `marksMax`.
  package private(set) var isCut = false
  private var count = 0
  private var numbers: [String: Int]

  /// - Parameter nodes: In topological order. Nodes without a mark get no lane.
  package init(nodes: [String]) {
    lanes = nodes.map { Lane(node: $0) }
    numbers = Dictionary(
      nodes.enumerated().map { ($0.element, $0.offset) }, uniquingKeysWith: { first, _ in first })
  }

  /// Adds a decision. Decisions must come in the order of their times.
  package mutating func add(_ line: DecisionLine) {
    guard let kind = Kind(line.kind), let lane = numbers[line.node] else { return }
    guard count < Self.marksMax else {
      isCut = true
      return
    }
    count += 1
    lanes[lane].marks.append(Mark(time: line.time, kind: kind))
  }

  /// The lanes with marks, each with the marks between two times.
  package func lanes(from first: Int64, to last: Int64) -> [Lane] {
    lanes.filter { !$0.marks.isEmpty }.map { lane in
      let begin = Self.firstMark(of: lane, notBefore: first)
      var result = Lane(node: lane.node)
      result.marks = Array(lane.marks[begin...].prefix { $0.time <= last })
      return result
    }
  }

  private static func firstMark(of lane: Lane, notBefore time: Int64) -> Int {
    var (low, high) = (0, lane.marks.count)
    // Ends: the range halves.
    while low < high {
      let middle = (low + high) / 2
      if lane.marks[middle].time < time { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension DecisionMarks.Kind {
  init?(_ decision: DecisionKind) {
    switch decision {
    case .start: self = .start
    case .drop, .supersede, .lost, .timeout: self = .drop
    case .thin: self = .thin
    case .fail, .itemFail, .halt, .stuck: self = .fail
    default: return nil
    }
  }
}

extension DecisionMarks {
  /// The number of lanes with marks.
  var laneCount: Int { lanes.count { !$0.marks.isEmpty } }
}
