public import RetakeCore

/// The part of its input that a stage's output shows: a rectangle of the input, at a size of its
/// own.
public struct ImageView: Hashable, Sendable {
  /// In pixels of the input.
  public var area: Box
  /// Width of the output, in pixels.
  public var width: Int
  /// Height of the output, in pixels.
  public var height: Int
  /// How the area is turned before it is scaled.
  var turn = ImageTurn()

  /// A part of the input, such as a crop. `width` and `height` must be above 0; otherwise the view
  /// is ignored, and boxes are mapped as if the output showed all of the input, pixel by pixel.
  public init(area: Box, width: Int, height: Int) {
    (self.area, self.width, self.height) = (area, width, height)
  }

  /// All of the input, at another size.
  public init(scaling input: ImageShape, width: Int, height: Int) {
    let area = Box(x: 0, y: 0, width: Double(input.width), height: Double(input.height))
    self.init(area: area, width: width, height: height)
  }

  /// All of the input, turned as players show it.
  package init(upright input: ImageShape) {
    let isOnItsSide = input.turn.isOnItsSide
    self.init(
      scaling: input, width: isOnItsSide ? input.height : input.width,
      height: isOnItsSide ? input.width : input.height)
    turn = input.turn
  }
}

/// Maps the pixel coordinates of a value to the frame of its source.
package struct ImagePlacement: Hashable, Sendable {
  /// The track of the source's frame.
  package let track: Int
  /// Where the origin is, in the source's pixels.
  private var origin = (x: 0.0, y: 0.0)
  /// Source pixels per pixel to the right here; one of both is 0.
  private var across = (x: 1.0, y: 0.0)
  /// Source pixels per pixel down here; one of both is 0.
  private var down = (x: 0.0, y: 1.0)
  private var shape: ImageShape

  /// The placement of the source's own frame.
  package init(track: Int, shape: ImageShape) {
    (self.track, self.shape) = (track, shape)
  }

  /// Whether coordinates are the same as in the source's pixels.
  package var isPlain: Bool { origin == (0, 0) && across == (1, 0) && down == (0, 1) }

  package static func == (left: Self, right: Self) -> Bool {
    left.isSame(as: right) && left.shape == right.shape
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(track)
    hasher.combine(shape)
  }

  /// Converts a box to the source's pixels, rounded to a thousandth.
  package func inSource(_ box: Box) -> Box {
    if isPlain { return box }
    func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    // The corner with the smallest coordinates: a turned axis points the other way.
    func least(_ start: Double, _ step: Double, _ from: Double, _ length: Double) -> Double {
      start + (step < 0 ? from + length : from) * step
    }
    let start = (
      x: least(least(origin.x, across.x, box.x, box.width), down.x, box.y, box.height),
      y: least(least(origin.y, across.y, box.x, box.width), down.y, box.y, box.height)
    )
    return Box(
      x: rounded(start.x), y: rounded(start.y),
      width: rounded(box.width * abs(across.x) + box.height * abs(down.x)),
      height: rounded(box.width * abs(across.y) + box.height * abs(down.y)))
  }

  /// A point of these frames, in the source's pixels.
  private func point(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
    (origin.x + x * across.x + y * down.x, origin.y + x * across.y + y * down.y)
  }

  /// The placement of the frames that a stage makes of these.
  func behind(_ stage: AnyStage) -> ImagePlacement {
    var result = self
    // A format that the stage does not accept is converted before it.
    if !stage.signature.accepts(shape.format),
      let target = stage.signature.conversion(of: shape.format)
    {
      result.shape.format = target
    }
    // A user's stage may describe a view of any size, and the scales divide by it.
    if let view = stage.pictureView(result.shape), view.width > 0, view.height > 0 {
      result.show(view)
    }
    result.shape.format = stage.outputFormat(result.shape.format)
    return result
  }

  private mutating func show(_ view: ImageView) {
    // The area is in pixels of the input, so the input's own axes apply.
    let (area, turn) = (view.area, view.turn)
    origin = point(area.x, area.y)
    // From the left to the right edge of the area, and from its top to its bottom.
    var (right, bottom) = ((axis: across, length: area.width), (axis: down, length: area.height))
    func scaled(_ axis: (x: Double, y: Double), _ factor: Double) -> (x: Double, y: Double) {
      (axis.x * factor, axis.y * factor)
    }
    func move(along edge: (axis: (x: Double, y: Double), length: Double)) {
      let way = scaled(edge.axis, edge.length)
      origin = (origin.x + way.x, origin.y + way.y)
    }
    if turn.isMirrored {
      move(along: right)
      right.axis = scaled(right.axis, -1)
    }
    // Each quarter turn moves the lower left corner to the upper left.
    for _ in 0..<(turn.degrees / 90) {
      move(along: bottom)
      (right, bottom) = ((scaled(bottom.axis, -1), bottom.length), right)
    }
    across = scaled(right.axis, right.length / Double(view.width))
    down = scaled(bottom.axis, bottom.length / Double(view.height))
    (shape.width, shape.height) = (view.width, view.height)
    if !turn.isNone { shape.turn = ImageTurn() }
  }

  /// Whether a coordinate means the same in both.
  fileprivate func isSame(as other: ImagePlacement) -> Bool {
    track == other.track && origin == other.origin && across == other.across
      && down == other.down
  }
}

