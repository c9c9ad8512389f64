package import RetakeBuffers
import RetakeGraph

/// The bytes that stages write, as far as they are known before a run.
extension GraphPlan {
  /// By node, the bytes of the frame that a stage makes of each frame; 0 for nodes that make no
  /// frame.
  ///
  /// A stage makes a frame if its output is a frame. A stage that may keep its input's memory
  /// (`keepsInput`) makes a frame only if it scales, or changes the pixel format; the luma plane of
  /// a YUV frame is GRAY8 as it is. Items of a forEach do not count, since their sizes are not
  /// known.
  ///
  /// - Parameter tracks: By source node.
  package func frameBytes(of tracks: [Int: TrackDescription]) -> [Int] {
    frames(of: tracks).map { $0.isNew ? $0.shape?.bytes ?? 0 : 0 }
  }

  /// By pool that is made before the first frame, the memory of its frames, as far as their sizes
  /// are known: one layout for each stage of the pool, and for each source.
  ///
  /// - Parameter countsSources: Whether frames of sources lease from their pools. In a replay, the
  ///   decoder has separate memory.
  package func preallocations(
    of tracks: [Int: TrackDescription], countsSources: Bool
  ) -> [(pool: Int, layouts: [PlaneLayout])] {
    guard pools.contains(where: \.isPreallocated) else { return [] }
    let frames = frames(of: tracks)
    return pools.indices.filter { pools[$0].isPreallocated }.map { pool in
      let leasing = nodes.indices.filter { index in
        nodes[index].pool == pool
          && (frames[index].isNew || countsSources && nodes[index].role == .source)
      }
      return (pool, leasing.compactMap { frames[$0].shape?.layout })
    }
  }

  /// By node, the shape of its frames, and whether they need new memory; the shape is `nil` if it
  /// is not known.
  private func frames(
    of tracks: [Int: TrackDescription]
  ) -> [(shape: ImageShape?, isNew: Bool)] {
    var shapes: [ImageShape?] = nodes.map { _ in nil }
    return nodes.indices.map { index in
      let node = nodes[index]
      let given = node.inEdges.lazy.compactMap { shapes[edges[$0].from] }.first
      switch node.role {
      case .source:
        shapes[index] = tracks[index].map { ImageShape($0) }
      case .throttle, .sample, .route, .join, .latest: shapes[index] = given
      case .pure, .stateful:
        guard !node.isInner, node.stage.signature.output == .frame, let given else {
          return (nil, false)
        }
        let made = given.made(by: node.stage)
        shapes[index] = made.shape
        return (made.shape, made.isNew)
      case .fork, .gather, .sink: break
      }
      return (shapes[index], false)
    }
  }
}

extension ImageShape {
  /// Bound of the sides, as `TrackDescription` has it.
  private static let sideMax = 1 << 24

  fileprivate var bytes: Int {
    format.visibleBytes(
      width: min(max(0, width), Self.sideMax), height: min(max(0, height), Self.sideMax))
  }

  fileprivate var layout: PlaneLayout {
    PlaneLayout(
      format: format, width: min(max(0, width), Self.sideMax),
      height: min(max(0, height), Self.sideMax))
  }

  /// The output of a stage, and whether it needs new memory.
  fileprivate func made(by stage: AnyStage) -> (shape: ImageShape, isNew: Bool) {
    var made = self
    var isScaled = false
    if let view = stage.pictureView(self), view.width > 0, view.height > 0 {
      (made.width, made.height) = (view.width, view.height)
      isScaled =
        view.area.width != Double(view.width) || view.area.height != Double(view.height)
    }
    made.format = stage.outputFormat(format)
    let isConverted = made.format != format && !(made.format == .gray && format.isYUV)
    return (made, !stage.signature.keepsInput || isScaled || isConverted)
  }
}
