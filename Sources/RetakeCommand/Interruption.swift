import Foundation
import Retake

/// Handles SIGINT, SIGTERM and SIGHUP as a request to end the work. A second signal ends the
/// process at once.
enum Interruption {
  private static let flag = Locked(false)
  /// Whether a command has begun work that checks `isRequested`.
  private static let isListening = Locked(false)
  private static let actions = Locked<[@Sendable () -> Void]>([])
  /// The action for each signal that is caught.
  private static let handlers = Locked<[Int32: @Sendable () -> Void]>([:])

  static var isRequested: Bool { flag.withLock { $0 } }

  /// Calls `action` on a separate thread when an end is requested.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    // The request may have come before the action was added. If it comes just now the action runs
    // twice, which every action must allow.
    if isRequested { action() }
  }

  /// Calls `action` on a separate thread for each SIGUSR1 from now on.
  static func onTrigger(_ action: @escaping @Sendable () -> Void) { handle(SIGUSR1, action) }

  /// Call this first: from now on a signal ends the process with the documented status, until a
  /// command listens.
  static func begin() {
    for number in [SIGINT, SIGTERM, SIGHUP] where !SignalDisposition.isIgnored(number) {
      handle(number, request)
    }
  }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    isListening.withLock { $0 = true }
    // A program started with `nohup` must outlive the terminal.
    let numbers = [SIGINT, SIGTERM] + (SignalDisposition.isIgnored(SIGHUP) ? [] : [SIGHUP])
    for number in numbers { handle(number, request) }
  }

  private static func handle(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    // Before the signal is caught, so that one that comes at once finds its action.
    handlers.withLock { $0[number] = action }
    thread
    SignalPipe.catchSignal(number)
  }

  /// The single thread that handles signals.
  private static let thread: Void = {
    let thread = Thread {
      // Ends with the process.
      while let number = SignalPipe.next() { handlers.withLock { $0[number] }?() }
    }
    thread.name = "retake.signals"
    thread.start()
  }()

  private static func request() {
    // Before a command listens, nothing has been done that must be undone.
    if !isListening.withLock({ $0 }) { _exit(ExitStatus.interrupted.rawValue) }
    let isSecond = flag.withLock { flag in
      defer { flag = true }
      return flag
    }
    if isSecond { _exit(ExitStatus.interrupted.rawValue) }
    // Not on the signal thread: a long action would delay a second signal.
    Thread.detachNewThread { for action in actions.withLock({ $0 }) { action() } }
  }

  /// Ends this process some time after an end was requested, even if a thread never responds. Use
  /// it only for work whose results need not be kept.
  static func endAtTheLatest(afterSeconds seconds: Double) {
    onRequest {
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Ends this process as soon as its parent ends. The parent holds the other end of standard input
  /// and never writes to it. Call this once, instead of `listen`.
  static func endWithParent() {
    // A closed pipe tells this process of the parent's end however it came, also by SIGKILL.
    let thread = Thread {
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      // Ends: only a signal to this process causes another round.
      while poll(&input, 1, -1) < 0, errno == EINTR {}
      _exit(ExitStatus.interrupted.rawValue)
    }
    thread.name = "retake.parent"
    thread.start()
  }
}
