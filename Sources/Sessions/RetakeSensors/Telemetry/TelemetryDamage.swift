/// Damage of a packet, and its place.
struct TelemetryDamage: Error, Equatable {
  var byte: Int
  var problem: String
}
