import RetakeCompare
import RetakeCore
import RetakeGraph

extension GoldenManifest {
  /// The YAML document, with one line per part, so that a change is a change of one line.
  package var text: String {
    var lines = ["v: \(Self.version)"]
    for (key, value) in parts { lines.append("\(key): \(value.text)") }
    lines += Self.list("accepted", accepted.map(\.flow))
    if !expected.isEmpty { lines += Self.list("expected", expected.map(\.flow)) }
    if !fitted.isEmpty { lines += Self.list("fitted", fitted.map(\.flow)) }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func list(_ key: String, _ items: [FlowYAML]) -> [String] {
    // A list with several entries has one on each line, so that an added acceptance is one added
    // line in a diff.
    if items.count <= 1 { return ["\(key): \(FlowYAML.list(items).text)"] }
    return ["\(key):"] + items.map { "- \($0.text)" }
  }

  /// The files of programs and of stored results, if there are any.
  private var inputs: [(String, FlowYAML)] {
    [("programs", programs), ("files", files)].filter { !$0.1.isEmpty }.map { key, digests in
      (key, .sorted(digests) { .text($0) })
    }
  }

  private var parts: [(String, FlowYAML)] {
    [
      (
        "input",
        .map([
          ("session", .text(input.session)), ("digest", .text(input.digest.description)),
          ("tracks", .sorted(input.tracks) { .integer($0) }), ("frames", .integer(input.frames)),
          (
            "timeBase",
            .map(
              input.timeBase.sorted { $0.key < $1.key }.map {
                (String($0.key), .text($0.value.description))
              })
          ),
        ])
      ),
      (
        "case",
        .map([
          ("name", .text(testCase.name)), ("pipeline", .text(testCase.pipeline)),
          ("mode", .text(testCase.mode)), ("costs", .text(testCase.costs)),
          // Above 2^63 - 1 a string, because a YAML reader may round or refuse the integer.
          ("seed", Int(exactly: testCase.seed).map { .integer($0) } ?? .text("\(testCase.seed)")),
          ("overrides", .sorted(testCase.overrides) { FlowYAML($0) }),
        ])
      ),
      (
        "pipeline",
        .map(
          [
            ("name", .text(pipeline.name)), ("digest", .text(pipeline.digest.description)),
            ("nodes", .list(pipeline.nodes.map { .text($0) })),
          ]
            + (pipeline.sinks.isEmpty
              ? [] : [("sinks", .sorted(pipeline.sinks) { .list($0.map { .text($0) }) })]))
      ),
      ("models", .sorted(models) { .text($0) }),
    ]
      + (devices.isEmpty ? [] : [("devices", devices.flow)]) + inputs
      + (labels.map { [("labels", .text("\($0)"))] } ?? []) + [
        (
          "precision",
          .sorted(precision) { .encoding($0, keys: Precision.CodingKeys.names) }
        ),
        ("compare", .sorted(compare.bySink) { .encoding($0, keys: SinkRule.CodingKeys.names) }),
        ("budgets", budgets.flow),
        ("summary", summary.flow),
      ]
  }
}

extension GoldenManifest.Budgets {
  fileprivate var flow: FlowYAML {
    let times = [("latencyMax", latencyMax), ("latencyP99", latencyP99)]
    return .map(
      (droppedMax.map { [("droppedMax", .integer($0))] } ?? [])
        + times.compactMap { name, value in
          value.map { (name, .text(Duration.nanoseconds($0).unitText)) }
        }
        + LabelMetric.allCases.compactMap { metric in
          labels[metric].map { (metric.rawValue, $0.flow(metric)) }
        })
  }
}

extension LabelBudget {
  fileprivate func flow(_ metric: LabelMetric) -> FlowYAML {
    let names = Self.names(of: metric)
    return .map(
      [(names.limit, limit), (names.lossMax, lossMax)].compactMap { name, value in
        value.map { (name, .number($0)) }
      })
  }
}

extension GoldenManifest.Latency {
  fileprivate var flow: FlowYAML {
    .map([
      ("max", .text(Duration.nanoseconds(max).unitText)),
      ("p99", .text(Duration.nanoseconds(p99).unitText)),
      ("slowest", .text(slowest.description)),
    ])
  }
}

extension GoldenManifest.Damage {
  fileprivate var flow: FlowYAML {
    .map([
      ("frames", .integer(frames)), ("first", .text(first.description)),
      ("last", .text(last.description)),
    ])
  }
}

extension GoldenManifest.Summary {
  fileprivate var flow: FlowYAML {
    .map(
      [
        ("captured", .integer(captured)), ("delivered", .integer(delivered)),
        ("facts", .integer(facts)), ("decisions", .integer(decisions)),
        ("decisionDigest", .text(decisionDigest.description)),
        ("resultDigest", .text(resultDigest.description)),
      ] + (latency.map { [("latency", $0.flow)] } ?? [])
        + (damaged.map { [("damaged", $0.flow)] } ?? []))
  }
}

extension GoldenManifest.Acceptance {
  fileprivate var flow: FlowYAML {
    .map([
      ("at", .text(at)), ("reason", .text(reason)),
      ("rootCauses", .list(rootCauses.map { .text($0) })),
      ("frames", .integer(frames)), ("maxError", .number(maxError)),
    ])
  }
}

extension GoldenManifest.Expected {
  fileprivate var flow: FlowYAML {
    .map(
      [("id", .text(id)), ("frames", .text(frames))] + (url.map { [("url", .text($0))] } ?? []))
  }
}

extension GoldenManifest.Fit {
  fileprivate var flow: FlowYAML {
    .map(
      [("at", .text(at))] + (devices.isEmpty ? [] : [("devices", devices.flow)]) + [
        ("sink", .text(sink)), ("quantity", .text(quantity)),
        ("largest", .number(largest)), ("allowed", .number(allowed)),
        ("conditions", .list(conditions.map { .text($0) })),
      ])
  }
}

extension [String: ModelDevice] {
  fileprivate var flow: FlowYAML {
    .sorted(self) { device in
      .map(device.fields.compactMap { name, value in value.map { (name, .text($0)) } })
    }
  }
}

extension CaseIterable where Self: CodingKey {
  static var names: [String] { allCases.map(\.stringValue) }
}

/// YAML on one line.
indirect enum FlowYAML {
  case text(String)
  case integer(Int)
  case number(Double)
  case other(JSONValue)
  case list([FlowYAML])
  case map([(String, FlowYAML)])

  /// Keys sorted by their bytes.
  static func sorted<Value>(
    _ values: [String: Value], _ form: (Value) -> FlowYAML
  ) -> FlowYAML {
    // By bytes, as other programs sort: Swift's `<` compares strings in a normalized form.
    let entries = values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    return .map(entries.map { ($0.key, form($0.value)) })
  }

  /// A value in its own encoding, with its keys in the order of `keys`.
  static func encoding(_ value: some Encodable, keys: [String]) -> FlowYAML {
    guard let json = try? JSONValue(encoding: value) else { return .map([]) }
    return .map(keys.compactMap { key in json[key].map { (key, FlowYAML($0)) } })
  }

  init(_ json: JSONValue) {
    switch json {
    case .string(let text): self = .text(text)
    case .integer(let value): self = .integer(Int(value))
    case .number(let value): self = .number(value)
    case .array(let values): self = .list(values.map { FlowYAML($0) })
    case .object(let members): self = .sorted(members) { FlowYAML($0) }
    case .null, .bool: self = .other(json)
    }
  }

  var text: String {
    switch self {
    case .text(let text): Self.scalar(text)
    case .integer(let value): String(value)
    case .number(let value): JSONValue.number(value).canonicalText
    case .other(let json): json.canonicalText
    case .list(let items): "[" + items.map(\.text).joined(separator: ", ") + "]"
    case .map(let entries):
      "{" + entries.map { "\(Self.scalar($0, asKey: true)): \($1.text)" }.joined(separator: ", ")
        + "}"
    }
  }

  /// Plain if every YAML reader reads it as a string, else in double quotes. A date such as
  /// 2026-11-21 is plain as well: it is a string in the core schema, which the format has, and a
  /// date for readers of YAML 1.1.
  static func scalar(_ text: String, asKey: Bool = false) -> String {
    // No `:` among them: YAML 1.1 reads `1:12` as a number to the base 60.
    let plain = text.utf8.allSatisfy { byte in
      switch byte {
      case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
      case UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: "+"),
        UInt8(ascii: "-"), UInt8(ascii: "@"), UInt8(ascii: " "):
        true
      default: false
      }
    }
    // A leading `-` may begin a list item, and `@` is reserved (YAML 1.2, section 5.3).
    guard plain, let first = text.utf8.first, let last = text.utf8.last, first != 0x20,
      last != 0x20, first != UInt8(ascii: "-"), first != UInt8(ascii: "@"),
      !reserved.contains(text.lowercased()), asKey || !looksLikeNumber(text)
    else { return JSONValue.quoted(text) }
    return text
  }

  private static let reserved: Set<String> = [
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", "~", ".nan", ".inf", "+.inf",
  ]

  private static func looksLikeNumber(_ text: String) -> Bool {
    // Without `_`, which YAML 1.1 allows between digits.
    Double(text.filter { $0 != "_" }) != nil || text.hasPrefix("0x") || text.hasPrefix("0o")
      || isBinary(text)
  }

  /// Whether YAML 1.1 reads it as a number to the base 2. Not every string that begins with `0b`:
  /// digests do, too, and stay plain.
  private static func isBinary(_ text: String) -> Bool {
    let digits = text.hasPrefix("+") ? text.dropFirst() : text[...]
    return digits.hasPrefix("0b") && digits.count > 2
      && digits.dropFirst(2).allSatisfy { "01_".contains($0) }
  }
}
