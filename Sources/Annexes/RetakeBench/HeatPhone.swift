import RetakeCore
package import RetakeTimePlane

/// The phones of the heat benchmark. No phone was measured: docs/heat.md says where each number
/// comes from.
package enum HeatPhone: String, CaseIterable, Sendable, Encodable {
  /// All numbers from the size and the weight of a phone, and from published powers.
  case derived
  /// The same phone, with the energy per copied byte at which three copies make it `serious` in 90
  /// seconds.
  case calibrated

  static let cpu = "cpu"
  static let gpu = "gpu"
  static let model = "ml"

  /// 2 × DRAM access of 0.25 nJ a byte, for reading and writing.
  package static let femtojoulesPerByteDerived: Int64 = 500_000
  /// Made by `HeatCalibration`, which a test runs again.
  package static let femtojoulesPerByteCalibrated: Int64 = 44_000_000
  /// When the calibrated phone is `serious` with three copies.
  package static let calibrationNanoseconds: Int64 = 90_000_000_000

  var femtojoulesPerByte: Int64 {
    switch self {
    case .derived: Self.femtojoulesPerByteDerived
    case .calibrated: Self.femtojoulesPerByteCalibrated
    }
  }

  package var profile: DeviceProfile {
    Self.profile(named: "phone-\(rawValue)", femtojoulesPerByte: femtojoulesPerByte)
  }

  static func profile(named name: String, femtojoulesPerByte: Int64) -> DeviceProfile {
    func ratio(_ text: String) -> DecimalRatio { DecimalRatio(parsing: text) ?? .one }
    return DeviceProfile(
      name: name,
      states: [
        // A clock of 1/1.25 and the voltage that goes with it: power falls with the cube.
        .init(state: .serious, scale: ratio("1.25"), power: ratio("0.512")),
        .init(state: .critical, scale: ratio("2"), power: ratio("0.125")),
      ],
      heat: HeatModel(
        ambient: 25,
        // 174 g × 0.86 J/gK, and 1 / (10 W/m²K × 0.0243 m²).
        nodes: [.init(id: "case", capacity: 150_000, resistance: 4_100)],
        idleMicrowatts: 1_800_000,
        busyMicrowatts: [cpu: 1_500_000, gpu: 3_000_000, model: 3_000_000],
        femtojoulesPerByte: femtojoulesPerByte,
        limits: .init(fair: 40, serious: 45, critical: 50)))
  }
}

/// Finds the energy of a byte at which three copies make the phone hot in 90 seconds.
package enum HeatCalibration {
  /// A tenth of a nanojoule.
  static let step: Int64 = 100_000

  /// The smallest number of femtojoules per byte, in multiples of `step`, at which the phone is
  /// `serious` by then.
  package static func femtojoulesPerByte() throws -> Int64 {
    var (low, high) = (Int64(0), HeatModel.femtojoulesPerByteMax / step)
    // Binary search: each round halves the range. More energy is never cooler.
    while low < high {
      let middle = (low + high) / 2
      if try isHot(femtojoulesPerByte: middle * step) { high = middle } else { low = middle + 1 }
    }
    return high * step
  }

  private static func isHot(femtojoulesPerByte: Int64) throws -> Bool {
    let run = try HeatTrial.copies(3).run(
      on: HeatPhone.profile(named: "search", femtojoulesPerByte: femtojoulesPerByte),
      nanoseconds: HeatPhone.calibrationNanoseconds + 1_000_000_000)
    return run.firstOf[.serious].map { $0 <= HeatPhone.calibrationNanoseconds } ?? false
  }
}
