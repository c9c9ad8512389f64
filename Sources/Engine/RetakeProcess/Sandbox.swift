import CSandbox
import Foundation

/// Restrictions that a process puts on itself, for good, before it reads a file of others.
///
/// The process can then read and write only the listed paths (Landlock), and make no connection,
/// start no program and no process, and send no signal (seccomp). With seccomp, a process that needs
/// more memory than its limit ends. Linux alone has both layers.
package struct Sandbox: Hashable, Sendable, Codable {
  /// The layers that the system has.
  package struct Layers: Hashable, Sendable {
    /// The version of Landlock; `nil` without it.
    package var landlock: Int?
    package var hasSeccomp: Bool

    package var isComplete: Bool { landlock != nil && hasSeccomp }

    /// The missing layers, and their effect on a restricted process; `nil` if it is complete.
    package var lack: String? {
      switch (landlock, hasSeccomp) {
      case (nil, false):
        "this system has no Landlock and no seccomp: files of others are read without restrictions"
      case (nil, true):
        "this system has no Landlock: the process that reads files of others can reach other files"
      case (_, false):
        "this system has no seccomp: the process that reads files of others can open sockets and "
          + "start programs, and has no limit of memory"
      default: nil
      }
    }
  }

  /// The rules that a restricted process could break, or that it could not restrict itself.
  package struct Breach: OptionSet, Hashable, Sendable {
    package let rawValue: Int32

    package init(rawValue: Int32) { self.rawValue = rawValue }
  }

  /// Files, and folders with all files in them.
  package var reads: [String]
  /// The same to read, change, make and remove.
  package var writes: [String]
  /// Private memory in bytes; `nil` without a limit. A lower limit of the user remains instead.
  package var bytesMax: Int?
  /// The process with which the restricted process ends, whatever ends it.
  package var parent: Int32

  /// The line on standard input, a socket, before a process ends because of its memory limit.
  package static let memoryLine = "memory"

  package init(reads: [String], writes: [String], bytesMax: Int? = nil) {
    (self.reads, self.writes, self.bytesMax) = (Self.system + reads, writes, bytesMax)
    parent = ProcessInfo.processInfo.processIdentifier
  }

  /// Programs and their data, facts about processes and their memory, and sources of zeros and of
  /// random bytes.
  ///
  /// All of `/proc`: libdispatch reads the states of this process's threads there, by the number of
  /// the process, and ends the process if it cannot. The memory, files and environment of other
  /// processes stay closed, because Landlock forbids tracing.
  private static let system = [
    "/usr", "/lib", "/lib64", "/etc/localtime", "/proc", "/sys/devices/system/cpu",
    "/sys/fs/cgroup", "/dev/null", "/dev/zero", "/dev/urandom",
  ]

  #if os(Linux)
    package static var layers: Layers {
      let version = retake_landlock_version()
      return Layers(
        landlock: version > 0 ? Int(version) : nil, hasSeccomp: retake_has_seccomp() == 1)
    }

    /// Restricts this process with the layers that the system has, as long as it has one thread.
    ///
    /// - Throws: `ChildProcessError`.
    package func enter() throws {
      let layers = Self.layers
      // Landlock restricts one thread and the threads that it starts.
      try Self.require(retake_is_single_thread() == 1 ? 0 : -EBUSY, "one thread")
      try Self.require(retake_follow_parent(parent), "the parent process")
      if let landlock = layers.landlock {
        let version = Int32(landlock)
        let rules = retake_landlock_begin(version)
        try Self.require(rules, "Landlock")
        defer { close(rules) }
        for (paths, isWritable) in [(reads, Int32(0)), (writes, 1)] {
          // A path that cannot be opened stays forbidden, and the reader reports it.
          for path in paths { _ = retake_landlock_allow(rules, version, path, isWritable) }
        }
        try Self.require(retake_landlock_enter(rules), "Landlock")
      }
      guard layers.hasSeccomp else { return }
      let limits = try limitMemory()
      try Self.require(retake_deny_calls(limits ? 1 : 0), "seccomp")
    }

    /// Without seccomp, a failed allocation would not end the process: a library could ignore it.
    private func limitMemory() throws -> Bool {
      guard let bytesMax else { return false }
      let isLower = retake_has_lower_limit(UInt64(bytesMax))
      try Self.require(isLower, "the limits of memory")
      guard isLower == 0 else { return false }
      try Self.require(
        retake_limit_memory(UInt64(bytesMax), retake_on_block), "the limit of memory")
      return true
    }

    private static func require(_ result: Int32, _ name: String) throws {
      if result < 0 { throw ChildProcessError(executable: name, number: -result) }
    }

    /// Tries in a new process to leave a sandbox that may write only the folder `own`.
    ///
    /// - Parameter foreign: A file that this process can read and write.
    /// - Throws: `ChildProcessError` if no process can be started.
    package static func trial(own: String, foreign: String) throws -> Breach {
      let result = retake_sandbox_trial(own, foreign)
      try require(result, "a new process")
      return Breach(rawValue: result)
    }
  #else
    package static var layers: Layers { Layers(landlock: nil, hasSeccomp: false) }

    package func enter() throws {}

    package static func trial(own: String, foreign: String) throws -> Breach { [] }
  #endif
}
