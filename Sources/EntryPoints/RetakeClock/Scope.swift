import Synchronization

/// One scope of virtual time: its jobs, its timeline, and the thread that runs them one after
/// another.
///
/// The thread runs jobs until no job is ready, then performs the next step of the timeline, and
/// repeats. Everything that the scope's tasks do is thus a function of the code alone.
final class Scope: TaskExecutor {
  /// The task-local value that all tasks of a scope inherit; it is released when the last of them
  /// ends.
  final class Mark: Sendable {
    let scope: Scope

    init(_ scope: Scope) { self.scope = scope }

    deinit { scope.condition.signal() }
  }

  @TaskLocal static var mark: Mark?

  private static let opened = Mutex<Scope?>(nil)

  /// The scope whose turn it is.
  static var open: Scope? { opened.withLock { $0 } }

  private struct State {
    var isOpen = true
    var membership = Membership()
    var jobs = JobQueue()
    var timeline = Timeline()
    /// The thread that runs a job of the scope just now.
    var thread: UInt?
    var jobsAtInstant = 0
    /// The tasks of the latest jobs, for a failure.
    var latest: [UInt64] = []
    var names: [UInt64: String] = [:]
    var body = Body.running
    var cancelBody: (@Sendable () -> Void)?
    weak var mark: Mark?
    /// The tasks that code outside of the scope resumed, and the instant of the first resumption.
    var strays: [UInt64] = []
    var strayedAt: VirtualClock.Instant?

    /// Returns how many jobs have run at this instant.
    mutating func count(_ entry: JobQueue.Entry, hooks: RuntimeHooks) -> Int {
      jobsAtInstant += 1
      let number = entry.job.map(hooks.number) ?? 0
      if number != 0 { latest.append(number) }
      if latest.count > Scope.latestMax { latest.removeFirst() }
      return jobsAtInstant
    }

    func name(of task: UInt64) -> String {
      // Not a task's job: an actor's.
      if task == 0 { return "an actor" }
      return names[task].map { "\($0) (task \(task))" } ?? "task \(task)"
    }
  }

  private enum Body { case running, returned, failed }

  private static let latestMax = 16
  private static let straysMax = 8

  private let hooks: RuntimeHooks
  private let limits: VirtualTimeLimits
  private let state = Mutex(State())
  /// Signaled when work arrives from outside of the driver's thread, and when the last task has
  /// ended.
  private let condition = ScopeCondition()
  private let mainCondition = ScopeCondition()

  init(hooks: RuntimeHooks, limits: VirtualTimeLimits) {
    self.hooks = hooks
    self.limits = limits
  }

  // MARK: - Jobs

