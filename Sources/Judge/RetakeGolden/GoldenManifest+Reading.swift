import RetakeCompare
package import RetakeCore
import RetakeGraph

private typealias GoldenDecoder = StrictDecoder<GoldenError>

extension GoldenManifest {
  /// Reads a document.
  ///
  /// - Parameter file: The name for messages.
  /// - Throws: `GoldenError.manifest` and `GoldenError.version`.
  package init(parsing text: String, file: String) throws {
    do {
      try self.init(GoldenDecoder(yaml: text))
    } catch let error as GoldenError {
      throw error.at(file)
    }
  }

  private init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.document([
      "input", "case", "pipeline", "models", "devices", "programs", "files", "labels", "precision",
      "compare", "budgets", "summary", "accepted", "expected", "fitted",
    ])
    input = try Input(fields.required("input"))
    testCase = try Case(fields.required("case"))
    pipeline = try PipelineNote(fields.required("pipeline"))
    models = [:]
    for (name, digest) in try fields.members("models") { models[name] = try digest.string() }
    devices = try fields["devices"].map([String: ModelDevice].init(_:)) ?? [:]
    for (path, digest) in try fields.members("programs") { programs[path] = try digest.string() }
    for (path, digest) in try fields.members("files") { files[path] = try digest.string() }
    labels = try fields["labels"]?.digest()
    precision = [:]
    for (sink, steps) in try fields.members("precision") {
      precision[sink] = try Precision(steps)
    }
    compare = try fields["compare"].map(CompareRules.init(_:)) ?? CompareRules()
    budgets = try fields["budgets"].map(Budgets.init(_:)) ?? Budgets()
    summary = try Summary(fields.required("summary"))
    accepted = try fields.elements("accepted").map(Acceptance.init(_:))
    expected = try fields.elements("expected").map(Expected.init(_:))
    fitted = try fields.elements("fitted").map(Fit.init(_:))
    // After all parts: it compares two of them with a third.
    try checkSinks()
  }

  /// Checks that rules and steps belong to existing sinks.
  private func checkSinks() throws {
    // Older goldens do not say which nodes are sinks, so any node's name is accepted there.
    let sinks = pipeline.sinks.isEmpty ? pipeline.nodes : pipeline.sinks.keys.sorted()
    // The name of a rule may also be the name of a mode.
    let known = Set(pipeline.nodes + sinks + SinkRule.Mode.allCases.map(\.rawValue))
    for (part, names) in [
      ("compare", compare.bySink.keys.sorted()), ("precision", precision.keys.sorted()),
    ] {
      for name in names where !known.contains(name) {
        throw GoldenError.manifest(
          file: "", pointer: "/\(part)/\(name.pointerEscaped)",
          detail: "the pipeline has no sink '\(name)'",
          advice: Suggestion.advice(for: name, among: sinks))
      }
    }
  }
}

extension GoldenManifest.Budgets {
  /// Reads the budgets of retake.yml or golden.yml.
  package init<Failure>(_ decoder: StrictDecoder<Failure>) throws {
    let fields = try decoder.object(
      ["droppedMax", "latencyMax", "latencyP99"] + LabelMetric.allCases.map(\.rawValue))
    droppedMax = try fields["droppedMax"]?.integer(
      in: 0...Int.max, "a budget is a whole number, 0 or more")
    latencyMax = (try fields["latencyMax"]?.duration()).map { Int($0.nanoseconds) }
    latencyP99 = (try fields["latencyP99"]?.duration()).map { Int($0.nanoseconds) }
    for metric in LabelMetric.allCases {
      guard let limits = fields[metric.rawValue] else { continue }
      labels[metric] = try LabelBudget(limits, metric)
    }
  }
}

extension LabelBudget {
  fileprivate init<Failure>(_ decoder: StrictDecoder<Failure>, _ metric: LabelMetric) throws {
    let names = Self.names(of: metric)
    let fields = try decoder.object([names.limit, names.lossMax])
    self.init(
      limit: try fields[names.limit]?.number(), lossMax: try fields[names.lossMax]?.tolerance())
    guard limit != nil || lossMax != nil else {
      throw decoder.wrong(
        "the budget of \(metric.rawValue) has no limit",
        advice: "Write for example: \(metric.rawValue): {\(names.limit): 0.5}")
    }
    guard let limit, let field = fields[names.limit] else { return }
    if metric.largerIsBetter, limit > 1 {
      throw field.wrong("no run can have it: \(metric.rawValue) is at most 1")
    } else if metric != .mota, limit < 0 {
      throw field.wrong("\(metric.rawValue) is at least 0")
    }
  }
}

extension GoldenManifest.Input {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["session", "digest", "tracks", "frames", "timeBase"])
    session = try fields.required("session").string()
    digest = try fields.required("digest").digest()
    tracks = [:]
    for (node, track) in try fields.members("tracks") { tracks[node] = try track.integer() }
    frames = try fields.required("frames").count()
    timeBase = [:]
    for (track, base) in try fields.members("timeBase") {
      guard let track = Int(track), let value = TimeBase(parsing: try base.string()) else {
        throw base.wrong("must be a time base such as 1/30000")
      }
      timeBase[track] = value
    }
  }
}

