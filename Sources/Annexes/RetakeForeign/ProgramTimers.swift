/// The timers of a whole program in one run. They are due in the order of their times; at the same
/// time, in the order in which they were set.
package struct ProgramTimers {
  /// A timer that is due.
  package struct Due: Hashable {
    var id: Int64
    /// The program's present time; it never decreases.
    var nanoseconds: Int64
  }

  private struct Entry {
    var id: Int64
    var nanoseconds: Int64
    /// Counts all settings.
    var order: Int
  }

  /// How many timers may be set at once.
  static let countMax = 1_000
  /// How many may be due at one instant, one after another.
  static let atInstantMax = 1_000

  private var entries: [Entry] = []
  private var settings = 0
  /// Virtual time of the program.
  private(set) var now = Int64.min
  private var dueAtNow = 0

  /// A frame is given to the program.
  mutating func advance(to nanoseconds: Int64) {
    if nanoseconds > now { dueAtNow = 0 }
    now = max(now, nanoseconds)
  }

  /// Sets a timer, or sets it again. If its time is over, it is due at once.
  mutating func set(_ id: Int64, at nanoseconds: Int64) throws(ForeignFailure) {
    cancel(id)
    guard entries.count < Self.countMax else {
      throw .unexpected("more than \(Self.countMax) timers that are not due yet")
    }
    guard nanoseconds > now || dueAtNow < Self.atInstantMax else {
      throw .endlessTimers(nanoseconds: now)
    }
    settings += 1
    let entry = Entry(id: id, nanoseconds: max(nanoseconds, now), order: settings)
    let place = entries.firstIndex { $0.nanoseconds > entry.nanoseconds } ?? entries.endIndex
    entries.insert(entry, at: place)
  }

  /// A timer that is not set is not an error.
  mutating func cancel(_ id: Int64) { entries.removeAll { $0.id == id } }

  /// The number of settings so far, for `next(of:)`.
  var mark: Int { settings }

  /// The next timer that is due at or before a time.
  mutating func next(upTo nanoseconds: Int64) -> Due? {
    guard let first = entries.first, first.nanoseconds <= nanoseconds else { return nil }
    return take(0)
  }

  /// The next timer that was set up to a mark.
  mutating func next(of mark: Int) -> Due? {
    entries.firstIndex { $0.order <= mark }.map { take($0) }
  }

  private mutating func take(_ place: Int) -> Due {
    let entry = entries.remove(at: place)
    advance(to: entry.nanoseconds)
    dueAtNow += 1
    return Due(id: entry.id, nanoseconds: now)
  }
}
