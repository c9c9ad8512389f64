import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeTestSupport

/// A random pipeline with the frames that run through it, for the engine and for the model.
///
/// All times are small multiples of one tick, so that many events occur at the same nanosecond.
struct ModelCase: CustomStringConvertible {
  static let failureCode = "model.chosen"
  /// A stage replaces the body of a node that is not a stage.
  static let noStageCode = "swap.noStage"
  static let outputCode = "swap.outputMismatch"
  static let damageCode = "session.packet.refused"
  /// The most detections that a frame of a case has.
  static let itemsMax = 5

  enum Shape {
    /// One source, stages and throttles in a line, one sink; stages have only a cost.
    case line
    /// Frames arrive in the order of their sequence.
    case graph
    /// Frames overtake each other before they arrive.
    case overtaking
    /// Pools follow the load and the device, and sinks are screens. A tick is long enough for
    /// several windows and changes of size.
    case adaptive
  }

  struct Node {
    var id: String
    var role: Role
    var pool: String?
  }

  enum Role {
    case source(TinyFrames)
    case stage(Service)
    /// 0 ticks are only valid with rules.
    case throttle(ticks: Int, rules: [Rule])
    case sample(Int)
    /// The port for each sequence, cyclically.
    case route(ports: [String], choices: [Int])
    case join(ports: [String], mode: JoinMode, timeoutTicks: Int?)
    case latest(ports: [String])
    case forEach([Node], capacities: [Int])
    case sink(holdTicks: Int)
    case screen(millihertz: Int)
  }

  /// The smallest number of ticks of a throttle while the device is this hot, or hotter.
  struct Rule {
    var heat: ThermalState
    var ticks: Int
  }

  /// An event of the device.
  struct Change {
    var ticks: Int
    var event: DeviceEvent
  }

  /// Another stage for a node, or for `x/NODE`.
  struct Swap {
    enum Moment {
      case ticks(Int)
      case arrival(FrameID)
    }

    var moment: Moment
    var node: String
    var service: Service
    var prepareTicks: Int
  }

  enum Override {
    case device(Change)
    case swap(Swap)
  }

  struct Service {
    var cost: Cost?
    var failures: [TimePlaneModel.FrameItem: TimePlaneModel.Failure] = [:]
    var makes = TimePlaneModel.Made.scalars
    /// The number of detections by sequence, cyclically.
    var counts: [Int] = [0]
    var remembers = false
    var executor: String?
    var isPinned = false
    var concurrency = 1
    var timeoutTicks: Int?
    var hasFallback = false
    var keepsInput = false
    var batch: Batch?
  }

  struct Batch {
    var max: Int
    var waitTicks: Int
    var ticksPerFrame: Int
  }

  let seed: UInt64
  let mode: RunOptions.Mode
  let tick: Int64
  var nodes: [Node] = []
  var edges: [PipelineEdge] = []
  var servers: [PipelineExecutor] = []
  var pools: [PipelinePool] = []
  /// The device events of the session.
  var changes: [Change] = []
  /// After the session's events at the same instant, in the order of the list.
  var overrides: [Override] = []

  init(seed: UInt64, shape: Shape = .graph) {
    var random = SeededGenerator(seed: seed)
    let mode: RunOptions.Mode = random.chance(15) ? .everyFrame : .simulate
    let ticks = shape == .adaptive ? CaseDrawing.longTicks : [1, 7, 1_000, 1_000_000]
    self.init(seed: seed, mode: mode, tick: random.pick(ticks))
    self = CaseDrawing.draw(self, shape, random)
  }

  init(seed: UInt64, mode: RunOptions.Mode, tick: Int64) {
    self.seed = seed
    self.mode = mode
    self.tick = tick
  }

  /// The earliest presentation time.
  var origin: Int64 { sources.compactMap(\.frames.times.first).min() ?? 0 }

  var sources: [(id: String, frames: TinyFrames)] {
    nodes.compactMap { node in
      guard case .source(let frames) = node.role else { return nil }
      return (node.id, frames)
    }
  }
}

