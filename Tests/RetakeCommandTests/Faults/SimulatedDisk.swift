import Foundation
import RetakeTestSupport

/// A disk below a program whose calls are known. Synced data is kept. Of the rest, a loss of power
/// may leave any part.
///
/// It guarantees no more than POSIX: the data and length of a file after its sync, names after the
/// sync of their folder, and atomic writes of 512 bytes. Data of a failed sync is lost.
struct SimulatedDisk: Sendable {
  private enum Change: Sendable {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)
  }

  /// Names that are added, removed or changed atomically.
  private typealias Naming = [(name: String, node: Int?)]

  private struct Node: Sendable {
    var isFolder = false
    var durable: [UInt8] = []
    var pending: [Change] = []
    /// As the program sees it.
    var size = 0
    /// As the program sees them.
    var names: [String: Int] = [:]
    var durableNames: [String: Int] = [:]
    var pendingNames: [Naming] = []
  }

  /// The unsynced changes that survive.
  enum Survival: Sendable {
    /// Only the program was killed; the machine keeps running.
    case all
    case none
    /// Pieces of 512 bytes and names, each drawn at random.
    case some(seed: UInt64)
  }

  /// The folder whose calls are simulated.
  let root: String
  private var nodes: [Node] = [Node(isFolder: true)]

  init(root: String) {
    self.root = root
  }

  // MARK: Calls

  mutating func apply(_ call: SystemCall) {
    guard let path = call.path else { return }
    switch call.name {
    case "fsync", "fdatasync": synchronize(path, failed: call.result != 0)
    case _ where call.result < 0: break
    case "openat":
      guard call.text(2).contains("O_CREAT") else { return }
      add(path, Node())
      if call.text(2).contains("O_TRUNC") { change(path, .truncate(0)) }
    case "mkdir": add(path, Node(isFolder: true))
    case "pwrite64":
      change(path, .write(offset: call.number(3), bytes: Array(call.bytes.prefix(call.result))))
    case "write":
      guard let node = node(path) else { return }
      let bytes = Array(call.bytes.prefix(call.result))
      change(path, .write(offset: nodes[node].size, bytes: bytes))
    case "ftruncate": change(path, .truncate(call.number(1)))
    case "unlink", "rmdir": rename(path, to: nil)
    case "rename": rename(path, to: call.text(1))
    default: break
    }
  }

  private func components(_ path: String) -> [String]? {
    guard path == root || path.hasPrefix(root + "/") else { return nil }
    return path.dropFirst(root.count).split(separator: "/").map(String.init)
  }

  private func node(_ path: String) -> Int? {
    components(path).flatMap { node($0[...]) }
  }

  private func node(_ components: ArraySlice<String>) -> Int? {
    components.reduce(0) { node, name in node.flatMap { nodes[$0].names[name] } }
  }

  /// The folder that contains a path, and the name in it.
  private func place(_ path: String) -> (folder: Int, name: String)? {
    guard let components = components(path), let name = components.last,
      let folder = node(components.dropLast())
    else { return nil }
    return (folder, name)
  }

  private mutating func add(_ path: String, _ node: Node) {
    guard self.node(path) == nil, let (folder, name) = place(path) else { return }
    nodes.append(node)
    change(folder, [(name, nodes.count - 1)])
  }

  /// Within one folder, as the recorder does it.
  private mutating func rename(_ path: String, to target: String?) {
    guard let node = node(path), let (folder, name) = place(path) else { return }
    var naming: Naming = [(name, nil)]
    if let target, let (other, newName) = place(target) {
      precondition(other == folder, "the recorder renames within a folder")
      naming.append((newName, node))
    }
    change(folder, naming)
  }

  private mutating func change(_ folder: Int, _ naming: Naming) {
    for (name, node) in naming { nodes[folder].names[name] = node }
    nodes[folder].pendingNames.append(naming)
  }

  private mutating func change(_ path: String, _ change: Change) {
    guard let node = node(path) else { return }
    nodes[node].pending.append(change)
    switch change {
    case .write(let offset, let bytes):
      nodes[node].size = max(nodes[node].size, offset + bytes.count)
    case .truncate(let size): nodes[node].size = size
    }
  }

  private mutating func synchronize(_ path: String, failed: Bool) {
    guard let number = node(path) else { return }
    if !failed {
      for change in nodes[number].pending { Self.apply(change, to: &nodes[number].durable) }
      nodes[number].durableNames = nodes[number].names
    }
    nodes[number].pending = []
    nodes[number].pendingNames = []
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .truncate(let size):
      bytes = Array(bytes.prefix(size)) + Array(repeating: 0, count: max(0, size - bytes.count))
    case .write(let offset, let new):
      let end = offset + new.count
      if bytes.count < end {
        bytes += Array(repeating: 0, count: end - bytes.count)
      }
      bytes.replaceSubrange(offset..<end, with: new)
    }
  }

  // MARK: What survives

  /// Writes the surviving content into an existing folder.
  func write(_ survival: Survival, to folder: URL) throws {
    var luck = Luck(survival)
    try write(node: 0, to: folder, &luck)
  }

  private func write(node: Int, to folder: URL, _ luck: inout Luck) throws {
    let names = names(of: nodes[node], &luck)
    for name in names.keys.sorted() {
      guard let child = names[name] else { continue }
      let url = folder.appending(path: name)
      if nodes[child].isFolder {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        try write(node: child, to: url, &luck)
      } else {
        try Data(bytes(of: nodes[child], &luck)).write(to: url)
      }
    }
  }

  private func names(of node: Node, _ luck: inout Luck) -> [String: Int] {
    var names = node.durableNames
    // A journal keeps the order of its changes, up to some moment.
    let isOrdered = luck.isKept()
    for naming in node.pendingNames {
      guard luck.isKept() else {
        if isOrdered { break } else { continue }
      }
      for (name, child) in naming { names[name] = child }
    }
    return names
  }

  private static let sectorBytes = 512

  private func bytes(of node: Node, _ luck: inout Luck) -> [UInt8] {
    var bytes = node.durable
    for change in node.pending {
      guard case .write(let offset, let new) = change else {
        if luck.isKept() { Self.apply(change, to: &bytes) }
        continue
      }
      var start = 0
      while start < new.count {
        let sectorEnd = ((offset + start) / Self.sectorBytes + 1) * Self.sectorBytes - offset
        let end = min(sectorEnd, new.count)
        if luck.isKept() {
          Self.apply(.write(offset: offset + start, bytes: Array(new[start..<end])), to: &bytes)
        }
        start = end
      }
    }
    return bytes
  }

  /// Draws which changes survive.
  private struct Luck {
    private var random: SeededGenerator
    private let percent: Int

    init(_ survival: Survival) {
      switch survival {
      case .all: (random, percent) = (SeededGenerator(seed: 0), 100)
      case .none: (random, percent) = (SeededGenerator(seed: 0), 0)
      case .some(let seed):
        random = SeededGenerator(seed: seed)
        percent = random.pick([2, 30, 70, 98])
      }
    }

    mutating func isKept() -> Bool { random.chance(percent) }
  }
}
