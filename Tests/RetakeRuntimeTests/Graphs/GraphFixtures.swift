import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Finds a number of boxes in each frame, from a list, by sequence; frames beyond the list have no
/// box.
struct Finder: PureStage {
  static let kind = "finder"
  struct Options: StageOptions {
    var counts: [Int] = []
    var width = 1
  }
  let options: Options

  init(_ counts: [Int], width: Int = 1) { options = Options(counts: counts, width: width) }
  init(options: Options) { self.options = options }

  func process(_ frame: Frame, _ context: StageContext) -> Detections {
    let sequence = context.frame.sequence
    let count = options.counts.indices.contains(sequence) ? options.counts[sequence] : 0
    return Detections(
      (0..<count).map {
        Detection(
          box: Box(x: Double($0), y: 0, width: Double(options.width), height: 1), score: 0.5)
      }, classNames: ["thing"])
  }
}

/// Labels a region with its own position and width; fails on chosen items, named `sequence.item`.
struct Labeller: PureStage {
  static let kind = "labeller"
  struct Options: StageOptions {
    var failing: [String] = []
    var label = "thing"
  }
  let options: Options

  init(failing: [String] = [], label: String = "thing") {
    options = Options(failing: failing, label: label)
  }
  init(options: Options) { self.options = options }

  func process(_ region: Region, _ context: StageContext) throws -> Classes {
    let item = context.item ?? -1
    if options.failing.contains("\(context.frame.sequence).\(item)") {
      throw StageError(code: "labeller.chosen", message: "a chosen item")
    }
    return Classes([
      .init(label: "\(options.label)-\(Int(region.detection.box.x))", score: 1)
    ])
  }
}

extension PipelineNode {
  static func stage(_ id: String, _ stage: AnyStage, _ milliseconds: Int64? = nil) -> PipelineNode {
    PipelineNode(id: id, stage: stage, cost: milliseconds.map { .fixed(.milliseconds($0)) })
  }

  static func source(_ frames: TinyFrames, id: String = "camera") -> PipelineNode {
    PipelineNode(id: id, stage: Nodes.source(frames))
  }

  static func sink(_ id: String = "sink") -> PipelineNode {
    PipelineNode(id: id, stage: Nodes.sink())
  }

  static func label(_ milliseconds: Int64? = 4, failing: [String] = []) -> PipelineNode {
    .stage("label", AnyStage(Labeller(failing: failing)), milliseconds)
  }

  func with(_ change: (inout PipelineNode) -> Void) -> PipelineNode {
    var node = self
    change(&node)
    return node
  }
}

extension PipelineEdge {
  /// `"from → to.port"`.
  init(_ text: String, capacity: Int = 3, policy: EdgePolicy = .block) {
    let ends = text.split(separator: " → ").map { $0.split(separator: ".").map(String.init) }
    self.init(
      from: ends[0][0], to: ends[1][0], fromPort: ends[0].dropFirst().first,
      toPort: ends[1].dropFirst().first, capacity: policy == .replace ? 1 : capacity,
      policy: policy)
  }
}

extension Pipeline {
  /// A graph of nodes and edges in a drawn form: `"a → b → c"`.
  init(
    _ nodes: [PipelineNode], _ lines: [String], executors: [PipelineExecutor] = [],
    pools: [PipelinePool] = [], edges special: [PipelineEdge] = []
  ) {
    let drawn = lines.flatMap { line -> [PipelineEdge] in
      let parts = line.split(separator: " → ").map(String.init)
      return zip(parts, parts.dropFirst()).map { PipelineEdge("\($0) → \($1)") }
    }
    self.init(
      name: "drawn", nodes: nodes, edges: drawn + special, executors: executors, pools: pools)
  }
}

extension Pipeline {
  /// Finds a number of objects in each frame, in a millisecond, and labels them in a forEach
  /// 'people'.
  static func people(
    _ counts: [Int], frames: TinyFrames, label: PipelineNode = .label()
  ) -> Pipeline {
    Pipeline(
      [
        .source(frames), .stage("find", AnyStage(Finder(counts)), 1),
        PipelineNode(id: "pair", stage: .join(["frame", "boxes"])),
        PipelineNode(id: "people", stage: .forEach).with {
          $0.body = PipelineBody(nodes: [label], edges: [], output: "label")
        }, .sink(),
      ],
      [
        "camera → find → pair.boxes", "camera → pair.frame", "pair → people → sink",
      ])
  }
}

extension Notes {
  /// The lines of some kinds, as strings.
  func lines(_ kinds: String...) -> [String] {
    lines.filter { kinds.contains($0.kind.rawValue) }.map(\.description)
  }
}

extension Pipeline {
  /// Two branches that join again, in a pool named `frames`: with three buffers, the second frame
  /// leases the buffer that 'b' would need for the first.
  static func waitingForItself(_ pool: PipelinePool) -> Pipeline {
    let branches = ["a", "b"].map { id in
      PipelineNode.stage(id, AnyStage(Fragile2(failing: [])), 2).with {
        $0.pool = pool.id
        $0.executor = "one"
      }
    }
    return Pipeline(
      [.source(.on("ff")).with { $0.pool = pool.id }] + branches
        + [PipelineNode(id: "both", stage: .join(["a", "b"])), .sink()],
      ["camera → a → both.a", "camera → b → both.b", "both → sink"],
      executors: [PipelineExecutor(id: "one")], pools: [pool])
  }
}
