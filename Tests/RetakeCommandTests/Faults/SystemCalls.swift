import Foundation
import Retake

/// A system call of a program, as seen by strace.
struct SystemCall: Sendable {
  enum Argument: Hashable, Sendable {
    /// The file of a descriptor, or a quoted string.
    case descriptor(path: String)
    case bytes([UInt8])
    case other(String)
  }

  var thread: Int
  var name: String
  var arguments: [Argument]
  var result: Int

  /// The calls that change a file or make it durable.
  static let changing = [
    "write", "pwrite64", "fdatasync", "fsync", "rename", "ftruncate", "unlink",
  ]
  /// These, and the calls that also decide which files exist.
  static let traced = changing + ["openat", "mkdir", "rmdir"]

  /// The file of the call: the file of its descriptor, or the first path in its arguments.
  var path: String? {
    for argument in arguments {
      switch argument {
      case .descriptor(let path) where name != "openat": return path
      case .bytes(let bytes) where name != "write": return String(decoding: bytes, as: UTF8.self)
      default: continue
      }
    }
    return nil
  }

  func text(_ place: Int) -> String {
    guard arguments.indices.contains(place) else { return "" }
    switch arguments[place] {
    case .descriptor(let path): return path
    case .bytes(let bytes): return String(decoding: bytes, as: UTF8.self)
    case .other(let text): return text
    }
  }

  func number(_ place: Int) -> Int { Int(text(place)) ?? 0 }

  var bytes: [UInt8] {
    for case .bytes(let bytes) in arguments { return bytes }
    return []
  }
}

extension SystemCall {
  /// The options of strace that `all(in:)` needs: every byte that is written, and the paths of
  /// descriptors.
  static func tracing(to log: String) -> [String] {
    [
      "strace", "-f", "-qq", "-y", "-xx", "-s", "1000000", "-o", log, "-e",
      "trace=" + traced.joined(separator: ","),
    ]
  }

  /// All calls in a log, in the order in which they returned.
  static func all(in log: String) throws -> [SystemCall] {
    var begun: [Int: String] = [:]
    let text = try String(contentsOfFile: log, encoding: .utf8)
    return text.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard parts.count == 2, let thread = Int(parts[0]) else { return nil }
      var call = String(parts[1].drop { $0 == " " })
      let unfinished = " <unfinished ...>"
      if call.hasSuffix(unfinished) {
        begun[thread] = String(call.dropLast(unfinished.count))
        return nil
      }
      if call.hasPrefix("<... "), let end = call.firstIndex(of: ">") {
        call = (begun.removeValue(forKey: thread) ?? "") + call[call.index(after: end)...]
      }
      return SystemCall(call, thread: thread)
    }
  }

  /// - Parameter text: `pwrite64(13<\x2f…>, "\x1a…", 440, 0) = 440`.
  private init?(_ text: String, thread: Int) {
    // No string in it contains such a character: all are hexadecimal.
    guard let open = text.firstIndex(of: "("), let equals = text.range(of: " = "),
      let close = text[..<equals.lowerBound].lastIndex(of: ")"), open < close
    else { return nil }
    name = String(text[..<open])
    self.thread = thread
    let words = text[equals.upperBound...]
    result = Int(words.prefix { $0 == "-" || $0.isNumber }) ?? 0
    arguments = Self.split(text[text.index(after: open)..<close]).map(Self.argument)
  }

  /// Every string is hexadecimal, so commas only separate arguments.
  private static func split(_ text: Substring) -> [Substring] {
    text.split(separator: ",").map { $0.drop { $0 == " " } }
  }

  private static func argument(_ text: Substring) -> Argument {
    if text.hasPrefix("\"") { return .bytes(bytes(text)) }
    guard text.hasSuffix(">"), let open = text.firstIndex(of: "<") else {
      return .other(String(text))
    }
    return .descriptor(path: String(decoding: bytes(text[open...]), as: UTF8.self))
  }

  /// The bytes of `\x2f\x74`, ignoring other characters around it.
  private static func bytes(_ text: Substring) -> [UInt8] {
    var found: [UInt8] = []
    let letters = Array(text.utf8)
    found.reserveCapacity(letters.count / 4)
    var place = 0
    while place + 3 < letters.count {
      guard letters[place] == UInt8(ascii: "\\"), letters[place + 1] == UInt8(ascii: "x") else {
        place += 1
        continue
      }
      found.append(digit(letters[place + 2]) << 4 | digit(letters[place + 3]))
      place += 4
    }
    return found
  }

  private static func digit(_ letter: UInt8) -> UInt8 {
    letter <= UInt8(ascii: "9") ? letter - UInt8(ascii: "0") : letter - UInt8(ascii: "a") + 10
  }
}

/// The n-th call of one kind on one of several files, as strace's injection counts it: per thread.
struct CallPoint: Sendable {
  var call: String
  /// Empty if calls on all files count.
  var paths: [String]
  var number: Int

  /// Every call of a recording that changes something, from the creation of the session's folder to
  /// the end. A few calls of the writer are left out, because they cannot be distinguished from
  /// earlier calls of the first thread.
  static func all(of calls: [SystemCall], session: String) -> [CallPoint] {
    let first = calls.first?.thread
    let hidden = "/.\(URL(filePath: session).lastPathComponent)."
    func isVisible(_ path: String) -> Bool { path == session || path.hasPrefix(session + "/") }
    let changing = calls.filter { SystemCall.changing.contains($0.name) }
    let visible = Set(changing.compactMap(\.path).filter(isVisible)).sorted()
    func count(_ call: SystemCall, _ isCounted: (String) -> Bool) -> Int {
      changing.count {
        $0.thread == first && $0.name == call.name && $0.path.map(isCounted) == true
      }
    }
    var counts: [String: Int] = [:]
    func next(_ key: String) -> Int {
      counts[key, default: 0] += 1
      return counts[key] ?? 1
    }
    return changing.compactMap { call in
      let number = next("\(call.thread) \(call.name)")
      guard let path = call.path else { return nil }
      guard isVisible(path) else {
        // The hidden folder in which it is created has a different name each time.
        return call.thread == first && path.contains(hidden)
          ? CallPoint(call: call.name, paths: [], number: number) : nil
      }
      let (among, alone) = (
        next("\(call.thread) \(call.name) all"), next("\(call.thread) \(call.name) \(path)")
      )
      if call.thread == first || among > count(call, isVisible) {
        return CallPoint(call: call.name, paths: visible, number: among)
      }
      guard alone > count(call, { $0 == path }) else { return nil }
      return CallPoint(call: call.name, paths: [path], number: alone)
    }
  }
}
