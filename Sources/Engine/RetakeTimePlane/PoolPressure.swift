package import RetakeCore

/// The pressure that the device puts on adaptive pools.
package struct PoolPressure: OptionSet, Sendable {
  package let rawValue: Int

  package init(rawValue: Int) { self.rawValue = rawValue }

  /// The device is hot: the thermal state is serious or worse.
  package static let heat = PoolPressure(rawValue: 1)
  /// Memory is short: the memory pressure is a warning or worse.
  package static let memory = PoolPressure(rawValue: 2)

  package init(_ event: DeviceEvent) {
    switch event {
    case .thermal(let state): self = state >= .serious ? .heat : []
    case .memory(let pressure): self = pressure >= .warning ? .memory : []
    case .temperature, .battery, .orientation: self = []
    }
  }
}
