/// The reason why a scope of virtual time failed. The description names a remedy.
public enum VirtualTimeError: Error, Hashable, Sendable {
  /// The Swift runtime of this process has no such symbol, so that jobs cannot be ordered.
  case unsupportedRuntime(symbol: String)
  /// A scope was opened within a scope.
  case nested
  /// The system could not create a thread; the text is its reason.
  case noThread(reason: String)
  /// The scope has ended, and with it its clock.
  case ended
  /// The body returned while sleeps were pending.
  case sleepsNeverWoke([PendingSleep], at: VirtualClock.Instant)
  /// The body returned and no sleep is pending, but at least one task of the scope has not ended.
  case tasksOutlive(at: VirtualClock.Instant)
  /// The body waits for an event that does not come.
  case stuck(at: VirtualClock.Instant)
  /// More jobs ran at one instant than the limit permits. The tasks are the tasks of the last jobs.
  case tooManyJobs(limit: Int, at: VirtualClock.Instant, tasks: [String])
  /// Virtual time went further than the limit permits.
  case tooLong(limit: Duration, pending: [PendingSleep])
  /// Something outside of virtual time resumed these tasks, at an instant that depends on chance.
  case resumedFromOutside(tasks: [String], at: VirtualClock.Instant)
  /// The main thread did not run a job of the main actor within `VirtualTimeLimits.patience`.
  case mainThreadBusy(at: VirtualClock.Instant)
}

extension VirtualTimeError: CustomStringConvertible {
  /// The problem, its instant, and the remedy.
  public var description: String {
    switch self {
    case .unsupportedRuntime(let symbol):
      return
        "virtual time needs \(symbol), which this Swift runtime does not have; use Swift 6.2 or newer"
    case .nested:
      return "withVirtualTime was called within withVirtualTime; use the clock of the outer one"
    case .noThread(let reason):
      return "no thread for virtual time: \(reason); end programs or raise the limit of threads"
    case .ended:
      return "a clock was used after its withVirtualTime had returned; make one scope of both parts"
    case .sleepsNeverWoke(let sleeps, let now):
      return
        "\(sleeps.count == 1 ? "1 sleep" : "\(sleeps.count) sleeps") never woke before the scope "
        + "ended at \(now): \(Self.list(sleeps)). Run the time further, or cancel the tasks that sleep"
    case .tasksOutlive(let now):
      return
        "a task that the scope started had not ended when the scope ended at \(now), and does not "
        + "sleep. Cancel it, finish the stream that it reads, or await it in the body"
    case .stuck(let now):
      return "no task can run at \(now): there is no job and no sleep, and the body waits. "
        + "Resume the continuation or finish the stream that it awaits"
    case .tooManyJobs(let limit, let now, let tasks):
      return "more than \(limit) jobs ran at \(now) without time passing; the last were of "
        + "\(tasks.joined(separator: ", ")). Let the loop sleep, or raise jobsPerInstantMax"
    case .tooLong(let limit, let pending):
      return "virtual time went further than \(limit.brief)"
        + (pending.isEmpty ? "" : "; still pending: \(Self.list(pending))")
        + ". End the timers, or raise durationMax"
    case .resumedFromOutside(let tasks, let now):
      return
        "\(tasks.joined(separator: ", ")): resumed from outside of virtual time, first at \(now), "
        + "which depends on chance. Replace Task.sleep, and Task.yield in tasks that an actor starts, by "
        + "a sleep of the scope's clock, and waits for Dispatch, a thread or another actor by "
        + "a value of the test"
    case .mainThreadBusy(let now):
      return
        "the main thread did not run a job of the main actor at \(now). Find out why it is blocked; a "
        + "program must serve its main queue"
    }
  }

  private static let listedMax = 8

  private static func list(_ sleeps: [PendingSleep]) -> String {
    let listed = sleeps.prefix(listedMax).map(\.description).joined(separator: "; ")
    return sleeps.count > listedMax ? "\(listed); and \(sleeps.count - listedMax) more" : listed
  }
}
