import RetakeCompare
import RetakeCore

extension GoldenManifest {
  private typealias Fields = DocumentFields<GoldenError>

  /// Reads a document.
  ///
  /// - Parameter file: The name for messages.
  /// - Throws: `GoldenError.manifest` and `GoldenError.version`.
  package init(parsing text: String, file: String) throws(GoldenError) {
    do throws(GoldenError) {
      try self.init(Self.json(text))
    } catch {
      if case .version(_, let version) = error { throw .version(file: file, version: version) }
      throw error.at(file)
    }
  }

  private static func json(_ text: String) throws(GoldenError) -> JSONValue {
    do throws(YAMLProblem) {
      if let json = try JSONValue(yaml: text) { return json }
    } catch {
      throw .manifest(
        file: "", pointer: error.pointer, detail: error.detail, advice: error.advice)
    }
    throw wrong("the document is empty", at: "")
  }

  private init(_ json: JSONValue) throws(GoldenError) {
    // First of all: a later version may have other keys, and "unknown key" would mislead its
    // reader.
    if case .integer(let version)? = json["v"], version != Int64(Self.version) {
      throw .version(file: "", version: Int(version))
    }
    let fields = try Fields(
      json, at: "",
      keys: [
        "v", "input", "case", "pipeline", "models", "quantisation", "compare", "budgets", "summary",
        "accepted", "expected", "fitted",
      ])
    guard fields.value("v") != nil else { throw missing("v", at: "") }
    input = try Self.inputPart(fields)
    testCase = try Self.testCasePart(fields)
    pipeline = try Self.pipelinePart(fields)
    models = try texts(fields.value("models"), at: "/models")
    quantisation = try Self.quantisationPart(fields.value("quantisation"))
    compare = try Self.rules(fields.value("compare"), at: "/compare")
    budgets = try Self.budgets(fields.value("budgets") ?? .object([:]))
    summary = try Self.summaryPart(fields)
    accepted = try Self.acceptedPart(fields)
    expected = try Self.expectedPart(fields)
    fitted = try Self.fittedPart(fields)
    // After all parts: it compares two of them with a third.
    try checkSinks()
  }

  /// Checks that rules and quanta belong to existing sinks.
  private func checkSinks() throws(GoldenError) {
    // Older goldens do not say which nodes are sinks, so any node's name is accepted there.
    let sinks = pipeline.sinks.isEmpty ? pipeline.nodes : pipeline.sinks.keys.sorted()
    // The name of a rule may also be the name of a mode.
    let known = Set(pipeline.nodes + sinks + SinkRule.Mode.allCases.map(\.rawValue))
    for (part, names) in [
      ("compare", compare.bySink.keys.sorted()), ("quantisation", quantisation.keys.sorted()),
    ] {
      for name in names where !known.contains(name) {
        throw .manifest(
          file: "", pointer: "/\(part)/\(name.pointerEscaped)",
          detail: "the pipeline has no sink '\(name)'",
          advice: Suggestion.advice(for: name, among: sinks))
      }
    }
  }

  /// The `compare` part of golden.yml and of retake.yml.
  ///
  /// - Throws: `GoldenError.manifest`, without a file.
  package static func rules(
    _ json: JSONValue?, at pointer: String
  ) throws(GoldenError) -> CompareRules {
    let rules = try members(json, at: pointer)
    // One by one first: a decoder skips unknown keys, which are errors here, and the place of an
    // error then names the rule.
    for name in rules.keys.sorted() {
      let place = "\(pointer)/\(name.pointerEscaped)"
      let rule = rules[name] ?? .null
      _ = try Fields(rule, at: place, keys: SinkRule.CodingKeys.names)
      let _: SinkRule = try decoded(rule, at: place)
    }
    return try decoded(.object(rules), at: pointer)
  }

