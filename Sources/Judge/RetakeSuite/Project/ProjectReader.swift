import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeRecord
import RetakeReplay
import RetakeStages

extension Project {
  /// The largest retake.yml that is read, in bytes.
  static let fileBytesMax: Int64 = 1 << 20

  /// Reads the retake.yml of a folder. A folder without one is a project with defaults.
  ///
  /// - Throws: `SuiteError` with the JSON pointer of the invalid value.
  package init(reading folder: String) throws {
    self.init(folder: folder)
    let file = path(Self.fileName)
    let data: Data
    do {
      data = try RegularFile.contents(file, bytesMax: Self.fileBytesMax)
    } catch RegularFile.Refusal.missing {
      return
    } catch let error as RegularFile.Refusal {
      throw SuiteError(
        "suite.project.unreadable", "the project file cannot be read", cause: error.causeText,
        at: file,
        advice: Self.advice(for: error))
    }
    try read(data)
  }

  /// Reads the content of a retake.yml.
  ///
  /// - Throws: `SuiteError.badProject` with the JSON pointer of the invalid value.
  mutating func read(_ data: Data) throws {
    hasFile = true
    do {
      let text = String(decoding: data, as: UTF8.self)
      try ProjectReader().read(try ProjectDecoder(yaml: text), into: &self)
    } catch let error as DocumentProblem {
      throw SuiteError.project(error, file: Self.fileName)
    }
  }

  private static func advice(for refusal: RegularFile.Refusal) -> String {
    switch refusal {
    case .system: "Check its permissions"
    case .tooLarge: "Write fewer cases, or split the project into folders with a retake.yml each"
    case .missing, .link, .folder, .special: "Put a regular file in its place"
    }
  }
}

typealias ProjectDecoder = StrictDecoder<DocumentProblem>

/// Turns the content of retake.yml into a `Project` and checks every key.
struct ProjectReader {
  func read(_ decoder: ProjectDecoder, into project: inout Project) throws {
    let fields = try decoder.document([
      "cases", "suites", "compare", "budgets", "minimumFramesPerSecond", "allow", "store",
    ])
    if let store = fields["store"] { project.store = try settings(ofStore: store) }
    if let allow = try fields["allow"]?.object(["processes"]) {
      project.programs = .named(try allow.strings("processes"))
    }
    project.cases = try fields.members("cases").map { try definition($0, $1) }
    // After the cases, because a suite may name only cases that exist.
    let known = project.cases.map(\.name)
    for (name, suite) in try fields.members("suites") {
      project.suites[name] = try suite.elements().map { entry in
        try suiteEntry(entry, known: known)
      }
    }
    if let rules = fields["compare"] {
      project.compare = try CompareRules(rules)
      try refuseUnusedKeys(rules, project.compare)
    }
    if let budgets = fields["budgets"] { project.budgets = try GoldenManifest.Budgets(budgets) }
    project.minimumFramesPerSecond = try fields["minimumFramesPerSecond"]?.tolerance()
  }

  private func settings(ofStore decoder: ProjectDecoder) throws -> StoreSettings {
    let fields = try decoder.object(["remote", "cacheLimit"])
    var settings = StoreSettings()
    if let remote = fields["remote"] {
      settings.remote = try remote.string()
      guard StoreAddress(try remote.string()) != nil else {
        throw remote.wrong(StoreAddress.rule(try remote.string()))
      }
    }
    if let limit = fields["cacheLimit"] {
      guard let bytes = ByteCount.parse(try limit.string()) else {
        throw limit.wrong("must be a size", advice: "Write it like 500MB or 64GiB")
      }
      settings.cacheBytes = bytes
    }
    return settings
  }

  /// Refuses a tolerance for images in a rule that compares no images, and a tolerance for masks
  /// that no pair of masks reaches, because they would look as if they had an effect. The reader of
  /// goldens does not call this, so a golden that was accepted with
  /// such a rule stays readable.
  private func refuseUnusedKeys(
    _ decoder: ProjectDecoder, _ rules: CompareRules
  ) throws {
    let ofPictures: [SinkRule.CodingKeys] = [.psnrMin, .ssimMin, .densestMax, .pictureEvery]
    for (name, rule) in try decoder.members() {
      guard let own = rules.bySink[name], own.mode != .pictures else { continue }
      let mode = own.mode
      let fields = try rule.object(SinkRule.CodingKeys.allCases.map(\.rawValue))
      if let field = fields["maskIoUMin"], own.maskIoUMin < own.iou {
        throw field.wrong(
          "maskIoUMin \(own.maskIoUMin) is below iou \(own.iou): masks that overlap less than iou "
            + "have no partner",
          advice: "Write iou: \(own.maskIoUMin) or less in the same rule")
      }
      // A rule under a mode's name is for all sinks of that kind. A rule that states its mode is of
      // a sink, also of a sink with a mode's name.
      let isOfSink = fields["mode"] != nil || SinkRule.Mode(rawValue: name) == nil
      if own.limitsImages, isOfSink { continue }
      for key in ofPictures.map(\.rawValue) {
        guard let field = fields[key] else { continue }
        throw field.wrong(
          "'\(key)' has no effect in the mode \(mode.rawValue)",
          advice: "Write mode: pictures for a sink that receives images, or leave '\(key)' out")
      }
    }
  }

