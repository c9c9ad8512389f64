import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeReplay
import RetakeRuntime

extension Project {
  /// The largest retake.yml that is read, in bytes.
  static let fileBytesMax: Int64 = 1 << 20

  /// Reads the retake.yml of a folder. A folder without one is a project with defaults.
  ///
  /// - Throws: `SuiteError` with the JSON pointer of what is wrong.
  package init(reading folder: String) throws(SuiteError) {
    self.init(folder: folder)
    let file = path(Self.fileName)
    let data: Data
    do throws(RegularFile.Refusal) {
      data = try RegularFile.contents(file, bytesMax: Self.fileBytesMax)
    } catch .missing {
      return
    } catch {
      throw SuiteError.projectUnreadable(
        file: file, cause: error.description, advice: Self.advice(for: error))
    }
    hasFile = true
    do throws(ProjectProblem) {
      try ProjectReader().read(try Self.json(String(decoding: data, as: UTF8.self)), into: &self)
    } catch {
      throw SuiteError.project(error.problem, file: Self.fileName)
    }
  }

  private static func advice(for refusal: RegularFile.Refusal) -> String {
    switch refusal {
    case .system: "Check its permissions"
    case .tooLarge: "Write fewer cases, or split the project into folders with a retake.yml each"
    case .missing, .link, .folder, .special: "Put a regular file in its place"
    }
  }

  private static func json(_ text: String) throws(ProjectProblem) -> JSONValue {
    do throws(YAMLProblem) {
      // An empty file gets the same advice as one without `v`.
      return try JSONValue(yaml: text) ?? .object([:])
    } catch {
      throw ProjectProblem(error.detail, advice: error.advice, at: error.pointer)
    }
  }
}

/// A problem in retake.yml, before it becomes a `SuiteError`.
struct ProjectProblem: DocumentFailure {
  var problem: DocumentProblem

  init(_ problem: DocumentProblem) { self.problem = problem }

  init(_ detail: String, advice: String? = nil, at pointer: String) {
    problem = DocumentProblem(reason: .wrongValue(detail, advice: advice), pointer: pointer)
  }
}

/// Turns the content of retake.yml into a `Project` and checks every key.
struct ProjectReader {
  typealias Fields = DocumentFields<ProjectProblem>

  func read(_ json: JSONValue, into project: inout Project) throws(ProjectProblem) {
    // First of all: a later version may have other keys, and "unknown key" would mislead its
    // reader.
    if case .integer(let version)? = json["v"], version != 1 {
      throw ProjectProblem(
        "version \(version) is not 1", advice: "Update Retake, or write v: 1", at: "/v")
    }
    let keys = ["v", "cases", "suites", "compare", "budgets", "minimumFramesPerSecond"]
    let fields = try Fields(json, at: "", keys: keys)
    guard try fields.integer("v") != nil else {
      throw ProjectProblem("'v' is missing", advice: "Begin the file with: v: 1", at: "")
    }
    for (name, json) in try members(fields.value("cases"), at: "/cases") {
      project.cases.append(try definition(name, json, at: "/cases/\(name.pointerEscaped)"))
    }
    // After the cases, because a suite may only name existing ones.
    for (name, json) in try members(fields.value("suites"), at: "/suites") {
      project.suites[name] = try suite(
        json, at: "/suites/\(name.pointerEscaped)", known: project.cases.map(\.name))
    }
    if let rules = fields.value("compare") { project.compare = try compareRules(rules) }
    if let json = fields.value("budgets") {
      project.budgets = try budgets(
        try Fields(json, at: "/budgets", keys: ["droppedMax", "latencyMax", "latencyP99"]))
    }
    project.minimumFramesPerSecond = try tolerance(fields, "minimumFramesPerSecond", at: "")
  }

