import RetakeCore
import RetakeGraph
import RetakeSession

/// Frames that a pipeline reads instead of a session's: a value of `--source`.
///
/// `images:Faces`, `images:face.png,fps=10` or `synthetic:figures,frames=60,width=320`. The words
/// after the commas are options of the stage that is named before the colon.
package struct SourceChoice: Hashable, Sendable {
  /// As it was written.
  package let text: String
  /// The stage's kind.
  let kind: String
  let options: [String: JSONValue]

  /// The forms, for help and errors.
  package static let forms =
    "images:PATH, images:PATH,fps=15, synthetic:figures or synthetic:pulse,frames=60"

  /// The kinds of sources, and the option that the word after the colon is for.
  private static let kinds = ["images": "path", "synthetic": "scene"]

  /// - Returns: nil for a text of another form.
  package init?(parsing text: String) {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    kind = String(text[..<colon])
    guard let main = Self.kinds[kind] else { return nil }
    var parts = text[text.index(after: colon)...].split(
      separator: ",", omittingEmptySubsequences: false)
    var options: [String: JSONValue] = [:]
    // From the end, because a path may have commas, too.
    while parts.count > 1, let option = parts.last.flatMap({ Self.option($0) }) {
      guard options.updateValue(option.value, forKey: option.key) == nil else { return nil }
      parts.removeLast()
    }
    let name = parts.joined(separator: ",")
    guard !name.isEmpty, options[main] == nil else { return nil }
    options[main] = .string(name)
    (self.text, self.options) = (text, options)
  }

  /// `fps=15`.
  private static func option(_ text: Substring) -> (key: String, value: JSONValue)? {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard parts.count == 2, !parts[0].isEmpty, parts[0].allSatisfy({ $0.isASCII && $0.isLetter })
    else { return nil }
    if let number = Int64(parts[1]) { return (String(parts[0]), .integer(number)) }
    return Double(parts[1]).flatMap { $0.isFinite ? (String(parts[0]), .number($0)) : nil }
  }

  /// The name of the session in goldens and reports: `images-Faces`.
  package var name: String { (try? SessionFolder.sanitized(name: text)) ?? kind }

  /// The pipeline with this source in place of each source that reads a session.
  ///
  /// - Throws: `suite.source.bad` for options that the source does not take,
  ///   `suite.source.noSession` for a pipeline that reads no session.
  func applied(
    to pipeline: Pipeline, catalog: some StageCatalog
  ) throws -> Pipeline {
    let stage: AnyStage
    do {
      stage = try catalog.make(kind: kind, options: .object(options))
    } catch let error as OptionProblem {
      let option = error.pointer.isEmpty ? "" : "'\(error.pointer.dropFirst())' "
      throw SuiteError(
        "suite.source.bad", "'--source \(text)' cannot be used", cause: option + error.message,
        advice: error.advice ?? "Write one of: \(SourceChoice.forms)", kind: .usage)
    }
    var pipeline = pipeline
    var isChanged = false
    for index in pipeline.nodes.indices where pipeline.nodes[index].kind == AnyStage.sessionKind {
      pipeline.nodes[index].stage = stage
      isChanged = true
    }
    guard isChanged else {
      throw SuiteError(
        "suite.source.noSession",
        "'--source \(text)' replaces nothing: no source of '\(pipeline.name)' reads a session",
        advice: "Leave out --source; the pipeline has its own frames", kind: .usage)
    }
    return pipeline
  }
}