  private func definition(
    _ name: String, _ decoder: ProjectDecoder
  ) throws -> CaseDefinition {
    guard name.isSafeName else {
      throw decoder.wrong(
        "'\(name)' cannot be a case's name",
        advice: "Use letters, digits, -, _ and ., a letter or digit first; at most 64")
    }
    let fields = try decoder.object([
      "pipeline", "program", "mode", "costs", "strictCosts", "seed", "tracks", "precision",
      "overrides",
    ])
    var definition = CaseDefinition(
      name: name, pipeline: try pipeline(fields))
    if let mode = fields["mode"] {
      let choice: CaseMode = try mode.choice("a mode of a case")
      definition.mode = choice == .simulate ? .simulate : .everyFrame
    }
    try readCosts(of: &definition, fields)
    if let seed = try fields["seed"]?.integer(in: 0...Int.max, "a seed is 0 or more") {
      definition.seed = UInt64(seed)
    }
    for (node, track) in try fields.members("tracks") {
      definition.tracks[node] = try track.integer(
        in: 0...Int.max, "a track is a whole number, 0 or more")
    }
    for (sink, steps) in try fields.members("precision") {
      definition.precision[sink] = try Precision.given(in: steps)
    }
    if fields["overrides"] != nil { definition.overrides = try overrides(fields) }
    return definition
  }

  /// The pipeline of a case. A case with a `program` names a command, or the options of a `process`
  /// node.
  private func pipeline(_ fields: ProjectDecoder) throws -> String {
    guard let program = fields["program"] else { return try fields.required("pipeline").string() }
    if let pipeline = fields["pipeline"] {
      throw pipeline.wrong("a case has a pipeline or a program", advice: "Leave out one of them")
    }
    guard case .object(let members) = program.json else {
      let command = try program.string()
      do {
        return try ProgramPipeline(command: command).name
      } catch let error as SuiteError {
        throw program.wrong(error.message, advice: "Write a command as in a shell: python3 app.py")
      }
    }
    _ = try program.object(["command", "options", "timeoutSeconds", "transport", "clock"])
    guard !(try program.required("command").strings()).isEmpty else {
      throw program.wrong("'command' names no program")
    }
    return ProgramPipeline(options: members).name
  }

  /// Where the virtual costs of a case come from. All except declared costs need `simulate`.
  private func readCosts(
    of definition: inout CaseDefinition, _ fields: ProjectDecoder
  ) throws {
    definition.strictCosts = try fields["strictCosts"]?.bool() ?? false
    // `none` is how golden.yml names the costs of `every-frame`; in that mode it may be copied from
    // there.
    if let costs = fields["costs"] {
      let text = try costs.string()
      if text != "none" || definition.mode != .everyFrame {
        guard let choice = CostChoice(parsing: text) else {
          throw costs.wrong(
            "costs '\(text)' cannot be used here",
            advice: FormerWords.renamedCosts(text).map { FormerWords.advice(text, $0) }
              ?? "Write one of: \(CostChoice.forms)")
        }
        definition.costs = choice
      }
      if definition.costs.needsSimulation {
        // A mode that is not written follows from the costs. Only a written `every-frame`
        // contradicts them.
        guard fields["mode"] == nil || definition.mode == .simulate else {
          throw costs.wrong(
            "stages have no cost in mode every-frame", advice: "Write: mode: simulate")
        }
        definition.mode = .simulate
      }
    }
    if definition.strictCosts, !definition.costs.hasTimings, let strict = fields["strictCosts"] {
      throw strict.wrong(
        "only timings can lack a cost", advice: "Write: costs: timings, or leave out strictCosts")
    }
  }

  private func overrides(_ fields: ProjectDecoder) throws -> [CaseOverride] {
    var result: [CaseOverride] = []
    for element in try nonempty("overrides", of: fields) {
      let text = try element.string()
      do {
        result.append(try CaseOverride(parsing: text))
        // After each one, so that the error names the second of two equal overrides.
        _ = try CaseOverride.ordered(result)
      } catch let error as ReplayError {
        throw element.wrong(error.message, advice: error.advice)
      }
    }
    return result
  }

  private func suiteEntry(
    _ decoder: ProjectDecoder, known: [String]
  ) throws -> SuiteEntry {
    let fields = try decoder.object(["sessions", "cases"])
    let cases = try nonempty("cases", of: fields).map { element in
      let name = try element.string()
      guard known.contains(name) else {
        throw element.wrong(
          "there is no case '\(name)'", advice: Suggestion.advice(for: name, among: known))
      }
      return name
    }
    let sessions = try nonempty("sessions", of: fields).map { element in
      try element.string()
    }
    return SuiteEntry(sessions: sessions, cases: cases)
  }

  /// The elements of an array that must have some.
  private func nonempty(
    _ key: String, of fields: ProjectDecoder
  ) throws -> [ProjectDecoder] {
    let elements = try fields.elements(key)
    guard !elements.isEmpty else { throw fields.wrong("'\(key)' is missing or empty") }
    return elements
  }
}

/// The modes of a case. Only `retake replay` makes a live run again.
private enum CaseMode: String, CaseIterable {
  case everyFrame = "every-frame"
  case simulate
}
