import RetakeCompare
import RetakeCore

/// Reads numbers of frames: a line `frame,bpm` or `time_s,bpm,…`, then a line for each frame or
/// time.
///
/// A time belongs to the frame that is nearest to it; of several times, the frame has the number of
/// the nearest one.
struct ScalarTable {
  /// Nanoseconds by the name of the first column.
  private static let units: [String: Double] = [
    "time_s": 1e9, "time_ms": 1e6, "time_us": 1e3, "time_ns": 1,
  ]

  let file: String
  let firstFrame: Int?

  static func isHeader(_ line: ArraySlice<UInt8>) -> Bool {
    let names = fields(String(decoding: line, as: UTF8.self))
    return names.count > 1 && (names[0] == "frame" || names[0].hasPrefix("time"))
  }

  func read(_ bytes: [UInt8], into builder: inout LabelBuilder) throws {
    var lines = String(decoding: bytes, as: UTF8.self).split(
      omittingEmptySubsequences: false, whereSeparator: \.isNewline
    ).enumerated().map { (number: $0 + 1, text: String($1)) }[...]
    let names = Self.fields(lines.popFirst()?.text ?? "")
    try check(names)
    /// By frame: how far the nearest time is.
    var distances: [Int: Int64] = [:]
    for line in lines where !line.text.allSatisfy(\.isWhitespace) {
      let fields = Self.fields(line.text)
      guard fields.count == names.count else {
        throw LabelError.line(
          file, line.number, "\(counted(fields.count, "column")), and the header has \(names.count)"
        )
      }
      let place = "line \(line.number)"
      let (sequence, distance) = try frame(fields[0], names[0], line.number, builder.footage)
      if names[0] == "frame", distances[sequence] != nil {
        throw LabelError.line(file, line.number, "the frame \(fields[0]) is there twice")
      }
      guard distance < distances[sequence] ?? .max else { continue }
      distances[sequence] = distance
      for (name, field) in zip(names, fields).dropFirst() where !field.isEmpty {
        guard let value = Double(field), value.isFinite else {
          throw LabelError.line(file, line.number, "'\(field.shortened)' is not a finite number")
        }
        let id = FrameID(track: builder.footage.track, sequence: sequence)
        try builder.add(name, value, to: id, place: place)
      }
    }
  }

  private func check(_ names: [String]) throws {
    guard names.count > 1, names[0] == "frame" || Self.units[names[0]] != nil else {
      throw LabelError.line(
        file, 1, "a table begins with the names of its columns, first 'frame' or a time",
        advice: "Name the unit of times: time_s, time_ms, time_us or time_ns")
    }
    guard Set(names).count == names.count, !names.contains("") else {
      throw LabelError.line(file, 1, "each column needs a name of its own")
    }
    guard names[0] == "frame" || firstFrame == nil else {
      throw LabelError.unclear(
        file, "the table has times, so it numbers no frames", advice: "Leave out --first-frame")
    }
  }

  private func frame(
    _ field: String, _ column: String, _ line: Int, _ footage: LabelFootage
  ) throws -> (sequence: Int, distance: Int64) {
    guard let unit = Self.units[column] else {
      guard let number = Int(field) else {
        throw LabelError.line(file, line, "'\(field.shortened)' is not the number of a frame")
      }
      return (number - (firstFrame ?? 0), 0)
    }
    guard let value = Double(field), let time = Int64(exactly: (value * unit).rounded()),
      time.magnitude <= 1 << 62
    else { throw LabelError.line(file, line, "'\(field.shortened)' is not a time") }
    let times = footage.times
    // Half of the distance of two frames before the first and after the last.
    let reach = times.count > 1 ? ((times.last ?? 0) - times[0]) / Int64(2 * (times.count - 1)) : 0
    guard let first = times.first, let last = times.last, time >= first - reach,
      time <= last + reach
    else {
      throw LabelError.other(
        file,
        "line \(line): no frame is at \(Duration.nanoseconds(time).unitText): the session is "
          + "\(Duration.nanoseconds(times.last ?? 0).unitText) long",
        advice: "Count times from the session's first frame")
    }
    var range = 0..<times.count
    // Ends: each round halves the range.
    while range.count > 1 {
      let middle = range.lowerBound + range.count / 2
      if times[middle] <= time {
        range = middle..<range.upperBound
      } else {
        range = range.lowerBound..<middle
      }
    }
    let before = range.lowerBound
    let next = min(before + 1, times.count - 1)
    let (left, right) = (abs(time - times[before]), abs(times[next] - time))
    return right < left ? (next, right) : (before, left)
  }

  private static func fields(_ line: String) -> [String] {
    line.split(separator: ",", omittingEmptySubsequences: false).map { field in
      var text = field.drop { $0.isWhitespace }
      while text.last?.isWhitespace == true { text = text.dropLast() }
      return String(text)
    }
  }
}
