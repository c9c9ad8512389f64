import RetakeCore

/// A frame, or an item of it, at a node.
struct TraceWork: Hashable, Sendable {
  var node: Int
  var frame: FrameID
  var item: Int?

  /// `0:12` or `0:12.2`.
  var subject: String { item.map { "\(frame).\($0)" } ?? frame.description }

  var arguments: TraceText.Arguments {
    let item: TraceText.Arguments = item.map { [("item", .number($0))] } ?? []
    return [("frame", .text(frame.description))] + item
  }
}
