package import RetakeCore

/// A device that heats up. From the power of busy servers and the energy of copied bytes it
/// computes the temperature and the thermal state at the end of each tick.
package struct HeatStateMachine: Sendable {
  /// The end of a tick.
  package struct Tick: Hashable, Sendable {
    package var temperature: Temperature
    /// `nil` if the state has not changed.
    package var state: ThermalState?
    /// The end of the next tick; `nil` if the temperature stays constant until the power changes.
    package var next: Int64?
  }

  package let model: HeatModel
  /// By executor.
  private let busyMicrowatts: [Int64]
  /// By state, the factor of its power.
  private let powers: [DecimalRatio]
  package private(set) var chain: HeatChain
  /// When the first tick began; `nil` before the run has begun.
  private var origin: Int64?
  private var isTicking = false
  /// The power of all busy servers, without the factor of the state.
  private var usedMicrowatts: Int64 = 0
  /// Of this tick, until `since`.
  private var femtojoules: Int128 = 0
  private var since: Int64 = 0
  /// The temperature that limits are compared with: `temperature` with hysteresis.
  private var reading: Temperature
  package private(set) var state: ThermalState
  /// Once it is true, the temperature no longer decides the state.
  private var isForced = false
  private var stateSince: Int64 = 0
  /// Of the ticks that have ended.
  private var energy: Int128 = 0
  private var countsSoFar = HeatCounts()
  /// The time of the last event that belongs to the run.
  private var runEnd: Int64 = 0
  /// The counts at `runEnd`, once an event has come that does not belong to the run.
  private var countsAtEnd: HeatCounts?

  /// - Parameters:
  ///   - executors: The executors' IDs.
  ///   - scales: The profile's factors for costs and power, by thermal state.
  package init(_ model: HeatModel, executors: [String], scales: [DeviceProfile.StateScale] = []) {
    self.model = model
    busyMicrowatts = executors.map { model.busyMicrowatts(of: $0) }
    powers = ThermalState.allCases.map { state in
      scales.last { $0.state <= state }?.power ?? .one
    }
    chain = HeatChain(model)
    reading = chain.temperature(of: model.sensor)
    state = model.limits.state(at: reading)
  }

  package var temperature: Temperature { chain.temperature(of: model.sensor) }
  package var hasBegun: Bool { origin != nil }

  // MARK: Input

  /// The run begins.
  ///
  /// - Returns: Also the first state.
  package mutating func begin(at time: Int64) -> Tick {
    (origin, since, stateSince, isTicking) = (time, time, time, true)
    runEnd = time
    note(at: time)
    return Tick(
      temperature: temperature, state: state, next: time + HeatChain.tickNanoseconds)
  }

  /// A number of servers begin to work, or, if it is negative, end.
  ///
  /// - Returns: The end of the current tick, if it has to be scheduled again.
  package mutating func use(_ servers: Int, of executor: Int, at time: Int64) -> Int64? {
    let next = wake(at: time)
    account(until: time)
    usedMicrowatts += Int64(servers) * busyMicrowatts[executor]
    return next
  }

  /// - Returns: The end of the current tick, if it has to be scheduled again.
  package mutating func copy(bytes: Int, at time: Int64) -> Int64? {
    let next = wake(at: time)
    femtojoules += Int128(bytes) * Int128(model.femtojoulesPerByte)
    countsSoFar.copiedBytes += bytes
    return next
  }

  /// An override sets the state. It stays until the next override, whatever the temperature is.
  ///
  /// - Returns: The end of the current tick, if it has to be scheduled again.
  package mutating func force(_ new: ThermalState, at time: Int64) -> Int64? {
    isForced = true
    guard hasBegun else {
      state = new
      return nil
    }
    guard new != state else { return nil }
    let next = wake(at: time)
    // Servers that were busy until now had the power of the former state.
    account(until: time)
    enter(new, at: time)
    return next
  }

  /// A tick ends.
  package mutating func tick(at time: Int64) -> Tick {
    account(until: time)
    let before = chain
    let isSteady = femtojoules == Int128(microwatts) * Int128(HeatChain.tickNanoseconds)
    energy += femtojoules
    chain.step(adding: femtojoules)
    femtojoules = 0
    note(at: time)
    reading = temperature.followed(
      from: reading, hysteresisMillidegrees: model.hysteresisMillidegrees)
    let new = isForced ? state : model.limits.state(at: reading)
    var tick = Tick(temperature: temperature, next: time + HeatChain.tickNanoseconds)
    if new != state {
      enter(new, at: time)
      tick.state = new
    } else if isSteady, chain == before {
      // Each further tick would be like this one. A very long pause causes no events.
      isTicking = false
      tick.next = nil
    }
    return tick
  }

  // MARK: Power

  private var microwatts: Int64 {
    model.idleMicrowatts
      + DecimalRatio.scale(usedMicrowatts, by: powers[state.level], atMost: .max >> 1)
  }

  /// Power in microwatts over nanoseconds is femtojoules: exact, however time is divided.
  private mutating func account(until time: Int64) {
    femtojoules += Int128(microwatts) * Int128(time - since)
    since = time
  }

  /// Continues the ticks after a pause.
  private mutating func wake(at time: Int64) -> Int64? {
    guard !isTicking, let origin else { return nil }
    isTicking = true
    let begin = time - (time - origin) % HeatChain.tickNanoseconds
    // Each tick of the pause would have been like the last one.
    energy += Int128(microwatts) * Int128(begin - since)
    since = begin
    return begin + HeatChain.tickNanoseconds
  }

  // MARK: Counts

  private mutating func enter(_ new: ThermalState, at time: Int64) {
    countsSoFar.nanoseconds[state.rawValue, default: 0] += time - stateSince
    if new >= .serious {
      if new > state { countsSoFar.thermalEvents += 1 }
      countsSoFar.seriousAtNanoseconds = countsSoFar.seriousAtNanoseconds ?? time
    }
    (state, stateSince) = (new, time)
  }

  private mutating func note(at time: Int64) {
    let now = temperature
    countsSoFar.lastMillidegrees = now.millidegrees
    if countsSoFar.hottestAtNanoseconds == nil || now.millidegrees > countsSoFar.hottestMillidegrees
    {
      countsSoFar.hottestMillidegrees = now.millidegrees
      countsSoFar.hottestAtNanoseconds = time
    }
  }

  /// The counts until a time at which no work is left.
  package func counts(until time: Int64) -> HeatCounts {
    var counts = countsSoFar
    counts.nanoseconds[state.rawValue, default: 0] += max(0, time - stateSince)
    let used = energy + femtojoules + Int128(microwatts) * Int128(max(0, time - since))
    counts.millijoules = Int(clamping: used / 1_000_000_000_000)
    return counts
  }

  // MARK: The end of the run

  /// An event is about to be handled.
  ///
  /// - Parameter isOfRun: Whether the run lasts until it. A timer that expires after the end of the
  ///   last frame does not extend the run.
  package mutating func reach(_ time: Int64, isOfRun: Bool) {
    guard hasBegun else { return }
    if isOfRun {
      (runEnd, countsAtEnd) = (time, nil)
    } else if countsAtEnd == nil {
      countsAtEnd = counts(until: runEnd)
    }
  }

  /// Whether a tick that ends at this time began in the run.
  package func isTickOfRun(endingAt time: Int64) -> Bool {
    time - runEnd <= HeatChain.tickNanoseconds
  }

  /// The counts of the run, without events after its end.
  package var countsOfRun: HeatCounts { countsAtEnd ?? counts(until: runEnd) }
}

extension ThermalState {
  /// 0 for nominal.
  fileprivate var level: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
