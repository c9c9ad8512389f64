import RetakeGraph
import RetakeTestSupport

/// Draws the graph of a case: grows it from its sources, node by node.
struct CaseDrawing {
  /// The type of the values on an edge.
  enum Kind: Equatable {
    case frame, detections, other
    case joined([Kind])
  }

  /// An output that is not connected yet.
  struct End {
    var node: String
    var port: String?
    var kind: Kind
    /// The source of the frames.
    var source: Int
  }

  private static let nodesMax = 16
  private static let endsMax = 4

  var random: SeededGenerator
  var example: ModelCase
  let shape: ModelCase.Shape
  var ends: [End] = []
  /// The remaining ids. Their byte order is unrelated to the graph's order.
  var ids: [String]
  /// Whether a stage may end the run.
  var isFatal = false

  static func draw(
    _ example: ModelCase, _ shape: ModelCase.Shape, _ random: SeededGenerator
  ) -> ModelCase {
    var drawing = CaseDrawing(random: random, example: example, shape: shape)
    if shape == .adaptive, drawing.chance(8) { return drawing.swinging() }
    drawing.drawParts()
    drawing.drawSources()
    let growth = shape == .adaptive ? 5 : 10
    for _ in 0..<drawing.random.pick(0...growth) where drawing.example.nodes.count < nodesMax {
      drawing.grow()
    }
    while drawing.ends.count > endsMax { drawing.addJoin() }
    for end in drawing.ends {
      drawing.add(drawing.last(), behind: end)
    }
    // The order in the document is not the order of the graph.
    drawing.example.nodes.shuffle(using: &drawing.random)
    drawing.example.edges.shuffle(using: &drawing.random)
    drawing.drawWaits()
    if shape == .adaptive { drawing.drawDevice() }
    if shape != .line {
      drawing.drawChanges()
      drawing.drawBatches()
    }
    return drawing.example
  }

  private init(random: SeededGenerator, example: ModelCase, shape: ModelCase.Shape) {
    self.random = random
    self.example = example
    self.shape = shape
    ids = ["a", "b", "c", "d", "n"].flatMap { letter in
      ["", "-1", "-x", "1", "10", "9", "B", "a", "z"].map { letter + $0 }
    }
    ids.shuffle(using: &self.random)
  }

  mutating func chance(_ percent: Int) -> Bool { random.chance(percent) }

  private mutating func drawParts() {
    isFatal = chance(15)
    example.servers = (0..<random.pick(0...2)).map {
      PipelineExecutor(id: "shared\($0)", count: random.pick(1...3))
    }
    guard shape != .adaptive else { return drawAdaptivePools() }
    guard shape != .line, chance(50) else { return }
    example.pools = (0..<random.pick(1...2)).map {
      PipelinePool(
        id: "pool\($0)", capacity: random.pick(1...6), policy: random.pick([.block, .drop, .fail]))
    }
  }

  private mutating func drawSources() {
    let count = shape == .line ? 1 : random.pick([1, 1, 1, 2, 2, 3])
    for index in 0..<count {
      let frames =
        shape == .adaptive
        ? waves(track: index * 2, most: count == 1 ? 80 : 30)
        : frames(track: index * 2, most: count == 1 ? 40 : 16)
      let id = newID()
      let pool = pool(chance: shape == .adaptive ? 85 : 50)
      example.nodes.append(ModelCase.Node(id: id, role: .source(frames), pool: pool))
      ends.append(End(node: id, kind: .frame, source: index))
    }
  }

  mutating func frames(track: Int, most: Int) -> TinyFrames {
    let tick = example.tick
    var frames = TinyFrames(track: track, times: [])
    let gaps = random.pick([[0, 1], [0, 0, 0, 3], [0, 1, 2, 5], [1, 1, 1, 2], [2], [0, 9]])
    var time = Int64(random.pick(-5...5)) * tick
    for _ in 0..<random.pick(1...most) {
      frames.times.append(time)
      time += Int64(random.pick(gaps)) * tick
    }
    if chance(40) {
      frames.arrivals = frames.times.map { $0 + Int64(random.pick(-3...3)) * tick }
      if shape == .graph { frames.arrivals?.sort() }
    }
    guard chance(40) else { return frames }
    for sequence in frames.times.indices {
      if chance(8) { frames.damaged[sequence] = ModelCase.damageCode }
      if chance(5) { frames.shed.insert(sequence) }
    }
    return frames
  }

  // MARK: - Growing

  private mutating func grow() {
    if shape == .line {
      let end = ends.removeLast()
      let role =
        chance(25) ? Role.throttle(ticks: random.pick(1...8), rules: []) : .stage(service())
      return ends.append(grown(role, behind: end))
    }
    switch random.pick(0...99) {
    case 0..<32: addBehind(.stage(service()))
    case 32..<40: addThrottle()
    case 40..<45: addBehind(.sample(random.pick(1...3)))
    case 45..<55: addRoute()
    case 55..<62: ends.append(random.pick(ends))
    case 62..<75: addJoin()
    case 75..<84: addLatest()
    default: addForEach()
    }
  }