  /// The `budgets` part of golden.yml and of retake.yml.
  ///
  /// - Throws: `GoldenError.manifest`, without a file.
  package static func budgets(_ json: JSONValue) throws(GoldenError) -> Budgets {
    let fields = try Fields(
      json, at: "/budgets", keys: ["droppedMax", "latencyMax", "latencyP99"])
    func time(_ key: String) throws(GoldenError) -> Int? {
      guard let text = try fields.string(key) else { return nil }
      guard let duration = Duration(parsing: text) else {
        throw wrong("must be a time such as 120ms", at: "/budgets/\(key)")
      }
      return Int(duration.nanoseconds)
    }
    return Budgets(
      droppedMax: try fields.integer("droppedMax"), latencyMax: try time("latencyMax"),
      latencyP99: try time("latencyP99"))
  }

  private static func latency(_ json: JSONValue?) throws(GoldenError) -> Latency? {
    guard let json else { return nil }
    let place = "/summary/latency"
    let fields = try Fields(json, at: place, keys: ["max", "p99", "slowest"])
    var times: [Int] = []
    for key in ["max", "p99"] {
      guard let duration = Duration(parsing: try fields.required(key)) else {
        throw wrong("must be a time such as 120ms", at: "\(place)/\(key)")
      }
      times.append(Int(duration.nanoseconds))
    }
    let numbers = try fields.required("slowest").split(separator: ":").compactMap { Int($0) }
    guard numbers.count == 2 else {
      throw wrong("must be a frame such as 0:12", at: "\(place)/slowest")
    }
    return Latency(
      max: times[0], p99: times[1], slowest: FrameID(track: numbers[0], sequence: numbers[1]))
  }

  private static func inputPart(_ document: Fields) throws(GoldenError) -> Input {
    let fields = try part(
      "input", of: document, keys: ["session", "digest", "tracks", "frames", "timeBase"])
    var tracks: [String: Int] = [:]
    let tracksJSON = try members(fields.value("tracks"), at: "/input/tracks")
    for node in tracksJSON.keys.sorted() {
      guard case .integer(let track)? = tracksJSON[node] else {
        throw wrong("must be the number of a track", at: "/input/tracks/\(node.pointerEscaped)")
      }
      tracks[node] = Int(track)
    }
    var bases: [Int: TimeBase] = [:]
    let texts = try texts(fields.value("timeBase"), at: "/input/timeBase")
    for track in texts.keys.sorted() {
      guard let number = Int(track), let base = TimeBase(parsing: texts[track] ?? "") else {
        throw wrong("must be a time base such as 1/30000", at: "/input/timeBase/\(track)")
      }
      bases[number] = base
    }
    return Input(
      session: try fields.required("session"), digest: try digest("digest", fields, at: "/input"),
      tracks: tracks, frames: try count("frames", fields, at: "/input"), timeBase: bases)
  }

  private static func testCasePart(_ document: Fields) throws(GoldenError) -> Case {
    let fields = try part(
      "case", of: document, keys: ["name", "pipeline", "mode", "costs", "seed", "overrides"])
    // A JSON integer has 64 bits with a sign, so larger seeds are strings of digits.
    var seed: UInt64?
    switch fields.value("seed") {
    case .integer(let value)?: seed = UInt64(exactly: value)
    case .string(let text)?: seed = UInt64(text)
    default: break
    }
    guard let seed else { throw wrong("must be a whole number from 0", at: "/case/seed") }
    return Case(
      name: try fields.required("name"), pipeline: try fields.required("pipeline"),
      mode: try fields.required("mode"), costs: try fields.required("costs"), seed: seed,
      overrides: try members(fields.value("overrides"), at: "/case/overrides"))
  }

  private static func pipelinePart(_ document: Fields) throws(GoldenError) -> PipelineNote {
    let fields = try part("pipeline", of: document, keys: ["name", "digest", "nodes", "sinks"])
    var sinks: [String: [String]] = [:]
    let named = try members(fields.value("sinks"), at: "/pipeline/sinks")
    if !named.isEmpty {
      let names = named.keys.sorted()
      let lists = try Fields(.object(named), at: "/pipeline/sinks", keys: names)
      for sink in names { sinks[sink] = try strings(sink, lists, at: "/pipeline/sinks") }
    }
    return PipelineNote(
      name: try fields.required("name"), digest: try digest("digest", fields, at: "/pipeline"),
      nodes: try strings("nodes", fields, at: "/pipeline"), sinks: sinks)
  }

