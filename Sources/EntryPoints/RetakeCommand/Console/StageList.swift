import Retake

/// The kinds of nodes with their options: as text, as JSON and as a page.
struct StageList {
  private struct Entry {
    var signature: StageSignature
    var options: [StageOption]
  }

  private let entries: [Entry]

  init(_ registry: StageRegistry, kinds: [String]) {
    entries = kinds.compactMap { kind in
      registry.signature(of: kind).map { Entry(signature: $0, options: registry.options(of: kind)) }
    }
  }

  /// Longer defaults are abbreviated for people, such as a palette of colors.
  private static let defaultLengthMax = 48

  private static func standard(of option: StageOption) -> String {
    guard let text = option.defaultValue?.canonicalText else { return "-" }
    guard text.count > defaultLengthMax else { return text }
    return text.first == "[" ? "[…]" : "{…}"
  }

  private static func types(_ signature: StageSignature) -> String {
    func name(_ type: ValueKind?) -> String { type?.description ?? "any" }
    return switch signature.role {
    case .source: name(signature.output)
    case .sink: name(signature.input)
    default: "\(name(signature.input)) → \(name(signature.output))"
    }
  }

  /// A line for each kind, and one below it for each option.
  var text: String {
    entries.map { entry in
      let head =
        "\(entry.signature.kind)  \(Self.types(entry.signature))  \(entry.signature.summary)"
      return ([head] + Self.lines(entry.options)).joined(separator: "\n")
    }.joined(separator: "\n")
  }

  private static func lines(_ options: [StageOption]) -> [String] {
    let defaults = options.map(standard)
    let (names, values) = (
      options.map(\.name.count).max() ?? 0, defaults.map(\.count).max() ?? 0
    )
    return zip(options, defaults).map { option, value in
      let line =
        "  \(option.name.padded(to: names))  \(value.padded(to: values))  "
        + (option.explanation ?? "")
      // An option without an explanation would end in the padding of its default.
      return String(line.reversed().drop { $0 == " " }.reversed())
    }
  }

  var json: JSONValue {
    .array(
      entries.map { entry in
        var members: [String: JSONValue] = [
          "kind": .string(entry.signature.kind), "summary": .string(entry.signature.summary),
          "version": .integer(Int64(entry.signature.version)),
          "options": .array(entry.options.map(Self.json)),
        ]
        members["input"] = entry.signature.input.map { .string($0.description) }
        members["output"] = entry.signature.output.map { .string($0.description) }
        return .object(members)
      })
  }

  private static func json(_ option: StageOption) -> JSONValue {
    var members: [String: JSONValue] = ["name": .string(option.name)]
    members["default"] = option.defaultValue
    members["explanation"] = option.explanation.map { .string($0) }
    return .object(members)
  }

  /// The page docs/stages.md.
  var markdown: String {
    let head = """
      # Stages

      Reference. The kinds of nodes that a [pipeline](pipelines.md) may have, and the options of each. All options have a
      default, except options that are called required. `retake pipeline stages` prints the same, with your own stages if
      [your program](own-stage.md) has some; `--json` prints defaults that are `[…]` here in full. This page is the output
      of `retake pipeline stages --markdown`.

      """
    return head + entries.map(Self.section).joined()
  }

  private static func section(_ entry: Entry) -> String {
    var text = "\n## \(entry.signature.kind)\n\n"
    text += "\(cell(types(entry.signature))): \(cell(entry.signature.summary)).\n"
    guard !entry.options.isEmpty else { return text }
    text += "\n| option | default | meaning |\n|---|---|---|\n"
    for option in entry.options {
      text +=
        "| `\(option.name)` | `\(standard(of: option))` | \(cell(option.explanation ?? "")) |\n"
    }
    return text
  }

  /// A bar would end the cell of a table.
  private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }
}
