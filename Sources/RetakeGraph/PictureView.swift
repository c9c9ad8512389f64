import RetakeBuffers
import RetakeCore

/// The size of a picture, and how its pixels lie.
public struct PictureShape: Hashable, Sendable {
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  public var format: PixelFormat

  public init(width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
  }
}

/// What a stage's output shows of its input: a rectangle of it, at a size of its own.
public struct PictureView: Hashable, Sendable {
  /// In pixels of the input.
  public var area: Box
  /// Of the output, in pixels.
  public var width: Int
  /// Of the output, in pixels.
  public var height: Int

  public init(area: Box, width: Int, height: Int) {
    (self.area, self.width, self.height) = (area, width, height)
  }

  /// The whole input at another size.
  public init(scaling input: PictureShape, width: Int, height: Int) {
    let area = Box(x: 0, y: 0, width: Double(input.width), height: Double(input.height))
    self.init(area: area, width: width, height: height)
  }
}

/// Where the pixels that a value speaks of lie in the frame that a source gave.
package struct PicturePlacement: Hashable, Sendable {
  /// The track that the frame is of.
  package let track: Int
  /// The left upper corner, in the source's pixels.
  private var x = 0.0
  private var y = 0.0
  /// The source's pixels for one pixel here.
  private var acrossScale = 1.0
  private var downScale = 1.0
  private var shape: PictureShape

  /// The source's own frame.
  package init(track: Int, shape: PictureShape) {
    (self.track, self.shape) = (track, shape)
  }

  /// Whether every number is the same in the source's pixels.
  package var isPlain: Bool { x == 0 && y == 0 && acrossScale == 1 && downScale == 1 }

  /// A box of these pixels in those of the source, to a thousandth.
  package func inSource(_ box: Box) -> Box {
    if isPlain { return box }
    func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    return Box(
      x: rounded(x + box.x * acrossScale), y: rounded(y + box.y * downScale),
      width: rounded(box.width * acrossScale), height: rounded(box.height * downScale))
  }

  /// Where the frames lie that a stage makes of these.
  func behind(_ stage: AnyStage) -> PicturePlacement {
    var result = self
    // What it does not take is converted before it.
    let accepted = stage.signature.inputFormats
    if let best = accepted.first, !accepted.contains(shape.format) { result.shape.format = best }
    if let view = stage.pictureView(result.shape), view.width > 0, view.height > 0 {
      result.x += view.area.x * acrossScale
      result.y += view.area.y * downScale
      result.acrossScale *= view.area.width / Double(view.width)
      result.downScale *= view.area.height / Double(view.height)
      (result.shape.width, result.shape.height) = (view.width, view.height)
    }
    result.shape.format = stage.outputFormat(result.shape.format)
    return result
  }

  /// Whether a number means the same in both.
  fileprivate func isSame(as other: PicturePlacement) -> Bool {
    (track, x, y) == (other.track, other.x, other.y)
      && (acrossScale, downScale) == (other.acrossScale, other.downScale)
  }
}

extension Pipeline {
  /// Where the boxes that each sink is given lie in the frames of their source, by the sink's id.
  /// Sinks are left out where that is not known: where boxes come from several pictures, or each
  /// from a region of its own.
  ///
  /// - Parameter sources: The frames' track and shape, by source.
  /// - Throws: `PipelineError.cycle`.
  package func picturePlacements(
    sources: [String: PicturePlacement]
  ) throws(PipelineError) -> [String: PicturePlacement] {
    let graph = GraphIndex(flattened())
    var walk = PlacementWalk(graph: graph, sources: sources)
    for node in try graph.order() { walk.visit(node) }
    var result: [String: PicturePlacement] = [:]
    for node in graph.nodes.indices where graph.role(node) == .sink {
      result[graph.nodes[node].id] = walk.placement(ofBoxesAt: node)
    }
    return result
  }
}

/// What each node gives, value by value, and where it lies.
private struct PlacementWalk {
  struct Part {
    var kind: ValueKind?
    /// `nil` where it is not known.
    var placement: PicturePlacement?

    /// Whether the value may have boxes in it.
    var hasBoxes: Bool {
      switch kind {
      case .detections, .items, .region, .user, .joined, nil: true
      case .frame, .classes, .scalars, .waveform, .tensor, .bytes: false
      }
    }
  }

  let graph: GraphIndex
  /// By node; a join's has those of its ports, of which there are at most
  /// `GraphIndex.joinedValuesMax`.
  private var parts: [[Part]]

  init(graph: GraphIndex, sources: [String: PicturePlacement]) {
    self.graph = graph
    parts = graph.nodes.map { node in
      node.stage.signature.role == .source
        ? [Part(kind: .frame, placement: sources[node.id])] : []
    }
  }

  /// Nodes come in topological order.
  mutating func visit(_ node: Int) {
    let given = graph.senderByPort(to: node).flatMap { $0.map { parts[$0] } ?? [] }
    switch graph.role(node) {
    case .source: return
    case .fork:
      let boxes = given.first { $0.kind == .detections }
      parts[node] = [Part(kind: .region, placement: boxes?.placement)]
    case .gather: parts[node] = [gathered(given, at: node)]
    case .pure, .stateful: parts[node] = [made(of: given, by: graph.nodes[node].stage)]
    case .join, .latest, .throttle, .sample, .route, .sink: parts[node] = given
    }
  }

  func placement(ofBoxesAt node: Int) -> PicturePlacement? { Self.common(parts[node]) }

  private func made(of given: [Part], by stage: AnyStage) -> Part {
    guard stage.signature.output == .frame else {
      return Part(kind: stage.signature.output, placement: Self.common(given))
    }
    // A frame that is made of a region lies where its detection says.
    let frames = given.filter { $0.kind == .frame }
    return Part(kind: .frame, placement: Self.common(frames)?.behind(stage))
  }

  /// A forEach gives its detections again, and behind them what its body gave.
  private func gathered(_ inner: [Part], at node: Int) -> Part {
    let scope = graph.nodes[node].scope
    let outer = graph.nodes.firstIndex { $0.id == scope }.map { parts[$0] } ?? []
    return Part(kind: .items, placement: Self.common(outer + inner.filter(\.hasBoxes)))
  }

  /// Where the boxes among the values lie, or all of them where none has boxes; `nil` where they
  /// do not lie alike.
  private static func common(_ parts: [Part]) -> PicturePlacement? {
    let boxes = parts.filter(\.hasBoxes)
    let meant = (boxes.isEmpty ? parts : boxes).map(\.placement)
    guard let first = meant.first, let first else { return nil }
    return meant.allSatisfy { $0.map(first.isSame) ?? false } ? first : nil
  }
}
