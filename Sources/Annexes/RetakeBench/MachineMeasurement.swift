import Foundation
import RetakeBuffers
package import RetakeCore
import RetakeGraph
package import RetakeRuntime
import RetakeStages

/// The speed and the heat that this machine reports about itself, and a device profile made from
/// them.
///
/// Only measured values are marked as measured. All other values come from `Assumed`, and are
/// marked as assumed, with the reason.
package struct MachineMeasurement: Sendable {
  /// Values that no sensor shows, for a computer without a fan. docs/heat.md says where the numbers
  /// come from.
  enum Assumed {
    static let ambient: Temperature = 25
    static let capacity = "200J/K"
    static let resistance = "3K/W"
    static let idle = "5W"
    static let busy = "5W"
    static let copy = "0.5nJ/B"
    static let fair: Temperature = 70
    static let serious: Temperature = 85
    static let critical: Temperature = 95
  }

  /// Processors that this process may use.
  package var processors: Int
  /// The median speed of copies of 1920×1080 BGRA frames, each into a new buffer.
  package var copyBytesPerSecond: Int64
  /// The hottest thermal zone before and after the load; `nil` without a zone.
  package var temperatures: (idle: Temperature, busy: Temperature)?
  /// Power of the processor package, in microwatts; `nil` without a counter that can be read.
  package var microwatts: (idle: Int64, busy: Int64)?

  package init(processors: Int, copyBytesPerSecond: Int64) {
    self.processors = processors
    self.copyBytesPerSecond = copyBytesPerSecond
  }

  /// Measures this machine: a pause, then the same time of copies on one processor.
  ///
  /// - Parameters:
  ///   - seconds: Of the pause, and of the copies.
  ///   - root: The folder that contains the system's `/sys`.
  package init(seconds: Int, clock: any LiveClock = WallClock(), root: String = "") {
    let sensors = MachineSensors(root: root)
    let span = Int64(seconds) * 1_000_000_000
    let idle = sensors.reading(clock)
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + span, or: ThreadCondition())
    let quiet = sensors.reading(clock)
    let rate = Self.copies(for: span, clock)
    let busy = sensors.reading(clock)
    self.init(
      processors: Self.processorCount, copyBytesPerSecond: rate)
    if let first = quiet.temperature, let last = busy.temperature { temperatures = (first, last) }
    if let first = quiet.power(since: idle), let last = busy.power(since: quiet) {
      microwatts = (first, last)
    }
  }

  /// Processors that this process may use, which may be fewer than the machine has.
  private static var processorCount: Int {
    let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
    let line = String(decoding: status.prefix(16_384), as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("Cpus_allowed:") }
    // A mask in hexadecimal digits, with commas (man 5 proc).
    let bits = line?.dropFirst("Cpus_allowed:".count)
      .reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
    return bits.flatMap { $0 > 0 ? $0 : nil } ?? ProcessInfo.processInfo.activeProcessorCount
  }

  /// The machine and the day, for people: `2 processors, AMD EPYC, 2026-11-25`.
  package static var machineText: String {
    let count = processorCount
    let info = FileManager.default.contents(atPath: "/proc/cpuinfo") ?? Data()
    let line = String(decoding: info.prefix(4_096), as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix("model name") }
    let model = line?.split(separator: ":").last.map { name in
      // It becomes part of a JSON string.
      String(name.filter { $0.isASCII && $0 != "\"" && $0 != "\\" }.drop { $0 == " " })
    }
    let parts = [counted(count, "processor"), model, WallClock().dateText]
    return parts.compactMap(\.self).joined(separator: ", ")
  }

  private static let keptCopies = 8

  /// Bytes per second of a median copy.
  private static func copies(for nanoseconds: Int64, _ clock: any LiveClock) -> Int64 {
    let size = (width: 1_920, height: 1_080)
    let bytes = 4 * size.width * size.height
    let frame = Frame(
      id: FrameID(track: 0, sequence: 0), format: .bgra, width: size.width, height: size.height,
      planes: [[UInt8](repeating: 90, count: bytes)])
    let stage = CopyFrame()
    let context = StageContext(frame: frame.id, timestamp: .zero)
    let end = clock.monotonicNanoseconds + nanoseconds
    var times: [Int64] = []
    // As many as are in a pipeline at once: a copy that is freed at once would be made in memory
    // that the processor still has in its cache.
    var kept: [Frame] = []
    // Bounded by the time, and by the number of times that are kept.
    while times.count < 100_000, times.count < 5 || clock.monotonicNanoseconds < end {
      // Processor time, so that other programs of the machine do not change the result.
      let begin = clock.threadNanoseconds
      let copy = stage.process(frame, context)
      times.append(max(1, clock.threadNanoseconds - begin))
      kept.append(copy)
      if kept.count > Self.keptCopies { kept.removeFirst() }
    }
    times.sort()
    return Int64(bytes) * 1_000_000_000 / times[times.count / 2]
  }
}

/// The sensors of Linux: thermal zones, and the energy counters of the powercap framework.
///
/// Source: Documentation/power/powercap/powercap.rst of the Linux kernel. Many virtual machines
/// have neither, and many systems let only root read the counters.
struct MachineSensors: Sendable {
  struct Reading: Sendable {
    var nanoseconds: Int64
    /// Of the hottest zone.
    var temperature: Temperature?
    /// Microjoules since some time, and where the counter begins again.
    var energy: (counter: Int64, range: Int64)?

    /// Microwatts on average.
    func power(since before: Reading) -> Int64? {
      guard let energy, let old = before.energy, nanoseconds > before.nanoseconds else {
        return nil
      }
      var used = energy.counter - old.counter
      if used < 0 { used += energy.range }
      let microwatts = Int128(used) * 1_000_000_000 / Int128(nanoseconds - before.nanoseconds)
      return Int64(clamping: microwatts)
    }
  }

  let root: String

  func reading(_ clock: any LiveClock) -> Reading {
    Reading(
      nanoseconds: clock.monotonicNanoseconds, temperature: temperature, energy: energy)
  }

  private var temperature: Temperature? {
    entries("thermal").filter { $0.hasPrefix("thermal_zone") }
      .compactMap { number("thermal/\($0)/temp") }
      .map { Temperature(millidegrees: Int($0)) }.filter(Temperature.range.contains).max()
  }

  /// All packages together.
  private var energy: (Int64, Int64)? {
    let packages = entries("powercap").filter { name in
      // `intel-rapl:0` is a package; `intel-rapl:0:0` is a part of it.
      name.contains(":") && name.firstIndex(of: ":") == name.lastIndex(of: ":")
    }
    let counters = packages.compactMap { name -> (Int64, Int64)? in
      guard let value = number("powercap/\(name)/energy_uj") else { return nil }
      return (value, number("powercap/\(name)/max_energy_range_uj") ?? 0)
    }
    guard let first = counters.first else { return nil }
    return counters.dropFirst().reduce(first) { ($0.0 + $1.0, max($0.1, $1.1)) }
  }

  private func entries(_ kind: String) -> [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: "\(root)/sys/class/\(kind)")) ?? [])
      .sorted()
  }

  private func number(_ file: String) -> Int64? {
    guard let data = FileManager.default.contents(atPath: "\(root)/sys/class/\(file)"),
      data.count <= 64
    else { return nil }
    return Int64(String(decoding: data, as: UTF8.self).filter { !$0.isWhitespace })
  }
}
