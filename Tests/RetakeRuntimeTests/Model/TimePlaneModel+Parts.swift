/// The parts of the model.
extension TimePlaneModel {
  /// `(time, band, microstep, phase, node, track, sequence, item, ordinal)`.
  struct Key: Comparable {
    var time: Int64
    var band: Int
    var microstep = 0
    var phase: Phase
    var node: Int
    var track = 0
    var sequence = -1
    var item = -1
    var ordinal = 0

    static func < (left: Key, right: Key) -> Bool {
      if left.time != right.time { return left.time < right.time }
      let one = (left.band, left.microstep, left.phase.rawValue, left.node)
      let other = (right.band, right.microstep, right.phase.rawValue, right.node)
      if one != other { return one < other }
      return (left.track, left.sequence, left.item, left.ordinal)
        < (right.track, right.sequence, right.item, right.ordinal)
    }
  }

  enum Phase: Int { case arrival, completion, control, delivery, dispatch }

  enum Happening {
    case arrival(Token, damage: String?)
    case completion(Token)
    case holdEnds(Token)
    case timer(Token)
    /// A frame has waited for a batch as long as it may.
    case waited(Token)
    case halt(Token, code: String)
    case delivery(edge: Int, Token)
    case unblock(edge: Int)
    case tombstone(Token, Ending)
    /// A forEach reports a frame without items to its join.
    case noItems(Token)
    case read
    case dispatch(executor: Int)
    case prepareSwap(node: Int, Swap)
    case swap(Swap)
    /// From now on, the device has this heat.
    case heat(Int)
    case rate
    /// From now on, the device is this short of memory.
    case memory(Int)
    /// A screen shows the image that waits.
    case refresh
    case windowEnd(pool: Int)
    case pressure(pool: Int, Wish)
    /// From now on, a pool has the size that was decided before.
    case inForce(pool: Int, size: Int)
    /// The frame that waits at a source asks for a buffer again.
    case ask
    /// The frame with this sequence has waited as long as it may.
    case limit(sequence: Int)
  }

  /// A frame at its source that is neither captured nor lost.
  struct Comer {
    var frame: Token
    /// The code of its failure when it is captured.
    var damage: String?
    /// Whether it was not captured at its arrival.
    var isLate = false
    /// When its source began to stand still with it.
    var standsSince: Int64 = 0
    /// Whether its request was counted when its wait began.
    var isCounted = false
  }

  /// A value in transit: of a frame, or of one of its items.
  struct Token {
    var track: Int
    var sequence: Int
    var item = -1
    /// The arrival at the source.
    var arrival: Int64
    /// When it was accepted by the edge at which it waits.
    var since: Int64 = 0
    /// How many swaps of each node were in force when it arrived.
    var versions: [Int] = []
    var value = Value.other(nil)
    var leases: Set<Int> = []

    /// The order of the slots.
    var order: [Int] { [track, sequence, item] }
    var name: String { "\(track):\(sequence)" + (item < 0 ? "" : ".\(item)") }
  }

  /// The facts about a value that the gates need.
  indirect enum Value {
    /// By the sequence of the frame that the values were made from.
    case frame(Int)
    case detections(Int?, count: Int)
    case other(Int?)
    case joined([Value?])

    /// The sequence that a route uses to choose.
    var leading: Int? {
      switch self {
      case .frame(let sequence): sequence
      case .detections(let sequence, _), .other(let sequence): sequence
      case .joined(let parts): parts.lazy.compactMap { $0 }.first?.leading
      }
    }

    /// The first detections next to a frame, which a forEach processes.
    var items: (sequence: Int?, count: Int)? {
      guard case .joined(let parts) = self else { return nil }
      var hasFrame = false
      var found: (Int?, Int)?
      for part in parts {
        if case .frame = part { hasFrame = true }
        if case .detections(let sequence, let count) = part { found = found ?? (sequence, count) }
      }
      return hasFrame ? found : nil
    }
  }

  /// How a frame ended, and where.
  struct Ending {
    var fate: String
    var reason: String
    var node: Int
  }

  enum Policy { case block, dropNewest, dropOldest, replace }
  enum Failure { case recoverable, unrecoverable }
  enum PoolPolicy { case block, drop, fail }

  struct FrameItem: Hashable {
    var sequence: Int
    var item = -1
  }

  enum Made { case scalars, detections, classes }

  enum Role {
    case source
    case stage(Stage)
    case throttle([Limit])
    case sample(Int)
    /// The port for each leading sequence, cyclically.
    case route(ports: [String], choices: [Int])
    case join(isAny: Bool, timeout: Int64?)
    case latest(ports: [Port])
    case fork(gather: Int)
    case gather(isClassified: Bool)
    case sink(hold: Int64)
    case screen(millihertz: Int64)
  }

