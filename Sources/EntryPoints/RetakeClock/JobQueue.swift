/// The jobs that can run, in the order in which they were enqueued. Priorities do not change it.
struct JobQueue {
  enum Entry {
    case job(UnownedJob)
    /// A job of the main actor, which the main thread runs.
    case main(UnownedJob)
    case cancelBody

    var job: UnownedJob? {
      switch self {
      case .job(let job), .main(let job): job
      case .cancelBody: nil
      }
    }
  }

  private var entries: [Entry] = []
  private var head = 0

  mutating func append(_ entry: Entry) { entries.append(entry) }

  mutating func removeFirst() -> Entry? {
    guard head < entries.count else {
      entries.removeAll(keepingCapacity: true)
      head = 0
      return nil
    }
    head += 1
    return entries[head - 1]
  }

  mutating func removeAll() -> [Entry] {
    defer { (entries, head) = ([], 0) }
    return Array(entries[head...])
  }
}
