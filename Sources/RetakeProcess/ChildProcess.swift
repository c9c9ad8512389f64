import Foundation
import Synchronization

/// Another program that this one starts, and whose end it is notified of.
///
/// The child leads a process group of its own, blocks no signal, ignores none, and has no file of
/// this process but its standard streams. A thread of its own waits for its end, so this works
/// without libdispatch's sources and without a run loop, and from any thread.
///
/// Giving up the last reference does not end the child.
package final class ChildProcess: Sendable {
  package enum End: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
  }

  /// Where a standard stream of the child leads.
  package enum Stream: Sendable {
    /// Nothing is read from it, and what is written to it is lost.
    case null
    /// Where this process's own leads.
    case inherited
    /// A path: read from as standard input, otherwise written from its beginning, and made if it
    /// is not there.
    case file(String)
    /// The child has one end, and this process closes its copy of that as soon as the child runs.
    case pipe(ChildPipe)
  }

  package struct Request: Sendable {
    /// A path; no folder of PATH is searched.
    package var executable: String
    package var arguments: [String]
    /// This process's own if not given.
    package var environment: [String: String]?
    /// This process's own if not given.
    package var folder: String?
    package var input = Stream.null
    package var output = Stream.null
    package var errors = Stream.null
    /// Whether what the child started, and left in its group, ends with it.
    package var endsGroup = false

    package init(_ executable: String, _ arguments: [String] = []) {
      self.executable = executable
      self.arguments = arguments
    }
  }

  /// The exit status where the system does not say how the child ended, because another part of
  /// the program asked first.
  package static let statusUnknown: Int32 = -1

  private struct State {
    var end: End?
    var actions: [@Sendable (End) -> Void] = []
  }

  /// The process's number, which is its group's as well.
  package let id: Int32
  private let endsGroup: Bool
  private let state = Mutex(State())

  /// Starts the program.
  package init(_ request: Request) throws(ChildProcessError) {
    id = try Spawn.start(request)
    endsGroup = request.endsGroup
    for case .pipe(let pipe) in [request.output, request.errors] { pipe.closeWriteEnd() }
    if case .pipe(let pipe) = request.input { pipe.closeReadEnd() }
    let thread = Thread { [self] in watch() }
    thread.name = "retake.child"
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// How the child ended; nil while it runs.
  package var end: End? { state.withLock { $0.end } }

  /// Calls `action` once when the child has ended, from a thread of its own; at once if it has.
  package func onEnd(_ action: @escaping @Sendable (End) -> Void) {
    let end = state.withLock { state in
      if state.end == nil { state.actions.append(action) }
      return state.end
    }
    if let end { action(end) }
  }

  /// Sends a signal to the child alone. Does nothing after its end: its number may be another's.
  package func send(_ signal: Int32) {
    state.withLock { if $0.end == nil { kill(id, signal) } }
  }

  /// Sends a signal to the child and to all that it started and left in its group.
  package func sendToGroup(_ signal: Int32) {
    state.withLock { if $0.end == nil { kill(-id, signal) } }
  }

  private func watch() {
    Spawn.waitUntilEnded(id)
    let (end, actions) = state.withLock { state in
      // The number is the group's until the status is taken, and nobody else's.
      if endsGroup { kill(-id, SIGKILL) }
      let end = Spawn.takeStatus(id)
      defer { state.actions = [] }
      state.end = end
      return (end, state.actions)
    }
    for action in actions { action(end) }
  }
}

/// Why a program could not be started.
package struct ChildProcessError: LocalizedError, Hashable {
  package var executable: String
  /// The number that the system gives the reason.
  package var number: Int32

  package var errorDescription: String? {
    "\(executable): \(String(cString: strerror(number)))"
  }
}

extension ChildProcess {
  /// The first program of that name in the folders of PATH.
  package static func path(
    of name: String, in folders: String? = ProcessInfo.processInfo.environment["PATH"]
  ) -> String? {
    (folders ?? "").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
