import RetakeCore
import RetakeStore

/// Another process has locked the session's database, and the rows wait.
struct DatabaseWait: Hashable, Sendable {
  /// On the session's time line.
  var since: Int64
  var holder: LockHolder?

  /// `python3 (process 4711)`
  var words: String { holder.map { "\($0)" } ?? "another program" }

  /// An event that reports, after the wait, which process it was and how long it took.
  func event(at time: Int64) -> EventRecord {
    var members: [String: JSONValue] = ["nanoseconds": .integer(max(0, time - since))]
    if let holder {
      members["process"] = .integer(Int64(holder.process))
      if let program = holder.program { members["program"] = .string(program) }
    }
    return EventRecord(
      ordinal: 0, timeNanoseconds: time, source: "recorder", kind: "database.held",
      json: JSONValue.object(members).canonicalText)
  }
}