  private static func quantisationPart(
    _ json: JSONValue?
  ) throws(GoldenError) -> [String: Quantisation] {
    var result: [String: Quantisation] = [:]
    let sinks = try members(json, at: "/quantisation")
    for sink in sinks.keys.sorted() {
      let pointer = "/quantisation/\(sink.pointerEscaped)"
      let value = sinks[sink] ?? .null
      // The keys are checked first: a decoder skips unknown ones, and a misspelt step would
      // silently be the default.
      _ = try Fields(value, at: pointer, keys: Quantisation.CodingKeys.names)
      result[sink] = try decoded(value, at: pointer)
    }
    return result
  }

  private static func summaryPart(_ document: Fields) throws(GoldenError) -> Summary {
    let keys = ["captured", "delivered", "facts", "decisions", "decisionDigest", "resultDigest"]
    let fields = try part("summary", of: document, keys: keys + ["latency"])
    var summary = Summary(
      captured: try count("captured", fields, at: "/summary"),
      delivered: try count("delivered", fields, at: "/summary"),
      facts: try count("facts", fields, at: "/summary"),
      decisions: try count("decisions", fields, at: "/summary"),
      decisionDigest: try digest("decisionDigest", fields, at: "/summary"),
      resultDigest: try digest("resultDigest", fields, at: "/summary"))
    summary.latency = try latency(fields.value("latency"))
    return summary
  }

  private static func acceptedPart(_ document: Fields) throws(GoldenError) -> [Acceptance] {
    var result: [Acceptance] = []
    for (index, json) in try document.array("accepted").enumerated() {
      let pointer = "/accepted/\(index)"
      let fields = try Fields(
        json, at: pointer, keys: ["at", "reason", "roots", "frames", "maxError"])
      result.append(
        Acceptance(
          at: try fields.required("at"), reason: try fields.required("reason"),
          roots: try strings("roots", fields, at: pointer),
          frames: try count("frames", fields, at: pointer),
          maxError: try number("maxError", fields, at: pointer)))
    }
    return result
  }

  private static func expectedPart(_ document: Fields) throws(GoldenError) -> [Expected] {
    var result: [Expected] = []
    for (index, json) in try document.array("expected").enumerated() {
      let fields = try Fields(json, at: "/expected/\(index)", keys: ["id", "frames", "url"])
      var frames = ""
      switch fields.value("frames") {
      // A single frame, written without quotes, is a number in YAML.
      case .integer(let value)?: frames = String(value)
      default: frames = try fields.required("frames")
      }
      // Only the form is checked, so any track will do here.
      guard ExpectedFrames.span(frames, track: 0) != nil else {
        throw .manifest(
          file: "", pointer: "/expected/\(index)/frames",
          detail: "'\(frames.shortened)' is not a frame or a span of frames",
          advice: "Write for example: frames: 120..130, or with a track: 1:120..1:130")
      }
      result.append(
        Expected(id: try fields.required("id"), frames: frames, url: try fields.string("url")))
    }
    return result
  }

  private static func fittedPart(_ document: Fields) throws(GoldenError) -> [Fit] {
    var result: [Fit] = []
    for (index, json) in try document.array("fitted").enumerated() {
      let pointer = "/fitted/\(index)"
      let fields = try Fields(
        json, at: pointer, keys: ["at", "sink", "quantity", "largest", "allowed", "conditions"])
      result.append(
        Fit(
          at: try fields.required("at"), sink: try fields.required("sink"),
          quantity: try fields.required("quantity"),
          largest: try number("largest", fields, at: pointer),
          allowed: try number("allowed", fields, at: pointer),
          conditions: try strings("conditions", fields, at: pointer)))
    }
    return result
  }

  private static func number(
    _ key: String, _ fields: Fields, at pointer: String
  ) throws(GoldenError) -> Double {
    switch fields.value(key) {
    case .integer(let value)?: return Double(value)
    case .number(let value)?: return value
    default: throw wrong("must be a number", at: "\(pointer)/\(key)")
    }
  }

  private static func part(
    _ key: String, of document: Fields, keys: [String]
  ) throws(GoldenError) -> Fields {
    guard let value = document.value(key) else { throw missing(key, at: "") }
    return try Fields(value, at: "/\(key)", keys: keys)
  }
}
