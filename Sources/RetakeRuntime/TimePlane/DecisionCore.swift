import RetakeCore
import RetakeGraph

/// What the core asks its driver to do, in the order in which it decided it.
package enum Action: Hashable, Sendable {
  /// The frame was admitted at a source.
  case captured(slot: Int)
  /// The frame was lost before capture; the slot is free again after this action.
  case lost(slot: Int)
  /// A server begins to work on the frame: compute, and say when it will be done.
  case start(node: Int, slot: Int)
  /// A node without cost hands its input on unchanged.
  case pass(node: Int, slot: Int)
  case deliver(sink: Int, slot: Int)
  case end(sink: Int, slot: Int, FrameFate, node: Int)
  /// The stage's error, for the error sink; reported once.
  case report(node: Int, slot: Int, code: String)
  /// All sinks know what became of the frame; the slot is free again after this action.
  case settled(slot: Int)
  /// An unrecoverable failure: the run ends here.
  case halt(node: Int, slot: Int, code: String)
}

/// What a body gave, as far as time is concerned.
package enum CompletionOutcome: Hashable, Sendable {
  case success
  case failure(StageError)
}

/// A frame on its way, as the core sees it.
package struct FrameSlot: Sendable {
  package var id: FrameID
  /// Virtual time of its arrival at the source, in nanoseconds.
  package var arrival: Int64
  package var unsettledSinks: Int
}