  /// The jobs of tasks that prefer this executor: the body and its structured children.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let number = hooks.number(of: job)
    let isTaken = state.withLock { state in
      guard state.isOpen else { return false }
      // The body's first job comes from its caller.
      let isExpected = state.membership.isEmpty || state.thread == DriverThread.current
      if !isExpected { note(stray: number, in: &state) }
      if number != 0 { state.membership.add(number) }
      state.jobs.append(.job(job))
      return true
    }
    guard isTaken else { return globalConcurrentExecutor.enqueue(job) }
    condition.signal()
  }

  /// Whether the calling thread runs a task of this scope.
  var isCurrent: Bool {
    guard let task = hooks.currentNumber() else { return false }
    return isMember(task)
  }

  private func isMember(_ task: UInt64) -> Bool {
    if state.withLock({ $0.membership.contains(task) }) { return true }
    // A task that began in an actor was not seen when it was created, but it inherited the mark.
    guard Self.mark?.scope === self else { return false }
    state.withLock { $0.membership.add(task) }
    return true
  }

  /// Adds an enqueued job to the scope's queue if the job belongs to the scope; see `Membership`.
  /// Returns false if the job does not belong to the scope.
  func takes(_ job: UnownedJob, onMain: Bool = false) -> Bool {
    let number = hooks.number(of: job)
    var enqueuer = Membership.Enqueuer.noTask
    if let task = hooks.currentNumber() {
      enqueuer = .task(task)
      _ = isMember(task)
    }
    let thread = DriverThread.current
    let verdict = state.withLock { state -> Membership.Verdict in
      guard state.isOpen else { return .pass }
      let isInside = state.thread == thread
      let verdict = state.membership.verdict(job: number, by: enqueuer, isInside: isInside)
      if verdict == .pass { return verdict }
      if verdict == .takeFromOutside { note(stray: number, in: &state) }
      state.jobs.append(onMain ? .main(job) : .job(job))
      return verdict
    }
    if verdict == .takeFromOutside { condition.signal() }
    return verdict != .pass
  }

  private func note(stray number: UInt64, in state: inout State) {
    if state.strayedAt == nil { state.strayedAt = state.timeline.now }
    guard state.strays.count < Self.straysMax, !state.strays.contains(number) else { return }
    state.strays.append(number)
  }

  // MARK: - Virtual time

  var now: VirtualClock.Instant { state.withLock { $0.timeline.now } }

  var pendingSleeps: [PendingSleep] { state.withLock { $0.timeline.pendingSleeps } }

  /// The number of a sleep that is about to begin.
  ///
  /// - Throws: `VirtualTimeError.ended` if the scope has ended.
  func newSleep(name: String?, until deadline: VirtualClock.Instant) throws(VirtualTimeError) -> Int
  {
    let task = hooks.currentNumber() ?? 0
    let isKnown = isCurrent
    let thread = DriverThread.current
    let order = state.withLock { state -> Int? in
      guard state.isOpen else { return nil }
      if let name { state.names[task] = name }
      // The task is a task of the scope that continued elsewhere, or a task outside of the scope.
      if !isKnown || state.thread != thread { note(stray: task, in: &state) }
      return state.timeline.newSleep(name: name ?? "task \(task)", until: deadline)
    }
    guard let order else { throw .ended }
    return order
  }

  func sleep(_ order: Int, _ wake: Timeline.Wake) {
    let (hasBegun, isInside) = state.withLock {
      ($0.timeline.begin(order, wake), $0.thread == DriverThread.current)
    }
    if !hasBegun { wake.resume(throwing: CancellationError()) }
    if !isInside { condition.signal() }
  }

  func cancelSleep(_ order: Int) {
    state.withLock { $0.timeline.cancel(order) }?.resume(throwing: CancellationError())
  }

  /// Returns when virtual time has reached `instant`, or for `nil` the next instant at which
  /// something is due, and all that is due there has come to rest.
  func run(until instant: VirtualClock.Instant?) async -> VirtualClock.Instant? {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if state.isOpen { state.timeline.run(until: instant, continuation) }
        return state.isOpen
      }
      if !isOpen { continuation.resume(returning: nil) }
    }
  }

  /// Delivers from `first` on. After the scope's end there is only the end.
  func add(_ feed: Timeline.Feed, first: VirtualClock.Instant) {
    let isOpen = state.withLock { state in
      if state.isOpen { state.timeline.add(feed: feed, first: first) }
      return state.isOpen
    }
    if !isOpen { feed.end() }
  }

  // MARK: - The body

  /// Runs `body`, and everything that it starts, in virtual time. The caller holds the `ScopeLock`.
  func run<Value: Sendable>(
    _ body: @escaping @Sendable (VirtualTime) async throws -> Value
  ) async throws -> Value {
    let outcome = Outcome<Value>()
    Self.opened.withLock { $0 = self }
    hooks.install()
    let task = Task(executorPreference: self) {
      do {
        outcome.set(.success(try await self.marked(body)))
        self.bodyHas(.returned)
      } catch {
        outcome.set(.failure(error))
        self.bodyHas(.failed)
      }
    }
    state.withLock { $0.cancelBody = { task.cancel() } }
    let failure = await ending()
    let value = try outcome.result?.get()
    if let failure { throw failure }
    guard let value else { preconditionFailure("a scope ends with its body or with a failure") }
    return value
  }

  private func marked<Value: Sendable>(
    _ body: @Sendable (VirtualTime) async throws -> Value
  ) async throws -> Value {
    let mark = Mark(self)
    state.withLock { $0.mark = mark }
    return try await Self.$mark.withValue(mark) { try await body(VirtualTime(scope: self)) }
  }

  private func bodyHas(_ ended: Body) { state.withLock { $0.body = ended } }

  private func ending() async -> VirtualTimeError? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        do throws(VirtualTimeError) {
          try DriverThread.start {
            let failure = self.drive()
            self.close(after: failure)
            continuation.resume(returning: failure)
          }
        } catch {
          close(after: error)
          continuation.resume(returning: error)
        }
      }
    } onCancel: {
      state.withLock { $0.jobs.append(.cancelBody) }
      condition.signal()
    }
  }

  // MARK: - The driver

  /// Returns when the scope has ended, with the reason if it is not as it should be.
  private func drive() -> VirtualTimeError? {
    state.withLock { $0.thread = DriverThread.current }
    // Ends: with the body, or at a limit of jobs, of virtual time or of patience.
    while true {
      if let failure = runJobs() { return failure }
      if state.withLock({ $0.body != .running }) { return rest() }
      if let failure = step() { return failure }
    }
  }

  /// Runs jobs until the queue is empty.
  private func runJobs() -> VirtualTimeError? {
    // Ends: at the limit of jobs, because time does not pass here.
    while true {
      let next = state.withLock { state in
        state.jobs.removeFirst().map { (entry: $0, count: state.count($0, hooks: hooks)) }
      }
      guard let next else { return nil }
      guard next.count <= limits.jobsPerInstantMax else { return tooManyJobs() }
      switch next.entry {
      // The scope is the task executor even of tasks that do not prefer it: the runtime enqueues
      // their `Task.yield` on the current task executor, and without one on Swift's pool, past the
      // hook.
      case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
      case .main(let job): if let failure = runOnMain(job) { return failure }
      case .cancelBody: state.withLock { $0.cancelBody }?()
      }
    }
  }

  /// The main thread runs the job; the scope waits, so that its order stays.
  private func runOnMain(_ job: UnownedJob) -> VirtualTimeError? {
    let driver = DriverThread.current
    VirtualMainExecutor.onMain { [self] in
      state.withLock { $0.thread = DriverThread.current }
      job.runSynchronously(
        isolatedTo: VirtualMainExecutor.reference, taskExecutor: asUnownedTaskExecutor())
      state.withLock { $0.thread = driver }
      mainCondition.signal()
    }
    return mainCondition.wait(atMost: limits.patience) ? nil : .mainThreadBusy(at: now)
  }

  /// No job can run: performs the next step of the timeline.
  private func step() -> VirtualTimeError? {
    let last = VirtualClock.Instant.zero.advanced(by: limits.durationMax)
    let next = state.withLock { state in
      let before = state.timeline.now
      let next = state.timeline.next(notBeyond: last)
      if state.timeline.now != before { state.jobsAtInstant = 0 }
      return next
    }
    switch next {
    case .wake(let wake): wake.resume()
    case .deliver(let order, let feed):
      let again = feed.deliver()
      state.withLock { $0.timeline.again(order: order, at: again) }
    case .resume(let continuation, let instant): continuation.resume(returning: instant)
    case .beyond: return .tooLong(limit: limits.durationMax, pending: pendingSleeps)
    case .idle:
      if !condition.wait(atMost: limits.patience) { return strayed() ?? .stuck(at: now) }
    }
    return nil
  }

  private func tooManyJobs() -> VirtualTimeError {
    state.withLock { state in
      var tasks: [String] = []
      for task in state.latest where !tasks.contains(state.name(of: task)) {
        tasks.append(state.name(of: task))
      }
      return .tooManyJobs(
        limit: limits.jobsPerInstantMax, at: state.timeline.now, tasks: tasks)
    }
  }

  // MARK: - The end

  /// The body has ended: runs the ready jobs and, unless the body threw, waits for all tasks to
  /// end.
  private func rest() -> VirtualTimeError? {
    for feed in state.withLock({ $0.timeline.takeFeeds() }) { feed.end() }
    if let failure = runJobs() { return failure }
    guard state.withLock({ $0.body == .returned }) else { return nil }
    let sleeps = pendingSleeps
    // Ends: at the limit of jobs or of patience, or when all tasks have ended.
    while sleeps.isEmpty, state.withLock({ $0.mark != nil }) {
      guard condition.wait(atMost: limits.patience) else {
        return strayed() ?? VirtualTimeError.tasksOutlive(at: now)
      }
      if let failure = runJobs() { return failure }
    }
    return strayed() ?? (sleeps.isEmpty ? nil : .sleepsNeverWoke(sleeps, at: now))
  }

  private func strayed() -> VirtualTimeError? {
    state.withLock { state in
      guard let instant = state.strayedAt else { return nil }
      return .resumedFromOutside(tasks: state.strays.map { state.name(of: $0) }, at: instant)
    }
  }

  /// From here on, jobs go where they would go without a scope.
  private func close(after failure: VirtualTimeError?) {
    Self.opened.withLock { $0 = nil }
    hooks.uninstall()
    let left = state.withLock { state in
      state.isOpen = false
      state.cancelBody = nil
      return state.jobs.removeAll()
    }
    // Jobs that a limit stopped would run without an order, perhaps for ever: they are dropped.
    if let failure, failure.stopsJobs { return }
    for entry in left { hand(over: entry) }
  }

  /// Enqueues a job that arrived at the last moment on the executor that it would have without a
  /// scope.
  private func hand(over entry: JobQueue.Entry) {
    switch entry {
    case .job(let job): globalConcurrentExecutor.enqueue(job)
    case .main(let job): MainActor.shared.enqueue(job)
    case .cancelBody: break
    }
  }
}

extension VirtualTimeError {
  /// Whether the scope stopped although jobs were ready; these jobs are dropped.
  fileprivate var stopsJobs: Bool {
    switch self {
    case .tooManyJobs, .mainThreadBusy, .noThread: true
    default: false
    }
  }
}

/// The value that the body of a scope returned, or the error that it threw.
private final class Outcome<Value: Sendable>: Sendable {
  private let stored = Mutex<Result<Value, any Error>?>(nil)

  var result: Result<Value, any Error>? { stored.withLock { $0 } }

  func set(_ result: Result<Value, any Error>) { stored.withLock { $0 = result } }
}
