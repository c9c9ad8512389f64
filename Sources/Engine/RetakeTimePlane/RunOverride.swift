package import RetakeCore

/// A change that the caller of a run requests, in addition to the session's events.
package enum RunOverride: Sendable {
  /// An event of the device at a virtual time, in nanoseconds from the replay's origin. At one
  /// instant it comes after the session's own events, in the order of the list.
  case event(atNanoseconds: Int64, DeviceEvent)
  case swap(StageSwap)
}

extension RunOverride {
  /// The same override; a swap measures the new stage's body.
  package func measured(by meter: CostMeter) -> RunOverride {
    guard case .swap(var swap) = self else { return self }
    swap.stage = swap.stage.measured(by: meter)
    return .swap(swap)
  }
}
