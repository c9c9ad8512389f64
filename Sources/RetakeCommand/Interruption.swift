import Foundation
import Retake

/// SIGINT, SIGTERM and SIGHUP ask running work to end; a second one ends the process at once.
enum Interruption {
  private static let flag = Locked(false)
  /// A command has begun work that looks at `isRequested`.
  private static let isListening = Locked(false)
  private static let actions = Locked<[@Sendable () -> Void]>([])
  /// What is done for each signal that is caught.
  private static let handlers = Locked<[Int32: @Sendable () -> Void]>([:])

  static var isRequested: Bool { flag.withLock { $0 } }

  /// Calls `action` when the end is asked for, from a thread of its own.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    actions.withLock { $0.append(action) }
    if isRequested { action() }
  }

  /// Calls `action` for each SIGUSR1 from now on, from a thread of its own.
  static func onTrigger(_ action: @escaping @Sendable () -> Void) { handle(SIGUSR1, action) }

  /// Call first of all: from now on a signal ends the process with the documented status, until a
  /// command listens.
  static func begin() {
    for number in [SIGINT, SIGTERM, SIGHUP] where !SignalDisposition.isIgnored(number) {
      handle(number, request)
    }
  }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    isListening.withLock { $0 = true }
    // A program that is started with `nohup` must outlive the terminal.
    let numbers = [SIGINT, SIGTERM] + (SignalDisposition.isIgnored(SIGHUP) ? [] : [SIGHUP])
    for number in numbers { handle(number, request) }
  }

  private static func handle(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    handlers.withLock { $0[number] = action }
    thread
    SignalPipe.catchSignal(number)
  }

  /// The one thread that signals are handled by.
  private static let thread: Void = {
    let thread = Thread {
      // Ends with the process.
      while let number = SignalPipe.next() { handlers.withLock { $0[number] }?() }
    }
    thread.name = "retake.signals"
    thread.start()
  }()

  private static func request() {
    // Nothing that has to be taken back was done before.
    if !isListening.withLock({ $0 }) { _exit(ExitStatus.interrupted.rawValue) }
    let isSecond = flag.withLock { flag in
      defer { flag = true }
      return flag
    }
    if isSecond { _exit(ExitStatus.interrupted.rawValue) }
    // Not on the thread of the signals: an action that takes long would keep a second one waiting.
    Thread.detachNewThread { for action in actions.withLock({ $0 }) { action() } }
  }

  /// Ends this process some time after the end was asked for, even where a thread never answers. Only
  /// for work of which nothing has to be kept.
  static func endAtTheLatest(afterSeconds seconds: Double) {
    onRequest {
      _ = DispatchSemaphore(value: 0).wait(timeout: .now() + seconds)
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Ends this process at once when the one that started it does, which holds the other end of
  /// standard input and never writes. Call once, instead of `listen`.
  static func endWithParent() {
    let thread = Thread {
      var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
      // Ends: a signal to this process is the only reason to try again.
      while poll(&input, 1, -1) < 0, errno == EINTR {}
      _exit(ExitStatus.interrupted.rawValue)
    }
    thread.name = "retake.parent"
    thread.start()
  }
}