extension GoldenManifest.Case {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["name", "pipeline", "mode", "costs", "seed", "overrides"])
    name = try fields.required("name").string()
    pipeline = try fields.required("pipeline").string()
    let (mode, costs) = (try fields.required("mode"), try fields.required("costs"))
    self.mode = try mode.string()
    self.costs = try costs.string()
    for (old, new) in FormerWords.modes where self.mode == old {
      throw mode.wrong("'\(old)' is not a mode", advice: FormerWords.advice(old, new))
    }
    if let new = FormerWords.renamedCosts(self.costs) {
      throw costs.wrong(
        "'\(self.costs.shortened)' are not costs",
        advice: FormerWords.advice(self.costs.shortened, new.shortened))
    }
    let given = try fields.required("seed")
    // A JSON integer has 64 bits with a sign, so larger seeds are strings of digits.
    let number: UInt64? =
      switch given.json {
      case .integer(let value): UInt64(exactly: value)
      case .string(let text): UInt64(text)
      default: nil
      }
    guard let number else { throw given.wrong("must be a whole number from 0") }
    seed = number
    overrides = [:]
    for (key, value) in try fields.members("overrides") { overrides[key] = value.json }
  }
}

extension GoldenManifest.PipelineNote {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["name", "digest", "nodes", "sinks"])
    name = try fields.required("name").string()
    digest = try fields.required("digest").digest()
    nodes = try fields.strings("nodes")
    sinks = [:]
    for (sink, stages) in try fields.members("sinks") { sinks[sink] = try stages.strings() }
  }
}

extension GoldenManifest.Summary {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object([
      "captured", "delivered", "facts", "decisions", "decisionDigest", "resultDigest", "latency",
      "damaged",
    ])
    captured = try fields.required("captured").count()
    delivered = try fields.required("delivered").count()
    facts = try fields.required("facts").count()
    decisions = try fields.required("decisions").count()
    decisionDigest = try fields.required("decisionDigest").digest()
    resultDigest = try fields.required("resultDigest").digest()
    latency = try fields["latency"].map(GoldenManifest.Latency.init(_:))
    damaged = try fields["damaged"].map(GoldenManifest.Damage.init(_:))
  }
}

extension GoldenManifest.Damage {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["frames", "first", "last"])
    frames = try fields.required("frames").count()
    first = try fields.required("first").frame()
    last = try fields.required("last").frame()
  }
}

extension GoldenManifest.Latency {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["max", "p99", "slowest"])
    max = Int(try fields.required("max").duration().nanoseconds)
    p99 = Int(try fields.required("p99").duration().nanoseconds)
    slowest = try fields.required("slowest").frame()
  }
}

extension GoldenManifest.Acceptance {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["at", "reason", "rootCauses", "frames", "maxError"])
    at = try fields.required("at").string()
    reason = try fields.required("reason").string()
    rootCauses = try fields.strings("rootCauses")
    frames = try fields.required("frames").count()
    maxError = try fields.required("maxError").number()
  }
}

extension GoldenManifest.Expected {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object(["id", "frames", "url"])
    id = try fields.required("id").string()
    url = try fields["url"]?.string()
    let span = try fields.required("frames")
    // A single frame, written without quotes, is a number in YAML.
    if case .integer(let value) = span.json {
      frames = String(value)
    } else {
      frames = try span.string()
    }
    // Only the form is checked, so any track will do here.
    guard ExpectedFrames.span(frames, track: 0) != nil else {
      throw span.wrong(
        "'\(frames.shortened)' is not a frame or a span of frames",
        advice: "Write for example: frames: 120..130, or with a track: 1:120..1:130")
    }
  }
}

extension GoldenManifest.Fit {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    let fields = try decoder.object([
      "at", "devices", "sink", "quantity", "largest", "allowed", "conditions",
    ])
    at = try fields.required("at").string()
    devices = try fields["devices"].map([String: ModelDevice].init(_:)) ?? [:]
    sink = try fields.required("sink").string()
    quantity = try fields.required("quantity").string()
    largest = try fields.required("largest").number()
    allowed = try fields.required("allowed").number()
    conditions = try fields.strings("conditions")
  }
}

extension [String: ModelDevice] {
  fileprivate init(_ decoder: GoldenDecoder) throws {
    self = [:]
    for (stage, value) in try decoder.members() {
      let keys = ["provider", "card", "driver", "engine"]
      let fields = try value.object(keys)
      for field in keys.compactMap({ fields[$0] }) where field.json == .string("") {
        throw field.wrong("is empty", advice: "Leave it out, or restore golden.yml")
      }
      self[stage] = ModelDevice(
        provider: try fields.required("provider").string(), card: try fields["card"]?.string(),
        driver: try fields["driver"]?.string(), engine: try fields["engine"]?.string())
    }
  }
}

extension GoldenDecoder {
  fileprivate func count() throws -> Int {
    try integer(in: 0...Int.max, "must be 0 or more")
  }

  fileprivate func frame() throws -> FrameID {
    let numbers = try string().split(separator: ":").compactMap { Int($0) }
    guard numbers.count == 2 else { throw wrong("must be a frame such as 0:12") }
    return FrameID(track: numbers[0], sequence: numbers[1])
  }

  fileprivate func digest() throws -> Digest128 {
    guard let digest = Digest128(hex: try string()) else {
      throw wrong("must be 32 hexadecimal digits")
    }
    return digest
  }
}
