import FlyingSocks
import Foundation
import RetakeBuffers
import RetakeRuntime

/// Sockets that wait for the peer only up to a time limit, and only up to a limited number of
/// connections.
///
/// A connection that neither sends nor accepts data for that time is closed. If too many
/// connections wait, the oldest connection without the token is closed. The listening socket waits
/// forever.
struct SilenceLimit: AsyncSocketPool {
  /// The seconds of silence after which a connection is closed.
  static let defaultSeconds = 15.0

  private let base: any AsyncSocketPool
  private let watch: SilenceWatch

  init(_ base: some AsyncSocketPool, seconds: Double, peers: AdmittedPeers) {
    self.base = base
    watch = SilenceWatch(
      seconds: seconds, connectionsMax: ConnectionLimit.ofProcess, peers: peers)
  }

  func prepare() async throws { try await base.prepare() }

  func run() async throws {
    watch.start()
    defer { watch.stop() }
    try await base.run()
  }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    guard let peer = try? socket.remotePeer() else {
      // The listening socket. The number of connections that it accepts at once is not limited
      // before this call.
      listen(Int32(socket.file.rawValue), ConnectionLimit.backlog)
      return try await base.suspendSocket(socket, untilReadyFor: events)
    }
    let base = base
    // A separate task, so that the watch can cancel it. A cancellation of the calling task has to
    // be passed on.
    let wait = Task { try await base.suspendSocket(socket, untilReadyFor: events) }
    let number = watch.add(peer) { wait.cancel() }
    defer { watch.remove(number) }
    try await withTaskCancellationHandler {
      try await wait.value
    } onCancel: {
      wait.cancel()
    }
  }
}

/// The most connections that may wait at once.
enum ConnectionLimit {
  /// A browser opens six connections.
  static let most = 128
  /// Connections that the system queues until they are accepted.
  static let backlog: Int32 = 16

  /// A quarter of the files that this process may open: sessions and reports need the others.
  static var ofProcess: Int {
    var limits = rlimit()
    #if canImport(Glibc)
      let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    #else
      let result = getrlimit(RLIMIT_NOFILE, &limits)
    #endif
    guard result == 0 else { return most }
    // On Linux `RLIM_INFINITY` is larger than an Int.
    return max(1, min(most, Int(clamping: limits.rlim_cur) / 4))
  }
}

/// A thread that ends waits when their time is over, and the oldest waits when there are too many.
private final class SilenceWatch: Sendable {
  private struct Wait: Sendable {
    var peer: Socket.Address
    var deadline: Int64
    var end: @Sendable () -> Void
  }

  private struct State: Sendable {
    var waits: [Int: Wait] = [:]
    var next = 0
    var isStopped = false
  }

  /// The longest interval between two checks. A new wait therefore need not wake the thread.
  private static let lookNanosecondsMax: Int64 = 1_000_000_000

  private let nanoseconds: Int64
  private let connectionsMax: Int
  private let peers: AdmittedPeers
  private let state = Locked(State())
  private let condition = ThreadCondition()

  init(seconds: Double, connectionsMax: Int, peers: AdmittedPeers) {
    nanoseconds = Int64(seconds * 1e9)
    (self.connectionsMax, self.peers) = (connectionsMax, peers)
  }

  func start() {
    Thread.detachNewThread { [self] in watch() }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    condition.signal()
  }

  func add(_ peer: Socket.Address, _ end: @escaping @Sendable () -> Void) -> Int {
    let deadline = WallClock().monotonicNanoseconds + nanoseconds
    let (number, surplus) = state.withLock { state in
      state.next += 1
      state.waits[state.next] = Wait(peer: peer, deadline: deadline, end: end)
      return (state.next, takeSurplus(&state))
    }
    // Outside of the lock, because it runs code of the pool.
    surplus?.end()
    return number
  }

  /// The wait that must end so that the limit is kept.
  private func takeSurplus(_ state: inout State) -> Wait? {
    guard state.waits.count > connectionsMax else { return nil }
    // Numbers only rise, so the least one is the oldest, whatever the order of the Dictionary is.
    let strangers = state.waits.filter { !peers.contains($0.value.peer) }
    let oldest = strangers.keys.min() ?? state.waits.keys.min()
    return oldest.flatMap { state.waits.removeValue(forKey: $0) }
  }

  func remove(_ number: Int) {
    state.withLock { $0.waits[number] = nil }
  }

  /// Checks about once per second; ends with `stop`.
  private func watch() {
    let clock = WallClock()
    // With a short limit a silent connection stays a quarter longer at most.
    let look = min(Self.lookNanosecondsMax, max(1, nanoseconds / 4))
    while true {
      let now = clock.monotonicNanoseconds
      let (isStopped, overdue) = state.withLock { state in
        let due = state.waits.filter { $0.value.deadline <= now }
        for number in due.keys { state.waits[number] = nil }
        return (state.isStopped, due.values.map(\.end))
      }
      for end in overdue { end() }
      if isStopped { return }
      clock.wait(untilNanoseconds: now + look, or: condition)
    }
  }
}
