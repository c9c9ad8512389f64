/// One difference between two pipelines' documents.
package struct PipelineChange: Hashable, Sendable, Codable {
  package enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// The pipeline's own name, which changes no result.
    case name
    case nodeAdded, nodeRemoved
    /// Another kind of stage under the same ID.
    case stage
    case option
    /// Other settings of a node: executor, slots, pool, precision, timeout …
    case setting
    case cost
    case edgeAdded, edgeRemoved
    /// The same two nodes, with other ports.
    case port
    /// Capacity or policy of an edge.
    case queue
    case executor, pool
    /// The same elements in another order.
    case order
    /// Anything else in a document.
    case other
  }

  package var kind: Kind
  /// The changed part of the pipeline, such as `motion.threshold`.
  package var place: String
  /// The value before and now; `nil` for a change without values, such as an edge.
  package var old: String?
  package var new: String?
  /// The change in words: `motion.threshold: 24 → 40`.
  package var text: String
}

extension PipelineChange {
  /// The change as the possible cause of a different result.
  package var suspicion: String { "the pipeline changed: \(text)" }

  /// Limits, in characters, for a value, a place and the whole text, because a hostile document may
  /// exceed them.
  private static let partMax = 48
  private static let placeMax = 120
  private static let textMax = 300

  /// A value that has changed.
  ///
  /// - Parameter words: Written before the values instead of `place`.
  init(
    _ kind: Kind, at place: String, from old: String, to new: String, words: String? = nil
  ) {
    let (old, new) = Self.excerpts(old, new)
    let place = Self.cut(place, Self.placeMax)
    let subject = words.map { Self.cut($0, Self.placeMax) } ?? place
    self.init(kind: kind, place: place, old: old, new: new, text: "\(subject): \(old) → \(new)")
  }

  /// Something that exists on one side only, or a change without values.
  init(_ kind: Kind, at place: String, text: String) {
    self.init(
      kind: kind, place: Self.cut(place, Self.placeMax), old: nil, new: nil,
      text: Self.cut(text, Self.textMax))
  }

  private static func cut(_ text: String, _ limit: Int) -> String {
    let head = text.prefix(limit)
    return head.endIndex == text.endIndex ? text : head + "…"
  }

  /// For long values, the part around the first character that differs.
  private static func excerpts(_ old: String, _ new: String) -> (old: String, new: String) {
    guard old.count > partMax || new.count > partMax else { return (old, new) }
    let same = zip(old, new).prefix { $0 == $1 }.count
    // A third of the excerpt shows the text before the difference.
    let start = max(0, same - partMax / 3)
    func part(_ text: String) -> String {
      (start > 0 ? "…" : "") + cut(String(text.dropFirst(start)), partMax)
    }
    return (part(old), part(new))
  }
}
