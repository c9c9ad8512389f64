import Foundation

/// The memory that this process may still allocate, from its limit of address space (`ulimit -v`)
/// and the limits of the control group it runs in and of the groups above it.
///
/// Source: Documentation/admin-guide/cgroup-v2.rst and cgroup-v1/memory.rst of the Linux kernel.
package struct FreeMemory: Sendable {
  private let addressLimit: Int64?
  private let groups: [Group]
  private let sizes: String
  private let machine: String

  /// The files of a control group that has a limit.
  struct Group: Hashable, Sendable {
    var limit: Int64
    var usage: String
    var statistics: String
  }

  /// No group has a limit above this. Version 1 uses a number near 2^63 for "no limit".
  private static let limitMax: Int64 = 1 << 50

  /// - Parameters:
  ///   - addressLimit: Bytes; nil means no limit.
  ///   - root: The folder that contains the system's `/proc` and `/sys`.
  package init(addressLimit: Int64? = Self.ownLimit, root: String = "") {
    self.addressLimit = addressLimit
    sizes = root + "/proc/self/statm"
    machine = root + "/proc/meminfo"
    groups = Self.groups(root)
  }

  /// There is no limit, so no sampling is needed.
  var isUnlimited: Bool { addressLimit == nil && groups.isEmpty }

  /// Remaining bytes of the tightest limit; nil without a limit. A group's usage includes the usage
  /// of the groups below it.
  func bytes() -> Int64? {
    var rooms = groups.compactMap(Self.room)
    if let addressLimit, let used = addressBytes { rooms.append(addressLimit - used) }
    return rooms.min()
  }

  /// Memory that the machine could provide without swapping; nil if it does not report it.
  package var availableBytes: Int64? {
    let lines = (DeviceFile.text(machine) ?? "").split(separator: "\n")
    let line = lines.first { $0.hasPrefix("MemAvailable:") }
    let words = (line ?? "").split(separator: " ")
    // The file's kB are units of 1,024 bytes.
    return words.count > 1 ? Int64(words[1]).map { $0 << 10 } : nil
  }

  private var addressBytes: Int64? {
    // The first number is the size of the address space, which RLIMIT_AS limits (man 5 proc).
    let pages = DeviceFile.text(sizes)?.split(separator: " ").first.flatMap { Int64($0) }
    return pages.map { $0 * Int64(sysconf(Int32(_SC_PAGESIZE))) }
  }

  /// Inactive file cache does not count, because the kernel reclaims it when memory is needed.
  private static func room(_ group: Group) -> Int64? {
    guard let used = DeviceFile.text(group.usage).flatMap({ Int64($0) }) else { return nil }
    let words = (DeviceFile.text(group.statistics) ?? "").split(whereSeparator: \.isWhitespace)
    func fact(_ name: Substring) -> Int64? {
      words.firstIndex(of: name).flatMap { $0 + 1 < words.count ? Int64(words[$0 + 1]) : nil }
    }
    // Version 1 adds up the groups below only under the longer name; version 2 always does, and has
    // only the shorter one.
    let files = fact("total_inactive_file") ?? fact("inactive_file") ?? 0
    return group.limit - max(0, used - files)
  }

  private static func groups(_ root: String) -> [Group] {
    let lines = (DeviceFile.text(root + "/proc/self/cgroup") ?? "").split(separator: "\n")
    return lines.flatMap { line -> [Group] in
      // `ID:CONTROLLERS:PATH` (man 7 cgroups). A path may contain colons.
      let parts = line.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count == 3 else { return [] }
      let isFirst = parts[1].split(separator: ",").contains("memory")
      // Version 2 names no controllers; version 1 has a hierarchy for memory.
      guard isFirst || parts[1].isEmpty else { return [] }
      let base = root + "/sys/fs/cgroup" + (isFirst ? "/memory" : "")
      let (limit, usage) =
        isFirst
        ? ("memory.limit_in_bytes", "memory.usage_in_bytes") : ("memory.max", "memory.current")
      return folders(of: parts[2], below: base).compactMap { folder in
        let number = DeviceFile.text("\(folder)/\(limit)").flatMap { Int64($0) }
        // Version 2 writes `max` for "no limit", which is not a number.
        guard let number, number < limitMax else { return nil }
        return Group(
          limit: number, usage: "\(folder)/\(usage)", statistics: "\(folder)/memory.stat")
      }
    }
  }

  /// The folders of a group and of all groups above it. Within a container, the group's own folder
  /// may appear as the root of the hierarchy.
  private static func folders(of path: Substring, below base: String) -> [String] {
    let names = path.split(separator: "/")
    return (0...names.count).map { count in
      ([Substring(base)] + names.dropLast(count)).joined(separator: "/")
    }
  }

  /// Limit of the address space in bytes; nil without a limit.
  package static var ownLimit: Int64? {
    var limits = rlimit()
    #if canImport(Darwin)
      let result = getrlimit(RLIMIT_AS, &limits)
    #else
      let result = getrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits)
    #endif
    guard result == 0, limits.rlim_cur < UInt64(limitMax) else { return nil }
    return Int64(limits.rlim_cur)
  }
}
