import RetakeCore

/// The device profile of a machine that was measured.
extension MachineMeasurement {
  /// A JSON document that `--costs profile:FILE` reads.
  ///
  /// - Parameters:
  ///   - name: Up to 64 letters, digits, `-`, `_` and `.`.
  ///   - machine: The measured machine and the date, in a line for people.
  package func document(name: String, machine: String) -> String {
    let heat = [
      member("ambient", "\(Assumed.ambient)"), member("start", "\(start)"),
      #""nodes": [{"id": "machine", "capacity": "\#(Assumed.capacity)", "#
        + #""resistance": "\#(Assumed.resistance)"}]"#,
      member("idle", microwatts.map { Self.watts($0.idle) } ?? Assumed.idle),
      #""busy": {"*": "\#(busy)"}"#, member("copy", Assumed.copy),
      #""states": {"fair": "\#(Assumed.fair)", "serious": "\#(Assumed.serious)", "#
        + #""critical": "\#(Assumed.critical)"}"#,
    ]
    let notes = basis(machine).map { member($0.path, $0.text) }
    return """
      {"v": 1, "name": "\(name)",
       "copyRate": "\(rate)",
       "heat": {
        \(heat.joined(separator: ",\n  "))},
       "basis": {
        \(notes.joined(separator: ",\n  "))}}

      """
  }

  /// Where each number comes from, by its path in the document.
  package func basis(_ machine: String) -> [(path: String, text: String)] {
    let noZone = "assumed: the machine shows no thermal zone"
    let noPower = "assumed: the machine shows no energy counter"
    let zone = temperatures.map { "measured: \($0.idle) idle, \($0.busy) after the copies" }
    return [
      ("copyRate", "measured: \(machine)"),
      ("heat.ambient", "assumed: a room"),
      ("heat.start", zone ?? noZone),
      ("heat.nodes", "assumed: no machine shows its heat capacity; a small computer without a fan"),
      ("heat.idle", microwatts == nil ? noPower : "measured: the package's energy counter"),
      (
        "heat.busy",
        microwatts == nil ? noPower : "measured: what one copying processor adds to it"
      ),
      ("heat.copy", "assumed: two accesses to memory of 0.25 nJ a byte"),
      ("heat.states", "assumed: the limits of a zone without trip points"),
    ]
  }

  /// The quantities that the machine has no sensor for, in sentences for people.
  package var gaps: [String] {
    var gaps: [String] = []
    if temperatures == nil {
      gaps.append(
        "this machine shows no thermal zone, as most virtual machines: its heat is assumed")
    }
    if microwatts == nil {
      gaps.append("this machine shows no energy counter: its power is assumed")
    }
    return gaps
  }

  private var start: Temperature { temperatures?.idle ?? Assumed.ambient }

  private var busy: String {
    microwatts.map { Self.watts(max(0, $0.busy - $0.idle)) } ?? Assumed.busy
  }

  /// Rounded down to a megabyte per second: more digits would claim more than was measured.
  private var rate: String {
    FixedPoint.text(max(1, Int(copyBytesPerSecond / 1_000_000)), digits: 3) + "GB/s"
  }

  /// Milliwatts.
  private static func watts(_ microwatts: Int64) -> String {
    FixedPoint.text(Int(microwatts / 1_000), digits: 3) + "W"
  }

  private func member(_ key: String, _ text: String) -> String {
    #""\#(key)": "\#(text)""#
  }
}
