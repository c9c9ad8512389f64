/// The position of an event within its instant. Bands and phases are compared by their raw values.
package enum EventBand: UInt8, Sendable {
  /// Thermal, memory, commands.
  case environment
  case release
  case arrivals
  case latestJoins
  /// Vsync and metrics windows: observes the settled state.
  case observation
}
