import RetakeCore
package import RetakeGraph

/// The name of a kind of machine on which equal programs compute equal bits: the system, the
/// architecture, and whether the processor fuses multiplication and addition. For a case with
/// models also the class of kernels that their library chooses, and the devices that compute them.
package struct PlatformKey: Hashable, Sendable, CustomStringConvertible {
  package var description: String

  /// - Parameter hasFusedMultiplyAdd: As the running process sees it, including flags that were
  ///   forced.
  package init(hasFusedMultiplyAdd: Bool) {
    #if os(Linux)
      let system = "linux"
    #elseif os(macOS)
      let system = "macos"
    #else
      let system = "other"
    #endif
    #if arch(x86_64)
      let architecture = "x86_64"
    #elseif arch(arm64)
      let architecture = "aarch64"
    #else
      let architecture = "other"
    #endif
    // Fused multiplication omits one rounding, so floating-point results differ in their last bits
    // from the results of a processor without it.
    description = "\(system)-\(architecture)" + (hasFusedMultiplyAdd ? "-fma" : "")
  }

  /// The key of this machine. Every ARM processor fuses; on x86 the key comes from the registers of
  /// the processor, because an emulator shows the host's flags in /proc/cpuinfo.
  package static var current: PlatformKey {
    #if arch(arm64)
      return PlatformKey(hasFusedMultiplyAdd: true)
    #elseif arch(x86_64)
      return PlatformKey(hasFusedMultiplyAdd: KernelClass.Registers.current.hasFusedMultiplyAdd)
    #else
      return PlatformKey(hasFusedMultiplyAdd: false)
    #endif
  }

  /// The key of this machine for a case that reads these models: `linux-x86_64-fma-avx512`; with
  /// devices `linux-x86_64-fma-avx512-device-1a2b3c4d`.
  package static func current(
    models: [String: String], devices: [String: ModelDevice] = [:]
  ) -> PlatformKey {
    var key = current
    key.description = Self.name(key.description, models: models, devices: devices)
    return key
  }

  /// - Parameter platform: The key without models.
  static func name(
    _ platform: String, kernels: KernelClass = .current, models: [String: String],
    devices: [String: ModelDevice] = [:]
  ) -> String {
    let name = models.isEmpty ? platform : "\(platform)-\(kernels.rawValue)"
    guard !devices.isEmpty else { return name }
    var hasher = DigestHasher()
    for (stage, device) in devices.sorted(by: { $0.key < $1.key }) {
      hasher.append(stage)
      for field in device.fields { hasher.append(field.value ?? "") }
    }
    return "\(name)-device-\(hasher.finish().description.prefix(8))"
  }
}