  typealias Role = ModelCase.Role

  /// Adds a node downstream of an output, instead of or in addition to later nodes.
  private mutating func addBehind(_ role: Role) {
    let index = random.pick(0...ends.count - 1)
    let end = ends[index]
    if !chance(25) { ends.remove(at: index) }
    ends.append(grown(role, behind: end))
  }

  mutating func grown(_ role: Role, behind end: End) -> End {
    let id = add(role, behind: end)
    guard case .stage(let service) = role else {
      return End(node: id, kind: end.kind, source: end.source)
    }
    return End(
      node: id, kind: service.makes == .detections ? .detections : .other, source: end.source)
  }

  /// Often before a slower stage, so that frames wait at the throttle.
  private mutating func addThrottle() {
    addBehind(throttle())
    guard chance(50) else { return }
    var slow = service()
    slow.cost = .fixed(.nanoseconds(Int64(random.pick(3...12)) * example.tick))
    let end = ends.removeLast()
    ends.append(grown(.stage(slow), behind: end))
    example.edges[example.edges.count - 1].policy = .block
    example.edges[example.edges.count - 1].capacity = 1
  }

  private mutating func addRoute() {
    let end = ends.remove(at: random.pick(0...ends.count - 1))
    let ports = Array(
      ["left", "right", "a-1", "a"].shuffled(using: &random).prefix(2 + (chance(40) ? 1 : 0)))
    let choices = (0..<random.pick(1...5)).map { _ in random.pick(0...ports.count - 1) }
    let id = add(.route(ports: ports, choices: choices), behind: end)
    let used = ports.filter { _ in chance(80) }
    for port in used.isEmpty ? [ports[0]] : used {
      ends.append(End(node: id, port: port, kind: end.kind, source: end.source))
    }
  }

  private mutating func addJoin() {
    let source = random.pick(ends).source
    var taken: [End] = []
    for _ in 0..<random.pick(2...3) {
      let fitting = ends.indices.filter { ends[$0].source == source }
      // The same output may lead to two ports.
      guard let index = fitting.randomElement(using: &random) else {
        taken.append(random.pick(taken))
        continue
      }
      taken.append(ends.remove(at: index))
    }
    let mode = random.pick(JoinMode.allCases)
    let timeout = chance(50) ? random.pick(1...8) : nil
    ends.append(
      joined(taken) { .join(ports: $0, mode: mode, timeoutTicks: timeout) })
  }

  private mutating func addLatest() {
    var taken: [End] = []
    for _ in 0..<random.pick(2...3) {
      taken.append(
        ends.isEmpty ? random.pick(taken) : ends.remove(at: random.pick(0...ends.count - 1)))
    }
    ends.append(joined(taken) { .latest(ports: $0) })
  }

  private mutating func joined(_ taken: [End], _ role: ([String]) -> Role) -> End {
    let names = ["left", "right", "a-1", "a", "b"].shuffled(using: &random)
    let ports = Array(names.prefix(taken.count))
    let id = newID()
    example.nodes.append(ModelCase.Node(id: id, role: role(ports)))
    for (end, port) in zip(taken, ports) { connect(end, to: id, port: port) }
    return End(node: id, kind: .joined(taken.map(\.kind)), source: taken[0].source)
  }

  /// Adds a forEach after frames joined with detections, which are created if necessary.
  private mutating func addForEach() {
    let ready = ends.indices.filter {
      guard case .joined(let kinds) = ends[$0].kind else { return false }
      return kinds.contains(.frame) && kinds.contains(.detections)
    }
    let input: End
    if let index = ready.randomElement(using: &random) {
      input = ends.remove(at: index)
    } else {
      guard
        let index = ends.indices.filter({ ends[$0].kind == .frame }).randomElement(using: &random)
      else { return }
      let frames = chance(30) ? ends[index] : ends.remove(at: index)
      var detector = service()
      detector.makes = .detections
      detector.counts = counts()
      let found = grown(.stage(detector), behind: frames)
      let mode = random.pick(JoinMode.allCases)
      let timeout = chance(30) ? random.pick(1...8) : nil
      let isLatest = chance(25)
      let parts = chance(50) ? [frames, found] : [found, frames]
      input = joined(parts) {
        isLatest ? .latest(ports: $0) : .join(ports: $0, mode: mode, timeoutTicks: timeout)
      }
    }
    let body = body()
    let capacities = body.dropFirst().map { _ in random.pick(1...4) }
    let id = add(.forEach(body, capacities: Array(capacities)), behind: input)
    var classifies = false
    if case .stage(let last) = body[body.count - 1].role { classifies = last.makes == .classes }
    ends.append(End(node: id, kind: classifies ? .detections : .other, source: input.source))
  }
}
