import Foundation

/// A trace in the Trace Event Format, parsed strictly: its content, and where it violates the
/// format.
package struct TraceFile {
  /// One event, as it is on its line.
  package struct Event {
    package var phase: String
    package var name: String
    package var category: String
    package var process: Int
    package var thread: Int
    /// In nanoseconds; `nil` for names and positions.
    package var time: Int64?
    /// Of a span.
    package var id: String?
    /// Strings and numbers, as strings.
    package var arguments: [String: String]
  }

  package private(set) var events: [Event] = []
  package private(set) var about: [String: String] = [:]
  package private(set) var problems: [String] = []

  package init(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    guard let document = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      document.keys.sorted() == ["otherData", "traceEvents"],
      let listed = document["traceEvents"] as? [[String: Any]],
      let about = document["otherData"] as? [String: String]
    else {
      problems.append("the document is no object of traceEvents and otherData")
      return
    }
    self.about = about
    // One event per line: the digits of a time are exact, a parsed number is not.
    let lines = text.split(separator: "\n").filter { $0.hasPrefix("{\"ph\"") }
    guard lines.count == listed.count else {
      problems.append("\(listed.count) events on \(lines.count) lines")
      return
    }
    for (line, members) in zip(lines, listed) { read(members, line: String(line)) }
    checkRows()
    checkSlices()
    checkSpans()
    checkCounters()
  }

  private mutating func read(_ members: [String: Any], line: String) {
    guard let phase = members["ph"] as? String, let name = members["name"] as? String,
      let category = members["cat"] as? String, let process = members["pid"] as? Int,
      let thread = members["tid"] as? Int, process > 0, thread > 0, !name.isEmpty,
      !category.isEmpty
    else {
      problems.append("an event without ph, name, cat, pid or tid: \(line)")
      return
    }
    let known: [String: Set<String>] = [
      "M": [], "B": ["ts"], "E": ["ts"], "C": ["ts"], "i": ["ts", "s"], "b": ["ts", "id"],
      "n": ["ts", "id"], "e": ["ts", "id"],
    ]
    guard let own = known[phase],
      Set(members.keys).subtracting(["args"]) == own.union(["ph", "name", "cat", "pid", "tid"])
    else {
      problems.append("an event with the wrong members: \(line)")
      return
    }
    let arguments = members["args"] as? [String: Any] ?? [:]
    if arguments.values.contains(where: { !($0 is String) && !($0 is Int) }) {
      problems.append("an argument that is neither a text nor a whole number: \(line)")
    }
    var time: Int64?
    if own.contains("ts") {
      guard let match = line.firstMatch(of: /"ts":(\d+)\.(\d{3}),/),
        let nanoseconds = Int64(match.1 + match.2)
      else {
        problems.append("a time without three decimals: \(line)")
        return
      }
      time = nanoseconds
    }
    events.append(
      Event(
        phase: phase, name: name, category: category, process: process, thread: thread,
        time: time, id: members["id"] as? String,
        arguments: arguments.mapValues { "\($0)" }))
  }

  /// Names come first, a thread belongs to one process, and every used row has a name.
  private mutating func checkRows() {
    var processOfThread: [Int: Int] = [:]
    var named: Set<Int> = []
    var order: [Int: Int] = [:]
    var isPastNames = false
    for event in events {
      if event.phase == "M" {
        if isPastNames { problems.append("a name after the first event: \(event.name)") }
        if event.name == "thread_name" { named.insert(event.thread) }
        if event.name == "process_name" { named.insert(event.process) }
        if event.name == "thread_sort_index" {
          let index = Int(event.arguments["sort_index"] ?? "") ?? 0
          if index <= order[event.process] ?? 0 { problems.append("rows out of order") }
          order[event.process] = index
        }
      } else {
        isPastNames = true
        if !named.contains(event.thread) { problems.append("thread \(event.thread) has no name") }
      }
      if processOfThread.updateValue(event.process, forKey: event.thread) ?? event.process
        != event.process
      {
        problems.append("thread \(event.thread) is in two processes")
      }
    }
  }

  /// On each thread, times never decrease and slices are properly nested, each ended by its own
  /// name.
  private mutating func checkSlices() {
    var last: [Int: Int64] = [:]
    var open: [Int: [Event]] = [:]
    for event in events {
      guard let time = event.time else { continue }
      if time < last[event.thread] ?? 0 {
        problems.append("time falls on thread \(event.thread) at \(time)")
      }
      last[event.thread] = time
      if event.phase == "B" { open[event.thread, default: []].append(event) }
      guard event.phase == "E" else { continue }
      let begun = open[event.thread]?.popLast()
      if begun?.name != event.name || begun?.category != event.category {
        problems.append("'\(event.name)' ends where '\(begun?.name ?? "nothing")' is open")
      }
    }
    for slice in open.values.joined() { problems.append("'\(slice.name)' never ends") }
  }

  /// Spans with the same id are properly nested, and marks are inside them.
  private mutating func checkSpans() {
    var open: [String: [Event]] = [:]
    for event in events {
      guard let id = event.id else { continue }
      switch event.phase {
      case "b": open[id, default: []].append(event)
      case "n":
        if open[id]?.isEmpty ?? true { problems.append("a mark outside of its span: \(id)") }
      default:
        if open[id]?.popLast()?.name != event.name { problems.append("span \(id) ends wrongly") }
      }
    }
    for span in open.values.joined() { problems.append("span \(span.name) never ends") }
  }

  /// A counter has a new value each time, once per instant.
  private mutating func checkCounters() {
    var last: [String: Event] = [:]
    for event in events where event.phase == "C" {
      if event.arguments.count != 1 { problems.append("a counter has one value: \(event.name)") }
      let before = last.updateValue(event, forKey: event.name)
      if before?.arguments == event.arguments || before?.time == event.time && before != nil {
        problems.append("'\(event.name)' says the same twice, or two things at once")
      }
    }
  }
}

extension TraceFile {
  /// The value of a counter at the end of an instant.
  package func count(_ name: String, at time: Int64) -> Int? {
    events.last { $0.phase == "C" && $0.name == name && $0.time ?? 0 <= time }
      .flatMap { $0.arguments.values.first }.flatMap { Int($0) }
  }

  package func names(_ phase: String) -> [String] {
    events.filter { $0.phase == phase }.map(\.name)
  }
}
