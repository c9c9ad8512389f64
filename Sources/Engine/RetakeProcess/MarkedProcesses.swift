import CSpawn
import Foundation

/// Processes that have a mark, and their descendants.
///
/// A process that leaves its group and its session, and whose parent has ended, is no longer
/// related to the process that started it. Two marks remain: the environment that it was started
/// with, and on Linux a limit of its resources, which it inherits even if it is started with
/// another environment (`env -i setsid …`), and which an ordinary user cannot raise again.
package struct MarkedProcesses: Sendable {
  /// How often `endAll` searches: a process may start another process while it is being ended.
  private static let roundsMax = 50

  /// A variable of the environment: `NAME=VALUE`.
  package let mark: String
  /// The value of the limit; `nil` if this process has such a limit itself, and so is marked by the
  /// Retake that started it.
  private let limitMicroseconds: UInt64?

  /// - Parameter number: Less than 2^60, and different for each mark on this machine.
  package init(mark: String, number: UInt64) {
    precondition(number < Self.limitLeast, "the number of a mark has 60 bits")
    self.mark = mark
    limitMicroseconds = ResourceLimit.isUnlimited ? Self.limitLeast + number : nil
  }

  /// More than 36,000 years: the limit never acts.
  private static let limitLeast: UInt64 = 1 << 60

  /// The limit as /proc shows it; `-` without a limit.
  package var limitText: String { limitMicroseconds.map { "\($0)" } ?? "-" }

  /// Sets the limit of a process that was just started, and of the descendants that it has started
  /// since. Later descendants inherit the limit.
  package func limit(_ id: Int32) {
    guard let limitMicroseconds else { return }
    ResourceLimit.set(limitMicroseconds, of: id)
    for descendant in ids(descendantsOf: id) {
      ResourceLimit.set(limitMicroseconds, of: descendant)
    }
  }

  /// Kills all of them.
  ///
  /// - Parameters:
  ///   - others: Further processes that are killed, which were found by `ids(descendantsOf:)`.
  ///   - wait: Called between two looks, for the time that a process needs to end.
  package func endAll(and others: [Int32], wait: () -> Void) {
    for id in others { kill(id, SIGKILL) }
    for _ in 0..<Self.roundsMax {
      let found = ids()
      guard !found.isEmpty else { return }
      for id in found { kill(id, SIGKILL) }
      wait()
    }
  }

  /// The marked processes and their descendants, as far as the parents still run; in rising order.
  /// Empty on a system without /proc.
  ///
  /// - Parameter root: A process whose descendants are included; the process itself is not.
  package func ids(descendantsOf root: Int32? = nil) -> [Int32] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    let own = getpid()
    var parents: [(id: Int32, parent: Int32)] = []
    var found: Set<Int32> = []
    for id in names.compactMap({ Int32($0) }).sorted() where id != own {
      guard let parent = Self.parent(of: id) else { continue }
      parents.append((id, parent))
      if isMarked(id) { found.insert(id) }
    }
    // Bounded: each round but the last adds a process.
    var isLarger = true
    while isLarger {
      isLarger = false
      for (id, parent) in parents where parent == root || found.contains(parent) {
        if found.insert(id).inserted { isLarger = true }
      }
    }
    if let root { found.remove(root) }
    return found.sorted()
  }

  private func isMarked(_ id: Int32) -> Bool {
    // Empty for a process that has ended, unreadable for one of another user.
    // Not by FileManager, which reads 4 KiB of a file in /proc.
    if let data = try? FileHandle(forReadingAtPath: "/proc/\(id)/environ")?.readToEnd(),
      data.split(separator: 0).contains(where: { $0.elementsEqual(mark.utf8) })
    {
      return true
    }
    guard limitMicroseconds != nil,
      let data = FileManager.default.contents(atPath: "/proc/\(id)/limits")
    else { return false }
    let text = limitText.utf8
    return data.split { $0 == 0x20 || $0 == 0x0a }.contains { $0.elementsEqual(text) }
  }

  /// `nil` for a process that has ended.
  private static func parent(of id: Int32) -> Int32? {
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/stat") else { return nil }
    // proc(5): the name is in parentheses, and may have any characters; then state and parent.
    let text = String(decoding: data, as: UTF8.self)
    guard let end = text.lastIndex(of: ")") else { return nil }
    let words = text[text.index(after: end)...].split(separator: " ")
    guard words.count > 1, words[0] != "Z", words[0] != "X" else { return nil }
    return Int32(words[1])
  }
}

/// The limit of the processor time that a process with real-time scheduling may use without a
/// pause, in microseconds. Hardly any process has one, so a value can be a mark.
private enum ResourceLimit {
  #if os(Linux)
    /// Whether this process has no such limit.
    static var isUnlimited: Bool {
      var limit = rlimit()
      return prlimit(getpid(), realTime, nil, &limit) == 0 && limit.rlim_max == unlimited
    }

    private static let unlimited = rlim_t.max
    /// RLIMIT_RTTIME of linux/resource.h.
    private static let realTime: Int32 = 15

    /// Refused, without a consequence, for a process that has ended or belongs to another user.
    static func set(_ microseconds: UInt64, of id: Int32) {
      var limit = rlimit(rlim_cur: rlim_t(microseconds), rlim_max: rlim_t(microseconds))
      _ = prlimit(id, realTime, &limit, nil)
    }
  #else
    static let isUnlimited = false

    static func set(_ microseconds: UInt64, of id: Int32) {}
  #endif
}
