import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTestSupport

@testable import RetakeRuntime

/// A random line of nodes with frames to run through it, for the engine and for the model.
///
/// All times are small multiples of one tick, so that many things happen at one nanosecond.
struct ModelCase: CustomStringConvertible {
  static let failureCode = "model.chosen"
  static let damageCode = "session.packet.refused"

  struct Stage {
    var id: String
    var role: Role
    var capacity: Int
    var policy: EdgePolicy
  }

  enum Role {
    case stage(
      cost: Cost?, failures: [Int: TimePlaneModel.Failure], executor: String?, memory: Bool)
    case throttle(ticks: Int)
    case sink
  }

  let seed: UInt64
  let mode: RunOptions.Mode
  let tick: Int64
  var frames = TinyFrames(times: [])
  var stages: [Stage] = []
  var servers: [PipelineExecutor] = []

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    self.seed = seed
    mode = random.chance(15) ? .lossless : .redecide
    tick = random.pick([1, 7, 1_000, 1_000_000])
    frames = Self.frames(tick: tick, &random)
    servers = (0..<random.pick(0...2)).map {
      PipelineExecutor(id: "shared\($0)", count: random.pick(1...3))
    }
    let fatal = random.chance(10)
    for index in 0..<random.pick(0...6) {
      stages.append(stage(index, fatal: fatal, &random))
    }
    stages.append(edge("sink", .sink, &random))
  }

  private static func frames(tick: Int64, _ random: inout SeededGenerator) -> TinyFrames {
    var frames = TinyFrames(times: [])
    let gaps = random.pick([[0, 1], [0, 0, 0, 3], [0, 1, 2, 5], [1, 1, 1, 2], [2], [0, 9]])
    var time = Int64(random.pick(-5...5)) * tick
    for _ in 0..<random.pick(1...40) {
      frames.times.append(time)
      time += Int64(random.pick(gaps)) * tick
    }
    if random.chance(40) {
      frames.arrivals = frames.times.map { $0 + Int64(random.pick(-3...3)) * tick }
    }
    guard random.chance(40) else { return frames }
    for sequence in frames.times.indices {
      if random.chance(8) { frames.damaged[sequence] = damageCode }
      if random.chance(5) { frames.shed.insert(sequence) }
    }
    return frames
  }

  private func edge(_ id: String, _ role: Role, _ random: inout SeededGenerator) -> Stage {
    let policy = random.pick(EdgePolicy.allCases)
    return Stage(
      id: id, role: role, capacity: policy == .replace ? 1 : random.pick(1...5), policy: policy)
  }

  private func stage(_ index: Int, fatal: Bool, _ random: inout SeededGenerator) -> Stage {
    // Ids run against the order of the line: ranks must win.
    let id = "n\(9 - index)"
    if random.chance(25) { return edge(id, .throttle(ticks: random.pick(1...8)), &random) }
    let executor = servers.isEmpty || random.chance(30) ? nil : random.pick(servers).id
    let role = Role.stage(
      cost: cost(&random), failures: failures(fatal: fatal, &random), executor: executor,
      memory: random.chance(40))
    return edge(id, role, &random)
  }

  private func cost(_ random: inout SeededGenerator) -> Cost? {
    let low = Int64(random.pick(0...6)) * tick
    switch random.pick(0...9) {
    case 0: return nil
    case 1...3: return .fixed(.zero)
    case 4, 5:
      return .uniform(.nanoseconds(low), .nanoseconds(low + Int64(random.pick(0...3)) * tick))
    default: return .fixed(.nanoseconds(low))
    }
  }

  private func failures(
    fatal: Bool, _ random: inout SeededGenerator
  ) -> [Int: TimePlaneModel.Failure] {
    var failures: [Int: TimePlaneModel.Failure] = [:]
    guard random.chance(fatal ? 70 : 30) else { return failures }
    for sequence in frames.times.indices where random.chance(12) {
      failures[sequence] = fatal && random.chance(25) ? .unrecoverable : .recoverable
    }
    return failures
  }

  var description: String {
    """
    seed \(seed), \(mode), tick \(tick), times \(frames.times), arrivals \(frames.arrivals ?? []), \
    damaged \(frames.damaged.keys.sorted()), shed \(frames.shed.sorted()), \
    servers \(servers.map { "\($0.id)*\($0.count)" }), \
    \(stages.map { "[\($0.policy) \($0.capacity)] \($0.id) \($0.role)" }.joined(separator: " → "))
    """
  }
}