  /// A port of a latest join.
  struct Port {
    var name: String
    /// Whether its values belong to another track than the frames of the first port.
    var isAcrossTracks = false
  }

  /// The frames that a throttle passes while the device is this hot, or hotter.
  struct Limit {
    /// −1 means also while the heat was never reported.
    var heat = -1
    /// Nanoseconds between frames; 0 means that all pass.
    var interval: Int64
  }

  struct Stage {
    var costs: [FrameItem: Int64]
    var failures: [FrameItem: Failure] = [:]
    var makes = Made.scalars
    /// The number of detections by sequence.
    var counts: [Int] = []
    var executor: Int
    var concurrency = 1
    var timeout: Int64?
    var hasFallback = false
    var keepsInput = false
    /// The most frames that it works on together; 1 without batches.
    var batch = 1
    var batchWait: Int64 = 0
    var costPerFrame: Int64 = 0
  }

  struct Swap {
    /// Its position among all external events of the run.
    var ordinal: Int
    var preparing: Int64
    /// The stage for frames that arrive from then on.
    var stage: Stage
    /// The code of its refusal.
    var refusal: String?
  }

  struct Edge {
    var from: Int
    var to: Int
    /// The index of the receiver's port.
    var port = 0
    /// The index of the sender's port, at a route.
    var fromPort = 0
    /// `nil` means unbounded.
    var capacity: Int?
    var policy = Policy.block
    /// Offered at this instant, and not yet handled.
    var onTheWay: [Token] = []
    var waiting: [Token] = []
    /// The value that the sender keeps because the edge is full.
    var refused: Token?
    var isUnblocking = false
  }

  struct Node {
    var id: String
    var rank: Int
    var role: Role
    var pool: Int?
    var ins: [Int] = []
    var outs: [Int] = []
    /// Edges that have not accepted the last output.
    var pending = 0
    var concurrency: [Lane] = []
    /// How many batches have started, and the arrival up to which frames do not wait for others.
    var batches = 0
    var batchDue = Int64.min
    /// The last output, if there is a fallback, and the frame that it was computed for.
    var lastLeft: Token?
    var lastOrigin = ""
    var due: Int64?
    /// Nanoseconds between frames, as decided last; 0 means that all pass.
    var interval: Int64 = 0
    /// Frames that a sample has seen.
    var seen = 0
    /// Frames at a join, by sequence.
    var joining: [Int: Joining] = [:]
    /// The values that a latest join keeps for each port, and the value that it read last.
    var cells: [Int: [Token]] = [:]
    var lastRead: [Int: Token] = [:]
    /// The frame that a latest join is about to pair, or whose items a forEach offers.
    var current: Token?
    var nextItem = 0
    /// Frames at the join of a forEach, by sequence.
    var gathering: [Int: Gathering] = [:]
    var holds: [Token] = []
    /// The frame that waits for a buffer at a source, and the frames that wait for their turn.
    var standing: Comer?
    var behind: [Comer] = []
    /// The image that a screen shows, the number of its refresh, the image that the screen shows
    /// next, and the number of images that the next image replaced.
    var visible: Token?
    var lastRefresh: Int64 = 0
    var coming: Token?
    var unseen = 0
    /// Whether a stage found no buffer, and has leased no buffer since.
    var isStalled = false
    /// The stages that were swapped in, in the order in which they took effect.
    var swapped: [Stage] = []

    init(id: String, rank: Int, role: Role, pool: Int? = nil) {
      self.id = id
      self.rank = rank
      self.role = role
      self.pool = pool
      if case .throttle(let limits) = role { interval = Self.interval(of: limits, heat: -1) }
    }

    /// The longest of all that apply.
    static func interval(of limits: [Limit], heat: Int) -> Int64 {
      limits.filter { $0.heat <= heat }.map(\.interval).max() ?? 0
    }
  }

  struct Lane {
    enum State {
      /// The frame is open.
      case working
      case finished(Token)
      /// Failed, and waits for its turn to be replaced by the last output.
      case replaceable(Ending)
      case left
      case ended
    }

    var input: Token
    /// The lease of the output in progress.
    var own: Set<Int>
    var state = State.working
    var isBodyRunning = true
    var hasTimedOut = false
    /// Frames with one number share a server and a slot.
    var batch = 0
  }

  struct Joining {
    enum State { case open, joined, ended }

    var frame: Token
    var parts: [Int: Token] = [:]
    var endings: [Int: Ending] = [:]
    var isTimed = false
    var state = State.open
    var hasTimedOut = false
  }

  struct Gathering {
    var frame: Token
    var count: Int
    var items: [Int: Token] = [:]
    var failed: Set<Int> = []
    var isWhole = false
  }
}
