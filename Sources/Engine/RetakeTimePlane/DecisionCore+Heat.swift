package import RetakeCore

/// A device that heats up. Its ticks are events of the environment: they come before all other
/// events of their instant, so that a new state applies to services that begin at that instant.
extension DecisionCore {
  /// After the session's events and the overrides, whose ordinals are their indexes.
  private static let tickOrdinal = 1 << 30
  private static let beginOrdinal = tickOrdinal + 1

  /// The temperature by the profile's heat model; `nil` without one.
  package var temperature: Temperature? { heat?.temperature }
  /// How hot it was in the run, until now.
  package var heatCounts: HeatCounts? {
    guard let heat, heat.hasBegun else { return nil }
    return heat.countsOfRun
  }

  /// Called before each event: the run lasts until the last event that belongs to its frames.
  mutating func measureHeat(until event: Event) {
    guard let heat else { return }
    let time = event.key.time
    let isOfRun =
      switch event.kind {
      // The body of a frame that timed out still makes heat, and a screen shows the last image
      // after that has ended.
      case .completion, .vsync: true
      case .heat: tokensAlive > 0 || heat.isTickOfRun(endingAt: time)
      default: tokensAlive > 0
      }
    // heat-span: other events without a frame are timers, swaps and changes of the device.
    self.heat?.reach(time, isOfRun: isOfRun)
  }

  /// Heat begins with the first frame that arrives. Each source announces its first.
  mutating func announceHeat(source: Int, time: Int64) {
    guard let heat, !heat.hasBegun else { return }
    addTick(at: time, ordinal: Self.beginOrdinal + source)
  }

  private mutating func addTick(at time: Int64, ordinal: Int = Self.tickOrdinal) {
    // heat-tick: band 0, so a server that becomes idle at this instant was busy until it.
    push(
      Event(
        key: EventKey(time: time, band: .environment, phase: .arrival, node: 0, ordinal: ordinal),
        kind: .heat, target: 0, extra: ordinal == Self.tickOrdinal ? 0 : 1))
  }

  mutating func tickHeat(isBeginning: Bool) {
    guard let heat, heat.hasBegun != isBeginning else { return }
    guard
      let tick = isBeginning
        ? self.heat?.begin(at: current.time) : self.heat?.tick(at: current.time)
    else { return }
    if let state = tick.state {
      // heat-state: the line has the form of a device's report, at the first source.
      decide(.thermal, node: plan.sources[0], .heat(state, tick.temperature))
      changeDevice(to: .thermal(state), ordinal: Self.tickOrdinal)
    }
    // heat-override: the temperature of an override stays.
    if !isTemperatureOverridden {
      changeDevice(to: .temperature(tick.temperature), ordinal: Self.tickOrdinal)
    }
    // The run is over once no frame is in flight, or no event is left for the frames in flight.
    if let next = tick.next, tokensAlive > 0, nextKey != nil {
      addTick(at: next)
    }
  }

  /// With a heat model, only overrides change the heat from outside.
  mutating func overrideHeat(with event: DeviceEvent) {
    guard let heat else { return }
    switch event {
    case .thermal(let state):
      // heat-override: the model's temperature no longer decides the state.
      if let next = self.heat?.force(state, at: current.time) { addTick(at: next) }
      guard heat.hasBegun, state != heat.state else { return }
      decide(.thermal, node: plan.sources[0], .heat(state, heat.temperature))
    case .temperature: isTemperatureOverridden = true
    default: return
    }
  }

  /// The servers of an executor that begin to work, or end.
  mutating func noteUse(_ servers: Int, of executor: Int) {
    if let next = heat?.use(servers, of: executor, at: current.time) { addTick(at: next) }
  }

  /// A stage has made a frame.
  mutating func noteCopy(at node: Int) {
    guard heat != nil, frameBytes[node] > 0 else { return }
    if let next = heat?.copy(bytes: frameBytes[node], at: current.time) { addTick(at: next) }
  }
}
