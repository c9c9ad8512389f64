import Foundation
import RetakeCore

/// A process that holds a lock on a file, if the system reports it.
package struct LockHolder: Hashable, Sendable, CustomStringConvertible {
  package var process: Int
  /// The program's short name; nil without permission to read it.
  package var program: String?

  package init(process: Int, program: String?) {
    (self.process, self.program) = (process, program)
  }

  /// Includes the program's name, if the system reports it.
  init(process: Int) {
    self.init(process: process, program: Self.program(of: process))
  }

  /// `python3 (process 4711)`
  package var description: String { "\(program ?? "a program") (process \(process))" }

  /// The process that holds a lock on the database or has it open, including its log and shared
  /// memory. Never this process.
  package static func ofDatabase(_ path: String) -> LockHolder? {
    let files = [path, path + "-shm", path + "-wal"]
    // Each file is checked once, because a lock may be released between two checks.
    for file in files {
      if let holder = holder(of: file) { return holder }
    }
    return user(of: files)
  }

  /// The process that holds a lock on a file or has it open; never this process.
  package static func of(_ path: String) -> LockHolder? { holder(of: path) ?? user(of: [path]) }

  private static let ours = Int(ProcessInfo.processInfo.processIdentifier)

  /// A device as Linux's table of locks writes it: `fe:00`.
  struct Device: Hashable {
    var major: UInt64
    var minor: UInt64

    init(major: UInt64, minor: UInt64) {
      (self.major, self.minor) = (major, minor)
    }

    /// - Parameter number: `st_dev`, in which Linux packs 12 bits of the major number and 20 of the
    ///   minor one (man 3 makedev).
    init(number: UInt64) {
      major = (number >> 8) & 0xFFF
      minor = (number & 0xFF) | ((number >> 12) & 0xFFF00)
    }

    /// Whether a lock on a file of that device may be a lock on a file of this device. Numbers with
    /// the major number 0 are assigned as file systems are mounted, and on btrfs and overlayfs a
    /// file and its lock have different numbers.
    func mayBe(_ other: Device) -> Bool { self == other || (major == 0 && other.major == 0) }
  }

  /// Looks up the file's device and inode number in Linux's table of locks:
  /// `1: POSIX  ADVISORY  WRITE 4711 fe:00:5447693 0 EOF`.
  private static func holder(of path: String) -> LockHolder? {
    guard let facts = try? RegularFile.facts(of: path, links: .followed),
      let table = SystemFile.text("/proc/locks")
    else { return nil }
    return process(in: table, locking: facts.number, on: Device(number: facts.device))
      .map(LockHolder.init(process:))
  }

  /// - Returns: the first process in the table that holds a lock on the file, and does not only
  ///   wait for it.
  static func process(
    in table: String, locking file: UInt64, on device: Device, except ours: Int = ours
  ) -> Int? {
    for line in table.split(separator: "\n") {
      let words = line.split(separator: " ")
      // `->` marks a process that waits, and -1 is the process of an open file
      // description lock (man 5 proc_locks).
      guard words.count > 5, words[1] != "->", let process = Int(words[4]), process > 0,
        process != ours, case let place = words[5].split(separator: ":"), place.count == 3,
        UInt64(place[2]) == file, let major = UInt64(place[0], radix: 16),
        let minor = UInt64(place[1], radix: 16),
        device.mayBe(Device(major: major, minor: minor))
      else { continue }
      return process
    }
    return nil
  }

  /// Fallback if the table has no entry: the process that has one of the files open.
  private static func user(of files: [String]) -> LockHolder? {
    // The links in /proc/PID/fd name the resolved file.
    let wanted = Set(files.map { URL(fileURLWithPath: $0).resolvingSymlinksInPath().path })
    let manager = FileManager.default
    // Sorted, so that the message names the same process each time: a folder has no order.
    let processes = ((try? manager.contentsOfDirectory(atPath: "/proc")) ?? [])
      .compactMap { Int($0) }.filter { $0 != ours }.sorted()
    for process in processes {
      let folder = "/proc/\(process)/fd"
      // The descriptors of another user's process cannot be listed; it stays unnamed.
      for file in ((try? manager.contentsOfDirectory(atPath: folder)) ?? []).sorted() {
        guard let target = try? manager.destinationOfSymbolicLink(atPath: "\(folder)/\(file)"),
          wanted.contains(target)
        else { continue }
        return LockHolder(process: process)
      }
    }
    return nil
  }

  private static func program(of process: Int) -> String? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8) else {
      return nil
    }
    // A process chooses its own name, so control characters are removed before it is shown.
    let name = String(
      String.UnicodeScalarView(
        text.unicodeScalars.filter { $0.value >= 0x20 && !(0x7F...0x9F).contains($0.value) }))
    return name.isEmpty ? nil : name
  }
}
