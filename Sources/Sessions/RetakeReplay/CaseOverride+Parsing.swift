import Foundation
import RetakeCore
import RetakeGraph

extension CaseOverride {
  private static let swapWord = "swap:"
  /// The highest track number that a node can read.
  private static let trackMax = 1_023
  private static let sequenceMax = 1 << 40

  /// Parses the string form of an override.
  ///
  /// - Throws: `ReplayError.badOverride`.
  package init(parsing text: String) throws {
    func bad(_ detail: String, _ advice: String? = nil) -> ReplayError {
      .badOverride(text, detail: detail, advice: advice)
    }
    if text.hasPrefix(Self.swapWord) {
      self = .swap(try Self.swap(text.dropFirst(Self.swapWord.count), bad))
      return
    }
    if text.hasPrefix(CameraFaults.word) {
      self = .camera(try CameraFaults(parsing: text.dropFirst(CameraFaults.word.count)))
      return
    }
    let words = DeviceEvent.Kind.allCases.map(\.rawValue)
    guard let equals = text.firstIndex(of: "="), let at = text.lastIndex(of: "@"), equals < at
    else {
      throw bad("it has no time", "Write it like thermal=serious@12s")
    }
    let word = String(text[..<equals])
    guard let kind = DeviceEvent.Kind(rawValue: word) else {
      throw bad(
        "'\(word)' is not an event",
        Suggestion.advice(for: word, among: words + ["swap:NODE", "camera:"]))
    }
    guard let time = Self.time(text[text.index(after: at)...]) else {
      throw bad(
        "'\(text[text.index(after: at)...])' is not a time", "Write it like 12s, 1:30 or 800ms")
    }
    let state = text[text.index(after: equals)..<at]
    do {
      self = .event(
        atNanoseconds: time,
        try DeviceEvent(kind: word, json: try Self.json(of: state, kind, bad)))
    } catch let error as DeviceEventError {
      throw bad(error.detail, error.advice)
    }
  }

  /// The state in the form of the event table.
  private static func json(
    of state: Substring, _ kind: DeviceEvent.Kind, _ bad: (String, String?) -> ReplayError
  ) throws -> JSONValue {
    guard kind == .battery else { return .object(["state": .string(String(state))]) }
    let parts = state.split(separator: ",", omittingEmptySubsequences: false)
    var members: [String: JSONValue] = [:]
    // A word that is not a number stays a string: the check of the event then explains what a level
    // is.
    members["level"] = Int64(parts[0]).map { .integer($0) } ?? .string(String(parts[0]))
    for word in parts.dropFirst() { members[String(word)] = .bool(true) }
    return .object(members)
  }

  private static func swap(
    _ text: Substring, _ bad: (String, String?) -> ReplayError
  ) throws -> OptionSwap {
    let example = "Write it like swap:motion@4s={\"threshold\": 30}"
    // The text from the first brace on is JSON, which may contain `@`, `=` and commas.
    guard let brace = text.firstIndex(of: "{"), let at = text.firstIndex(of: "@"), at < brace,
      let equals = text[..<brace].lastIndex(of: "="), at < equals,
      text[text.index(after: equals)..<brace].allSatisfy({ $0 == " " })
    else { throw bad("it has no node, moment or options", example) }
    let options: JSONValue
    do {
      options = try JSONValue(parsing: Data(text[brace...].utf8))
    } catch let error as DecodingError {
      throw bad("the options are not JSON: \(error.shortText)", example)
    }
    guard case .object(let members) = options, !members.isEmpty else {
      throw bad("it changes no option", example)
    }
    let words = text[text.index(after: at)..<equals]
      .split(separator: ",", omittingEmptySubsequences: false)
    guard let moment = moment(words[0]) else {
      throw bad("'\(words[0])' is not a moment", "Write it like 4s, frame100 or frame0:100")
    }
    var swap = OptionSwap(at: moment, node: String(text[..<at]), options: members)
    for word in words.dropFirst() {
      guard word.hasPrefix("prepare="), let time = Duration(parsing: word.dropFirst(8)),
        time.nanoseconds <= Cost.nanosecondsMax
      else {
        throw bad("'\(word)' cannot be used here", "Write it like prepare=80ms, at most an hour")
      }
      swap.prepare = time
    }
    return swap
  }

  private static func moment(_ text: Substring) -> OptionSwap.Moment? {
    guard text.hasPrefix("frame") else { return time(text).map { .nanoseconds($0) } }
    let numbers = text.dropFirst(5).split(separator: ":", omittingEmptySubsequences: false)
    // 43 is `+`, which Swift's Int also reads: a moment has one spelling, because it is part of a
    // golden's key.
    let values = numbers.compactMap { $0.utf8.first == 43 ? nil : Int($0) }
    guard values.count == numbers.count, (1...2).contains(values.count),
      values.allSatisfy({ (0...sequenceMax).contains($0) }), let sequence = values.last
    else { return nil }
    guard values.count == 2 else { return .frame(track: nil, sequence: sequence) }
    return values[0] <= trackMax ? .frame(track: values[0], sequence: sequence) : nil
  }

  private static func time(_ text: Substring) -> Int64? {
    TimeArgument.parse(String(text))?.nanoseconds
  }
}