  /// The members of an object, sorted by name.
  func members(
    _ json: JSONValue?, at pointer: String
  ) throws(ProjectProblem) -> [(String, JSONValue)] {
    guard let json else { return [] }
    guard case .object(let members) = json else {
      throw ProjectProblem("must be an object, is \(json.kindText)", at: pointer)
    }
    // Sorted, so that cases have a fixed order and, of several errors, the same one is reported.
    return members.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  private func definition(
    _ name: String, _ json: JSONValue, at pointer: String
  ) throws(ProjectProblem) -> CaseDefinition {
    guard name.isSafeName else {
      throw ProjectProblem(
        "'\(name)' cannot be a case's name",
        advice: "Use letters, digits, -, _ and ., a letter or digit first; at most 64", at: pointer)
    }
    let keys = [
      "pipeline", "mode", "costs", "strictCosts", "seed", "tracks", "quantisation", "overrides",
    ]
    let fields = try Fields(json, at: pointer, keys: keys)
    var definition = CaseDefinition(name: name, pipeline: try fields.required("pipeline"))
    if let mode = try fields.string("mode") {
      definition.mode = try word(mode, RunOptions.Mode.self, "mode", at: "\(pointer)/mode")
    }
    try costs(fields, of: &definition, at: pointer)
    if let seed = try fields.integer("seed") {
      guard seed >= 0 else { throw ProjectProblem("a seed is 0 or more", at: "\(pointer)/seed") }
      definition.seed = UInt64(seed)
    }
    for (node, json) in try members(fields.value("tracks"), at: "\(pointer)/tracks") {
      definition.tracks[node] = try whole(
        json, "a track", at: "\(pointer)/tracks/\(node.pointerEscaped)")
    }
    for (sink, json) in try members(
      fields.value("quantisation"), at: "\(pointer)/quantisation")
    {
      definition.quantisation[sink] = try quanta(
        json, at: "\(pointer)/quantisation/\(sink.pointerEscaped)")
    }
    if fields.value("overrides") != nil {
      definition.overrides = try overrides(try texts(fields, "overrides", at: pointer), at: pointer)
    }
    return definition
  }

  private func overrides(
    _ words: [String], at pointer: String
  ) throws(ProjectProblem) -> [CaseOverride] {
    var result: [CaseOverride] = []
    for (index, text) in words.enumerated() {
      do throws(ReplayError) {
        result.append(try CaseOverride(parsing: text))
        // After each one, so that the error names the second of two equal overrides.
        _ = try CaseOverride.ordered(result)
      } catch {
        throw ProjectProblem(
          error.message, advice: error.advice, at: "\(pointer)/overrides/\(index)")
      }
    }
    return result
  }

  private func suite(
    _ json: JSONValue, at pointer: String, known: [String]
  ) throws(ProjectProblem) -> [SuiteEntry] {
    guard case .array(let entries) = json else {
      throw ProjectProblem("must be a list, is \(json.kindText)", at: pointer)
    }
    var result: [SuiteEntry] = []
    for (index, entry) in entries.enumerated() {
      let place = "\(pointer)/\(index)"
      let fields = try Fields(entry, at: place, keys: ["sessions", "cases"])
      let cases = try texts(fields, "cases", at: place)
      for (position, name) in cases.enumerated() where !known.contains(name) {
        throw ProjectProblem(
          "there is no case '\(name)'", advice: Suggestion.advice(for: name, among: known),
          at: "\(place)/cases/\(position)")
      }
      result.append(SuiteEntry(sessions: try texts(fields, "sessions", at: place), cases: cases))
    }
    return result
  }

  private func texts(
    _ fields: Fields, _ key: String, at pointer: String
  ) throws(ProjectProblem) -> [String] {
    var result: [String] = []
    for (index, value) in try fields.array(key).enumerated() {
      guard case .string(let text) = value else {
        throw ProjectProblem(
          "must be a string, is \(value.kindText)", at: "\(pointer)/\(key)/\(index)")
      }
      result.append(text)
    }
    guard !result.isEmpty else {
      throw ProjectProblem("'\(key)' is missing or empty", at: pointer)
    }
    return result
  }

  func word<Word: RawRepresentable & CaseIterable>(
    _ text: String, _ type: Word.Type, _ what: String, at pointer: String
  ) throws(ProjectProblem) -> Word where Word.RawValue == String {
    guard let word = Word(rawValue: text) else {
      throw ProjectProblem(
        "'\(text)' is no \(what)",
        advice: Suggestion.advice(for: text, among: Word.allCases.map(\.rawValue)), at: pointer)
    }
    return word
  }
}