extension Pipeline {
  /// Maps the boxes that each sink receives to the frames of their source, by the sink's ID. Sinks
  /// are omitted if the mapping is not known: if boxes come from several images, or if each box
  /// comes from a different region.
  ///
  /// - Parameter sources: The track and the shape of the frames, by source.
  /// - Throws: `PipelineError.cycle`.
  package func picturePlacements(
    sources: [String: ImagePlacement]
  ) throws -> [String: ImagePlacement] {
    let graph = GraphIndex(flattened())
    var walk = PlacementWalk(graph: graph, sources: sources)
    for node in try graph.order() { walk.visit(node) }
    var result: [String: ImagePlacement] = [:]
    for node in graph.nodes.indices where graph.role(node) == .sink {
      result[graph.nodes[node].id] = walk.placement(ofBoxesAt: node)
    }
    return result
  }
}

/// The output of each node, value by value, with its placement.
private struct PlacementWalk {
  struct Part {
    var kind: ValueKind?
    /// `nil` if it is not known.
    var placement: ImagePlacement?

    /// Whether the value may contain boxes.
    var hasBoxes: Bool {
      switch kind {
      case .detections, .observations, .items, .region, .user, .joined, nil: true
      case .frame, .classes, .scalars, .waveform, .tensor, .bytes: false
      }
    }
  }

  let graph: GraphIndex
  /// By node. A join has the parts of all its ports, at most `GraphIndex.joinedValuesMax`.
  private var parts: [[Part]]

  init(graph: GraphIndex, sources: [String: ImagePlacement]) {
    self.graph = graph
    parts = graph.nodes.map { node in
      node.stage.signature.role == .source
        ? [Part(kind: .frame, placement: sources[node.id])] : []
    }
  }

  /// Nodes are visited in topological order.
  mutating func visit(_ node: Int) {
    let given = graph.senderByPort(to: node).flatMap { $0.map { parts[$0] } ?? [] }
    switch graph.role(node) {
    case .source: return
    case .fork:
      // `ForEachItems.input` uses the first detections, too.
      let boxes = given.first { $0.kind == .detections }
      parts[node] = [Part(kind: .region, placement: boxes?.placement)]
    case .gather: parts[node] = [gathered(given, at: node)]
    case .pure, .stateful: parts[node] = [made(of: given, by: graph.nodes[node].stage)]
    case .join, .latest, .throttle, .sample, .route, .sink: parts[node] = given
    }
  }

  func placement(ofBoxesAt node: Int) -> ImagePlacement? { Self.common(parts[node]) }

  private func made(of given: [Part], by stage: AnyStage) -> Part {
    // A stage's detections are in pixels of its input.
    guard stage.signature.output == .frame else {
      return Part(kind: stage.signature.output, placement: Self.common(given))
    }
    // A frame that is made of a region is placed by the region's detection.
    let frames = given.filter { $0.kind == .frame }
    return Part(kind: .frame, placement: Self.common(frames)?.behind(stage))
  }

  /// A forEach outputs its detections, followed by the outputs of its body.
  private func gathered(_ inner: [Part], at node: Int) -> Part {
    let scope = graph.nodes[node].scope
    let outer = graph.nodes.firstIndex { $0.id == scope }.map { parts[$0] } ?? []
    return Part(kind: .items, placement: Self.common(outer + inner.filter(\.hasBoxes)))
  }

  /// The common placement of the values with boxes, or of all values if no value has boxes; `nil`
  /// if the placements differ.
  private static func common(_ parts: [Part]) -> ImagePlacement? {
    let boxes = parts.filter(\.hasBoxes)
    let meant = (boxes.isEmpty ? parts : boxes).map(\.placement)
    guard let first = meant.first, let first else { return nil }
    return meant.allSatisfy { $0.map(first.isSame) ?? false } ? first : nil
  }
}
