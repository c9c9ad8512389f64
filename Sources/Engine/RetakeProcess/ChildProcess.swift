import Foundation
import Synchronization

/// A child process that reports its end.
///
/// The child leads its own process group. It blocks and ignores no signals, and inherits only the
/// standard streams and the files that the request names. A separate thread waits for its end, so
/// this type needs neither libdispatch's sources nor a run loop, and works from any thread.
///
/// Releasing the last reference does not end the child.
package final class ChildProcess: Sendable {
  package enum End: Hashable, Sendable {
    case exited(Int32)
    case signalled(Int32)
  }

  /// The destination or origin of a standard stream of the child.
  package enum Stream: Sendable {
    /// Reading returns the end of the file, and written bytes are discarded.
    case null
    /// The same as this process's own stream.
    case inherited
    /// A path: read if it is for standard input; otherwise created if necessary, and written from
    /// its beginning.
    case file(String)
    /// The child inherits one end, and this process closes its own copy of that end as soon as the
    /// child runs.
    case pipe(ChildPipe)
    /// The child's end of the socket, in both directions if both streams are this socket.
    case socket(ChildSocket)
  }

  package struct Request: Sendable {
    /// A path; the folders of PATH are not searched.
    package var executable: String
    package var arguments: [String]
    /// This process's own if nil.
    package var environment: [String: String]?
    /// This process's own if nil.
    package var folder: String?
    package var input = Stream.null
    package var output = Stream.null
    package var errors = Stream.null
    /// Files that the child inherits, numbered from 3 on. Each has a number of at least
    /// `ChildProcess.descriptorMin` in this process, and stays open.
    package var descriptors: [Int32] = []
    /// The group that the child joins; `nil` = a new group.
    package var group: Int32?
    /// Whether other processes in the child's group are killed when the child ends.
    package var endsGroup = false

    package init(_ executable: String, _ arguments: [String] = []) {
      self.executable = executable
      self.arguments = arguments
    }
  }

  /// The exit status if the system does not report how the child ended, because another part of the
  /// program has already queried it.
  package static let statusUnknown: Int32 = -1

  /// The smallest number of a file in `Request.descriptors`, so that no file is replaced by another
  /// file before the child receives it.
  package static let descriptorMin: Int32 = 20

  private struct State {
    var end: End?
    var actions: [@Sendable (End) -> Void] = []
  }

  /// The process ID, which is also the ID of its group.
  package let id: Int32
  private let endsGroup: Bool
  private let state = Mutex(State())

  /// Starts the program.
  package init(_ request: Request) throws {
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

  /// Calls `action` once when the child has ended, on a separate thread; immediately if it has
  /// already ended.
  package func onEnd(_ action: @escaping @Sendable (End) -> Void) {
    let end = state.withLock { state in
      if state.end == nil { state.actions.append(action) }
      return state.end
    }
    if let end { action(end) }
  }

  /// Sends a signal to the child alone. After its end the call has no effect, because its ID may
  /// have been reused.
  package func send(_ signal: Int32) {
    state.withLock { if $0.end == nil { kill(id, signal) } }
  }

  /// Sends a signal to the child and to all other processes in its group.
  package func sendToGroup(_ signal: Int32) {
    state.withLock { if $0.end == nil { kill(-id, signal) } }
  }

  private func watch() {
    Spawn.waitUntilEnded(id)
    let (end, actions) = state.withLock { state in
      // The ID belongs to the group until the status is taken, so it cannot have been reused here.
      if endsGroup { kill(-id, SIGKILL) }
      let end = Spawn.takeStatus(id)
      defer { state.actions = [] }
      state.end = end
      return (end, state.actions)
    }
    for action in actions { action(end) }
  }
}

extension ChildProcess {
  /// The first executable with that name in the folders of PATH.
  package static func path(
    of name: String, in folders: String? = ProcessInfo.processInfo.environment["PATH"]
  ) -> String? {
    (folders ?? "").split(separator: ":").map { "\($0)/\(name)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
