import Foundation

/// Processes that have a string in their environment, and those that they started.
///
/// A process that leaves its group and its session, and whose parent has ended, is no longer related
/// to what started it. It still has the environment that it was started with.
package struct MarkedProcesses: Sendable {
  /// How often they are looked for: a process may start another one while it is being ended.
  private static let roundsMax = 50

  /// A variable of the environment: `NAME=VALUE`.
  package let mark: String

  package init(mark: String) { self.mark = mark }

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

  /// The marked processes and those that they started, as far as the parents still run; in rising
  /// order. None on a system without /proc.
  ///
  /// - Parameter root: A process whose descendants are among them. It is none of them itself.
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
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/environ") else {
      return false
    }
    return data.split(separator: 0).contains { $0.elementsEqual(mark.utf8) }
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
