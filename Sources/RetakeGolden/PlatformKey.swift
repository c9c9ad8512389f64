import Foundation

/// The name of a kind of machine on which equal programs give equal bits: the system, the
/// architecture, and whether the processor fuses multiplication and addition.
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
    // With fused multiplication one rounding is left out, so floating-point results differ in their
    // last bits from those of a processor without it.
    description = "\(system)-\(architecture)" + (hasFusedMultiplyAdd ? "-fma" : "")
  }

  /// The key of this machine. Every ARM processor fuses; on others the processor's flags are
  /// checked.
  package static var current: PlatformKey {
    #if arch(arm64)
      return PlatformKey(hasFusedMultiplyAdd: true)
    #else
      // Without /proc no flags are known, and the key is that of a processor without fused
      // multiplication.
      let description = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
      return PlatformKey(hasFusedMultiplyAdd: flags(in: description).contains("fma"))
    #endif
  }

  /// The flags of the processor, as the system lists them.
  static func flags(in description: String) -> Set<String> {
    let line = description.split(separator: "\n").first { $0.hasPrefix("flags") } ?? ""
    return Set(line.split(whereSeparator: { $0 == " " || $0 == "\t" }).map(String.init))
  }
}