/// Makes every decision that depends on time. Sans-I/O: events in, actions and decision lines out.
///
/// The core owns the events that it makes itself; its driver adds arrivals and completions, pops
/// the next event, and hands it back with what the core cannot know.
package struct DecisionCore: ~Copyable {
  let plan: GraphPlan
  var queues: [QueueStateMachine]
  var throttles: [ThrottleStateMachine?]
  var services: [ServiceStateMachine]
  var lanes: [LaneStateMachine]
  package private(set) var slots: [FrameSlot] = []
  private var freeSlots: [Int] = []
  /// Frames offered to each edge and not yet judged.
  var offersInTransit: [Int]
  var endings: [Ending] = []
  private var freeEndings: [Int] = []
  private var events = EventQueue()
  package internal(set) var log: DecisionLog
  private(set) var current: EventKey
  private var lastKey: EventKey?
  private let bound: MicrostepBound
  private var microstepsMax = 0
  private var arrivalsOfInstant = 0
  package private(set) var isHalted = false

  /// - Parameter isUnbounded: Queues never fill: the mode `lossless`.
  package init(
    plan: GraphPlan, isUnbounded: Bool, observer: ((DecisionLine) -> Void)? = nil
  ) {
    self.plan = plan
    queues = plan.edges.map {
      isUnbounded
        ? QueueStateMachine(capacity: .max, policy: .block)
        : QueueStateMachine(capacity: $0.capacity, policy: $0.policy)
    }
    throttles = plan.nodes.map {
      guard case .throttle(let rate) = $0.stage.body else { return nil }
      return ThrottleStateMachine(framesPerSecond: rate)
    }
    services = plan.executors.map { ServiceStateMachine(servers: $0.count) }
    lanes = plan.nodes.map { _ in LaneStateMachine() }
    offersInTransit = plan.edges.map { _ in 0 }
    log = DecisionLog(nodeIDs: plan.nodes.map(\.id), observer: observer)
    current = EventKey(time: .min, band: .environment, phase: .arrival, node: 0)
    bound = MicrostepBound(nodes: plan.nodes.count)
  }

  // MARK: Events

  package var nextKey: EventKey? { events.first?.key }

  /// The next event in the total order.
  ///
  /// - Throws: `RuntimeError.endlessInstant` when an instant never gets quiet.
  package mutating func popEvent() throws(RuntimeError) -> Event? {
    guard !isHalted, let event = events.pop() else { return nil }
    precondition(lastKey.map { $0 < event.key } ?? true, "event keys strictly increase")
    if event.key.time != lastKey?.time {
      arrivalsOfInstant = 0
      microstepsMax = bound.steps(framesAlive: slots.count - freeSlots.count, arrivals: 0)
    }
    if event.kind == .arrival {
      arrivalsOfInstant += 1
      microstepsMax = bound.steps(
        framesAlive: slots.count - freeSlots.count, arrivals: arrivalsOfInstant)
    }
    guard event.key.microstep <= microstepsMax else {
      throw RuntimeError.endlessInstant(
        nanoseconds: event.key.time, node: plan.nodes[event.key.node].id)
    }
    lastKey = event.key
    current = event.key
    return event
  }

  /// Announces a frame: it arrives at the source at the given virtual time.
  ///
  /// - Returns: The slot that stands for the frame until it is lost or settled.
  @discardableResult
  package mutating func addArrival(source: Int, id: FrameID, time: Int64) -> Int {
    let slot = makeSlot(FrameSlot(id: id, arrival: time, unsettledSinks: plan.sinks.count))
    let key = EventKey(
      time: time, band: .arrivals, phase: .arrival, node: source, track: id.track,
      sequence: id.sequence)
    events.push(Event(key: key, kind: .arrival, target: source, slot: slot))
    return slot
  }

  /// Says when the body that was started will be done; `time` is not before now.
  package mutating func addCompletion(node: Int, slot: Int, time: Int64) {
    let id = slots[slot].id
    let key =
      time == current.time
      ? EventKey.following(
        current, phase: .completion, node: node, track: id.track, sequence: id.sequence)
      : EventKey(
        time: time, band: .release, phase: .completion, node: node, track: id.track,
        sequence: id.sequence)
    events.push(Event(key: key, kind: .completion, target: node, slot: slot))
  }

  /// Carries out one event.
  ///
  /// - Parameters:
  ///   - failure: For an arrival: the code with which the frame fails at its source.
  ///   - outcome: For a completion: what the body gave.
  package mutating func handle(
    _ event: Event, failure: String? = nil, outcome: CompletionOutcome = .success,
    into actions: inout [Action]
  ) {
    let target = Int(event.target)
    let slot = Int(event.slot)
    switch event.kind {
    case .arrival: arrive(source: target, slot: slot, failure: failure, &actions)
    case .completion: complete(node: target, slot: slot, outcome, &actions)
    case .delivery: deliver(edge: Int(event.extra), slot: slot, &actions)
    case .unblock: unblock(edge: Int(event.extra), &actions)
    case .tombstone: passTombstone(node: target, slot: slot, ending: Int(event.extra), &actions)
    case .dispatch: dispatch(executor: target, &actions)
    case .halt: halt(node: target, slot: slot, ending: Int(event.extra), &actions)
    }
  }

  func followingKey(phase: EventPhase, node: Int, slot: Int? = nil, port: Int = 0) -> EventKey {
    let id = slot.map { slots[$0].id } ?? FrameID(track: 0, sequence: 0)
    return EventKey.following(
      current, phase: phase, node: node, track: id.track, sequence: id.sequence, ordinal: port)
  }

  mutating func push(_ event: Event) { events.push(event) }

  mutating func decide(
    _ kind: DecisionKind, node: Int, slot: Int, _ detail: Decision.Detail = .none
  ) {
    log.append(
      Decision(
        time: current.time, node: node, frame: slots[slot].id, kind: kind, detail: detail))
  }

  // MARK: Slots

  private mutating func makeSlot(_ slot: FrameSlot) -> Int {
    if let free = freeSlots.popLast() {
      slots[free] = slot
      return free
    }
    slots.append(slot)
    return slots.count - 1
  }

  mutating func freeSlot(_ slot: Int) { freeSlots.append(slot) }

  /// One sink knows what became of the frame.
  mutating func settle(slot: Int, _ actions: inout [Action]) {
    slots[slot].unsettledSinks -= 1
    guard slots[slot].unsettledSinks == 0 else { return }
    actions.append(.settled(slot: slot))
    freeSlot(slot)
  }

  // MARK: Endings

  mutating func makeEnding(fate: FrameFate, node: Int) -> Int {
    let ending = Ending(fate: fate, node: node)
    if let free = freeEndings.popLast() {
      endings[free] = ending
      return free
    }
    endings.append(ending)
    return endings.count - 1
  }

  mutating func releaseEnding(_ ending: Int) {
    endings[ending].references -= 1
    if endings[ending].references == 0 { freeEndings.append(ending) }
  }

  private mutating func halt(node: Int, slot: Int, ending: Int, _ actions: inout [Action]) {
    guard case .failed(let code) = endings[ending].fate else { return }
    decide(.halt, node: node, slot: slot, .code(code))
    isHalted = true
    actions.append(.halt(node: node, slot: slot, code: code))
  }
}

/// Why and where a frame ended, shared by its tombstones.
struct Ending: Sendable {
  var fate: FrameFate
  var node: Int
  var references = 0
}

/// How many microsteps one instant can need: beyond it the graph loops without delay.
struct MicrostepBound: Sendable {
  let nodes: Int

  func steps(framesAlive: Int, arrivals: Int) -> Int {
    4 + 2 * nodes * (framesAlive + arrivals)
  }
}
