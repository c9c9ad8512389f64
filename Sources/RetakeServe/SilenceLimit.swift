import FlyingSocks
import Foundation
import Retake

/// Sockets that wait no longer than a limit for the other end: who says nothing for so long, or
/// takes nothing, is hung up on. The listening socket waits for ever.
struct SilenceLimit: AsyncSocketPool {
  /// Seconds of silence that end a connection.
  static let secondsStandard = 15.0

  private let base: any AsyncSocketPool
  private let watch: SilenceWatch

  init(_ base: some AsyncSocketPool, seconds: Double) {
    self.base = base
    watch = SilenceWatch(seconds: seconds)
  }

  func prepare() async throws { try await base.prepare() }

  func run() async throws {
    watch.start()
    defer { watch.stop() }
    try await base.run()
  }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    guard (try? socket.remotePeer()) != nil else {
      return try await base.suspendSocket(socket, untilReadyFor: events)
    }
    let base = base
    let wait = Task { try await base.suspendSocket(socket, untilReadyFor: events) }
    let number = watch.add { wait.cancel() }
    defer { watch.remove(number) }
    try await withTaskCancellationHandler {
      try await wait.value
    } onCancel: {
      wait.cancel()
    }
  }
}

/// One thread that ends waits when their time is over.
private final class SilenceWatch: Sendable {
  private struct Wait: Sendable {
    var deadline: Int64
    var end: @Sendable () -> Void
  }

  private struct State: Sendable {
    var waits: [Int: Wait] = [:]
    var next = 0
    var isStopped = false
  }

  /// Between two looks when nothing is due, so that a new wait needs to wake nobody.
  private static let lookNanosecondsMax: Int64 = 1_000_000_000

  private let nanoseconds: Int64
  private let state = Locked(State())
  private let bell = Bell()

  init(seconds: Double) {
    nanoseconds = Int64(seconds * 1e9)
  }

  func start() {
    Thread.detachNewThread { [self] in watch() }
  }

  func stop() {
    state.withLock { $0.isStopped = true }
    bell.ring()
  }

  func add(_ end: @escaping @Sendable () -> Void) -> Int {
    let deadline = WallClock().monotonicNanoseconds + nanoseconds
    return state.withLock { state in
      state.next += 1
      state.waits[state.next] = Wait(deadline: deadline, end: end)
      return state.next
    }
  }

  func remove(_ number: Int) {
    state.withLock { $0.waits[number] = nil }
  }

  /// Looks about once a second; ends with `stop`.
  private func watch() {
    let clock = WallClock()
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
      clock.wait(untilNanoseconds: now + look, or: bell)
    }
  }
}
