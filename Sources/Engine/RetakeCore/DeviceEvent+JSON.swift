import Foundation

/// The form of device events in a session: a kind, and a JSON object.
///
/// ```
/// thermal      {"state":"serious"}
/// temperature  {"state":"45.2C"}
/// memory       {"state":"warning"}
/// battery      {"charging":false,"level":18,"lowPower":true}
/// orientation  {"state":"landscapeLeft"}
/// ```
extension DeviceEvent {
  /// The object in the event table, next to the kind. `charging` and `lowPower` are always written.
  package var json: JSONValue {
    switch self {
    case .thermal(let state): .object(["state": .string(state.rawValue)])
    case .temperature(let reading): .object(["state": .string(reading.description)])
    case .memory(let pressure): .object(["state": .string(pressure.rawValue)])
    case .orientation(let side): .object(["state": .string(side.rawValue)])
    case .battery(let state):
      .object([
        "charging": .bool(state.isCharging), "level": .integer(Int64(state.level)),
        "lowPower": .bool(state.isLowPower),
      ])
    }
  }

  /// Reads the object in the event table. A battery's `charging` and `lowPower` default to false.
  ///
  /// - Throws: `DeviceEventError` for an unknown kind, an unknown key, and any other value.
  package init(kind name: String, json: JSONValue) throws {
    guard let kind = Kind(rawValue: name) else { throw DeviceEventError(unknownKind: name) }
    self = try Self.read(kind, json)
  }

  /// Like `init(kind:json:)`, from the string in the event table.
  package init(kind: String, text: String) throws {
    let json: JSONValue
    do {
      json = try JSONValue(parsing: Data(text.utf8))
    } catch is DecodingError {
      throw DeviceEventError(
        DocumentProblem(.malformed("it is not JSON", advice: nil), at: ""))
    }
    try self.init(kind: kind, json: json)
  }

  private static func read(_ kind: Kind, _ json: JSONValue) throws -> DeviceEvent {
    let fields = try StrictDecoder<DeviceEventError>(json)
      .object(kind == .battery ? ["level", "charging", "lowPower"] : ["state"])
    switch kind {
    case .thermal: return .thermal(try fields.required("state").choice("a state"))
    case .temperature: return .temperature(try fields.required("state").temperature())
    case .memory: return .memory(try fields.required("state").choice("a state"))
    case .orientation: return .orientation(try fields.required("state").choice("a state"))
    case .battery:
      let level = try fields.required("level")
      let percent = try level.integer()
      // Checked here, because `BatteryState` ends the process for such a level, and a session may
      // come from someone else.
      guard (0...100).contains(percent) else {
        throw level.wrong("a battery has 0 to 100 percent, not \(percent)")
      }
      return .battery(
        BatteryState(
          level: percent, isCharging: try fields["charging"]?.bool() ?? false,
          isLowPower: try fields["lowPower"]?.bool() ?? false))
    }
  }
}