// MARK: - As text

extension ModelCase {
  var description: String {
    let servers = servers.map { "\($0.id)*\($0.count)" }.joined(separator: " ")
    let pools = pools.map { pool in
      "\(pool.id)*\(pool.capacity) \(pool.policy)"
        + (pool.adaptive.map { " \($0.json.canonicalText)" } ?? "")
        + (pool.wait.map { " waits \($0) before \(pool.driverFrames)" } ?? "")
    }.joined(separator: ", ")
    let lines =
      ["seed \(seed), \(mode), tick \(tick), servers [\(servers)], pools [\(pools)]"]
      + changes.map { "  recorded: \($0)" } + overrides.map { "  \($0)" } + nodes.map { "  \($0)" }
      + edges.map { "  \($0.text)" }
    return lines.joined(separator: "\n")
  }
}

extension PipelineEdge {
  fileprivate var text: String {
    let sender = from + (fromPort.map { ".\($0)" } ?? "")
    let receiver = to + (toPort.map { ".\($0)" } ?? "")
    return "\(sender) → \(policy) \(capacity) → \(receiver)"
  }
}

extension ModelCase.Change: CustomStringConvertible {
  var description: String { "\(event) after \(ticks) ticks" }
}

extension ModelCase.Override: CustomStringConvertible {
  var description: String {
    switch self {
    case .device(let change): "\(change)"
    case .swap(let swap):
      "at \(swap.moment) for \(swap.node) in \(swap.prepareTicks) ticks: \(swap.service)"
    }
  }
}

extension ModelCase.Node: CustomStringConvertible {
  var description: String {
    "\(id): \(role)" + (pool.map { ", pool \($0)" } ?? "")
  }
}

extension ModelCase.Role: CustomStringConvertible {
  var description: String {
    switch self {
    case .source(let frames):
      return """
        source of track \(frames.track), times \(frames.times), arrivals \(frames.arrivals ?? []), \
        damaged \(frames.damaged.keys.sorted()), shed \(frames.shed.sorted())
        """
    case .stage(let service): return "\(service)"
    case .throttle(let ticks, let rules):
      let rules = rules.map { "\($0.ticks) when \($0.heat)" }
      return (["throttle every \(ticks) ticks"] + rules).joined(separator: ", ")
    case .sample(let count): return "sample one of \(count)"
    case .route(let ports, let choices): return "route to \(choices) of \(ports)"
    case .join(let ports, let mode, let timeout):
      return "join \(mode) of \(ports)" + (timeout.map { ", timeout \($0) ticks" } ?? "")
    case .latest(let ports): return "latest of \(ports)"
    case .forEach(let body, let capacities):
      return "forEach, edges \(capacities) of {\(body.map(\.description).joined(separator: "; "))}"
    case .sink(let hold): return hold == 0 ? "sink" : "sink, hold \(hold) ticks"
    case .screen(let millihertz): return "screen of \(millihertz) millihertz"
    }
  }
}

extension ModelCase.Service: CustomStringConvertible {
  var description: String {
    var words = ["stage", remembers ? "remembers" : "pure"]
    words.append("costs \(cost.map { "\($0)" } ?? "nothing")")
    if makes == .detections { words.append("finds \(counts)") }
    if makes == .classes { words.append("classifies") }
    if let executor { words.append("on \(executor)") }
    if isPinned { words.append("pinned") }
    if concurrency > 1 { words.append("\(concurrency) slots") }
    if let timeoutTicks { words.append("timeout \(timeoutTicks) ticks") }
    if hasFallback { words.append("fallback") }
    if keepsInput { words.append("keeps") }
    if let batch { words.append("\(batch)") }
    let names = failures.keys.sorted { ($0.sequence, $0.item) < ($1.sequence, $1.item) }
    for name in names {
      let item = name.item < 0 ? "" : ".\(name.item)"
      words.append(
        "\(failures[name] == .unrecoverable ? "halts" : "fails") at \(name.sequence)\(item)")
    }
    return words.joined(separator: ", ")
  }
}
