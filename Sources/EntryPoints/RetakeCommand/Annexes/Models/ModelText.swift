#if Models
  import Retake

  /// The output of `retake model info`.
  struct ModelText {
    /// The longest value of the metadata that is printed, in characters; `--json` has all of it.
    private static let valueLengthMax = 60
    /// The most characters of any other cell, such as a path.
    private static let cellLengthMax = 400
    /// The most inputs, outputs and entries of the metadata that are printed.
    private static let rowsMax = 32

    let model: ModelInspection

    var lines: [String] {
      [visible("\(model.file)  \(ByteText.of(model.bytes))")]
        + Self.table([
          ["sha256", model.sha256], ["format", "ONNX \(model.formatVersion), \(opsets)"],
          ["made by", model.producer.isEmpty ? "unknown" : model.producer],
          ["library", library], ["kernels", model.kernels],
          ["sidecar", model.sidecar ?? "none"],
        ])
        + Self.section("inputs", model.inputs.map(Self.port))
        + Self.section("outputs", model.outputs.map(Self.port))
        + Self.section("metadata", metadata)
        + Self.section("in force", model.settings.map { [$0.key, $0.value, $0.origin] })
        + problems
    }

    private var opsets: String {
      let sets = model.opsets.map { "\($0.domain) \($0.version)" }
      return sets.isEmpty ? "no operators" : "operators of " + sets.joined(separator: ", ")
    }

    private var library: String {
      model.library.map { "ONNX Runtime \($0.version)  \($0.path)" } ?? "no usable library"
    }

    private static func port(_ port: ModelInspection.Port) -> [String] {
      [port.name, port.type, port.shapeText]
    }

    /// Sorted, because the order of a Dictionary differs from process to process.
    private var metadata: [[String]] {
      model.metadata.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map {
        [$0.key, Self.shortened($0.value, max: Self.valueLengthMax)]
      }
    }

    private var problems: [String] {
      guard !model.problems.isEmpty else { return [] }
      return [
        model.library == nil
          ? "whether the model can be computed is not known" : "the model cannot be used yet"
      ]
        + model.problems.flatMap { problem in
          let cause = problem.cause.map { " (\($0))" } ?? ""
          return [visible("  \(problem.message)\(cause)")]
            + (problem.advice.map { [visible("    \($0)")] } ?? [])
        }
    }

    private static func section(_ title: String, _ rows: [[String]]) -> [String] {
      guard !rows.isEmpty else { return [] }
      let more = rows.count - rowsMax
      return [title] + table(Array(rows.prefix(rowsMax)))
        + (more > 0 ? ["  and \(more) more; --json has them"] : [])
    }

    /// One line for a terminal.
    private static func shortened(_ text: String, max length: Int) -> String {
      let text = visible(text)
      return text.count <= length ? text : text.prefix(length - 1) + "…"
    }

    /// Columns of equal width, moved to the right.
    private static func table(_ rows: [[String]]) -> [String] {
      let cells = rows.map { $0.map { shortened($0, max: cellLengthMax) } }
      let columns = cells.map(\.count).max() ?? 0
      let widths = (0..<columns).map { column in
        cells.compactMap { $0.count > column + 1 ? $0[column].count : nil }.max() ?? 0
      }
      return cells.map { row in
        let padded = row.enumerated().map { column, text in
          column + 1 == row.count
            ? text : text + String(repeating: " ", count: widths[column] - text.count)
        }
        return "  " + padded.joined(separator: "  ")
      }
    }
  }
#endif
