package import RetakeGraph

/// The decision of a join about a frame.
package enum JoinVerdict: Hashable, Sendable {
  /// The frame continues with the values of these ports, as bits.
  case joined(ports: UInt32)
  /// A tombstone that arrived at a port is passed on.
  case passesOn(ending: Int)
  case timedOut
  case partnerMissing
}

/// Pairs the frames of several ports.
package struct JoinStateMachine: Sendable {
  private enum Port: Hashable, Sendable {
    case open
    case value
    case ended(ending: Int, isFailure: Bool)
  }

  private enum Phase: Hashable, Sendable {
    case open
    /// Joined, and waiting for its turn to leave.
    case ready
    /// Left or ended; late parts may still arrive.
    case gone
  }

  private struct Frame: Hashable, Sendable {
    var slot: Int
    var sequence: Int
    var ports: [Port]
    var phase = Phase.open

    var valueBits: UInt32 {
      ports.indices.reduce(0) { ports[$1] == .value ? $0 | 1 << UInt32($1) : $0 }
    }

    var isSettled: Bool { !ports.contains(.open) }
  }

  package enum PartVerdict: Hashable, Sendable {
    /// The first value of its frame: its timer starts.
    case first
    case taken
    /// The frame was decided without this value.
    case late
  }

  private let mode: JoinMode
  private let portCount: Int
  /// In rising order of sequence.
  private var frames: [Frame] = []

  package init(mode: JoinMode, ports: Int) {
    self.mode = mode
    portCount = ports
  }

  /// A value arrived at a port.
  package mutating func add(slot: Int, sequence: Int, port: Int) -> PartVerdict {
    let index = begun(slot: slot, sequence: sequence)
    guard frames[index].phase == .open else {
      // join-late: noted only so that the frame can be forgotten when its last part has come.
      frames[index].ports[port] = .ended(ending: -1, isFailure: false)
      forgetIfSettled(index)
      return .late
    }
    // join-timer: the first value starts it; a tombstone does not.
    let isFirst = frames[index].valueBits == 0
    frames[index].ports[port] = .value
    return isFirst ? .first : .taken
  }

  /// A tombstone arrived at a port.
  ///
  /// - Returns: Whether the frame is still undecided.
  package mutating func end(
    slot: Int, sequence: Int, port: Int, ending: Int, isFailure: Bool
  ) -> Bool {
    let index = begun(slot: slot, sequence: sequence)
    let isOpen = frames[index].phase == .open
    frames[index].ports[port] = .ended(ending: isOpen ? ending : -1, isFailure: isFailure)
    if !isOpen { forgetIfSettled(index) }
    return isOpen
  }

  /// Decides a frame once each port has a value or a tombstone.
  package mutating func decide(slot: Int) -> JoinVerdict? {
    guard let index = index(of: slot), frames[index].phase == .open, frames[index].isSettled else {
      return nil
    }
    return verdict(index, isTimedOut: false)
  }

  /// Decides a frame at its timeout; `nil` if it is decided already.
  package mutating func timeOut(slot: Int) -> JoinVerdict? {
    guard let index = index(of: slot), frames[index].phase == .open else { return nil }
    return verdict(index, isTimedOut: true)
  }

  private mutating func verdict(_ index: Int, isTimedOut: Bool) -> JoinVerdict {
    let bits = frames[index].valueBits
    // join-decide, 1: values come first, so `any` continues even if another port failed.
    if bits == (1 << UInt32(portCount)) - 1 || mode == .any && bits != 0 {
      frames[index].phase = .ready
      return .joined(ports: bits)
    }
    frames[index].phase = .gone
    let endings = frames[index].ports.compactMap { port -> (ending: Int, isFailure: Bool)? in
      guard case .ended(let ending, let isFailure) = port else { return nil }
      return (ending, isFailure)
    }
    // join-decide, 2: a failure is not hidden by a timeout
    // or by a missing partner. Endings are by port.
    if let failure = endings.first(where: \.isFailure) { return .passesOn(ending: failure.ending) }
    // join-decide, 3: at the timeout some port is still open, so the endings are not all known.
    if isTimedOut { return .timedOut }
    // join-decide, 4: no port has a value, so the join loses no value, and the ending stays the
    // same.
    if bits == 0, let first = endings.first { return .passesOn(ending: first.ending) }
    // join-decide, 5: a value came and its partner did not.
    return .partnerMissing
  }

  /// The endings that arrived at a frame's ports, and the ports whose values it holds, as bits.
  package func holdings(of slot: Int) -> (endings: [Int], ports: UInt32) {
    guard let index = index(of: slot) else { return ([], 0) }
    let endings = frames[index].ports.compactMap { port -> Int? in
      guard case .ended(let ending, _) = port, ending >= 0 else { return nil }
      return ending
    }
    return (endings, frames[index].valueBits)
  }

  /// The frame that leaves next: no frame with a lower sequence is open.
  package mutating func nextToLeave() -> Int? {
    // join-leave: an undecided frame of lower sequence keeps all later frames here.
    guard let index = frames.firstIndex(where: { $0.phase != .gone }),
      frames[index].phase == .ready
    else { return nil }
    let slot = frames[index].slot
    frames[index].phase = .gone
    return slot
  }

  /// Forgets a frame that has left or ended, if no part of it can arrive any more.
  package mutating func forget(slot: Int) {
    guard let index = index(of: slot) else { return }
    forgetIfSettled(index)
  }

  private mutating func forgetIfSettled(_ index: Int) {
    if frames[index].phase == .gone, frames[index].isSettled { frames.remove(at: index) }
  }

  /// The frames that wait for partners or for their turn, by rising sequence.
  package var waitingSlots: [Int] { frames.filter { $0.phase != .gone }.map(\.slot) }

  private func index(of slot: Int) -> Int? { frames.firstIndex { $0.slot == slot } }

  private mutating func begun(slot: Int, sequence: Int) -> Int {
    if let index = index(of: slot) { return index }
    // By sequence and not by arrival, because frames can overtake each other on the way.
    let place = frames.firstIndex { $0.sequence > sequence } ?? frames.endIndex
    let ports = [Port](repeating: .open, count: portCount)
    frames.insert(Frame(slot: slot, sequence: sequence, ports: ports), at: place)
    return place
  }
}
