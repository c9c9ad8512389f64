import Foundation
import RetakeCore

/// The device's power source, from Linux's power supplies: the system battery with the least
/// charge.
///
/// Source: Documentation/ABI/testing/sysfs-class-power of the Linux kernel.
struct PowerSampler: DeviceSampler {
  private let root: String

  init(root: String = "/sys/class/power_supply") {
    self.root = root
  }

  /// `nil` on a machine without a battery.
  func sample() -> DeviceEvent? {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    var (least, isPlugged): (BatteryState?, Bool) = (nil, false)
    // The folder's entries come in any order; of two batteries with equal levels the same battery
    // must count.
    for supply in entries.sorted() {
      // The scope `Device` is a battery of a mouse or a keyboard, which does not feed this machine.
      if text(supply, "type") == "Battery", text(supply, "scope") != "Device",
        let level = text(supply, "capacity").flatMap({ Int($0) })
      {
        let status = text(supply, "status")
        let state = BatteryState(
          level: min(100, max(0, level)), isCharging: status == "Charging" || status == "Full",
          isLowPower: text(supply, "capacity_level") == "Critical")
        if least.map({ state.level < $0.level }) ?? true { least = state }
      } else if text(supply, "online") == "1" {
        isPlugged = true
      }
    }
    guard var least else { return nil }
    // A full battery on mains power often reports that it is not charging.
    least.isCharging = least.isCharging || isPlugged
    return .battery(least)
  }

  private func text(_ supply: String, _ file: String) -> String? {
    DeviceFile.text("\(root)/\(supply)/\(file)")
  }
}
