import Foundation
import Retake

/// Handles SIGINT, SIGTERM and SIGHUP as a request to end the work. A second signal ends the
/// process at once.
enum Interruption {
  private static let request = Locked(EndRequest())
  /// Whether a command has begun work that checks `isRequested`.
  private static let isListening = Locked(false)
  /// The action for each signal that is caught.
  private static let handlers = Locked<[Int32: @Sendable () -> Void]>([:])

  static var isRequested: Bool { request.withLock { $0.isMade } }

  /// Calls `action` once, on a separate thread, when an end is requested or if it was.
  static func onRequest(_ action: @escaping @Sendable () -> Void) {
    guard ProcessContext.current.ownsProcess else { return }
    if let action = request.withLock({ $0.add(action) }) { start([action]) }
  }

  /// Calls `action` on a separate thread for each SIGUSR1 from now on.
  static func onTrigger(_ action: @escaping @Sendable () -> Void) { handle(SIGUSR1, action) }

  /// Call this first: from now on a signal ends the process with the documented status, until a
  /// command listens.
  static func begin() {
    for number in [SIGINT, SIGTERM, SIGHUP] where !SignalDisposition.isIgnored(number) {
      handle(number, makeRequest)
    }
  }

  /// Begins to listen. Call once, before long work.
  static func listen() {
    isListening.withLock { $0 = true }
    // A program started with `nohup` must outlive the terminal. The others are caught even if they
    // were ignored: a shell script starts its background jobs with an ignored SIGINT, and
    // `kill -INT` must still close a recording.
    let numbers = [SIGINT, SIGTERM] + (SignalDisposition.isIgnored(SIGHUP) ? [] : [SIGHUP])
    for number in numbers { handle(number, makeRequest) }
  }

  private static func handle(_ number: Int32, _ action: @escaping @Sendable () -> Void) {
    guard ProcessContext.current.ownsProcess else { return }
    // Before the signal is caught, so that a signal that comes at once finds its action.
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

  private static func makeRequest() {
    // Before a command listens, there is no work to undo.
    if !isListening.withLock({ $0 }) { _exit(ExitStatus.interrupted.rawValue) }
    guard let actions = request.withLock({ $0.make() }) else {
      _exit(ExitStatus.interrupted.rawValue)
    }
    start(actions)
  }

  /// Neither on the signal thread, where a long action would delay a second signal, nor on the
  /// caller's, which has work to end.
  private static func start(_ actions: [EndRequest.Action]) {
    Thread.detachNewThread { for action in actions { action() } }
  }

  /// Ends this process some time after an end was requested, even if a thread never responds. Use
  /// it only for work whose results need not be kept.
  static func endAtTheLatest(afterSeconds seconds: Double) {
    onRequest {
      WallClock().wait(nanoseconds: Int64(seconds * 1e9), or: ThreadCondition())
      _exit(ExitStatus.interrupted.rawValue)
    }
  }

  /// Ends this process as soon as its parent ends. The parent holds the other end of standard input
  /// and never writes to it. Call this once, instead of `listen`.
  static func endWithParent() {
    // The pipe closes when the parent ends, whatever ended it, also SIGKILL.
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

/// Whether an end was requested, and the actions that wait for it. Each action is given out once.
struct EndRequest: Sendable {
  typealias Action = @Sendable () -> Void

  private(set) var isMade = false
  private var actions: [Action] = []

  /// Returns the action if it has to run now, because an end was requested before.
  mutating func add(_ action: @escaping Action) -> Action? {
    if isMade { return action }
    actions.append(action)
    return nil
  }

  /// Returns the actions that have to run now; `nil` for a second request.
  mutating func make() -> [Action]? {
    guard !isMade else { return nil }
    isMade = true
    defer { actions = [] }
    return actions
  }
}
