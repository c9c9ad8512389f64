/// Errors of results as text, and of the steps that determine it.
package enum ResultTextError: RetakeError, Hashable {
  /// A precision that is not a power of ten.
  case precision(name: String, value: Double)
  /// The first line is not a results header.
  case header(file: String, line: String)
  /// Written by another version of Retake.
  case version(file: String, version: Int)
  /// A line that does not follow the grammar; `line` counts from 1.
  case line(file: String, line: Int, text: String, expected: String)
  /// The lines before a B line do not match its digest or count.
  case block(file: String, line: Int)
  /// The file does not end with a B line.
  case cutShort(file: String)
  /// The file's line ends are CR LF.
  case lineEnds(file: String)

  package var facts: ErrorFacts {
    switch self {
    case .precision(let name, let value):
      ErrorFacts(
        "core.results.precision", "the precision \(name): \(value) is not a power of ten",
        advice: "Use 1, 0.1, 0.01 and so on down to 0.000000001")
    case .header(let file, let line):
      ErrorFacts(
        "core.results.header", "'\(line)' is not a header of a results file", at: file,
        advice: Self.remedy)
    case .version(let file, let version):
      ErrorFacts(
        "core.results.version", "results of version \(version) cannot be read here", at: file,
        // No version is older than this one, so a lower number is damage.
        advice: version > ResultHeader.version
          ? "Use the Retake that wrote it, or a newer one" : Self.remedy)
    case .line(let file, let line, let text, let expected):
      ErrorFacts(
        "core.results.line", "line \(line) is damaged: '\(text)' should be \(expected)", at: file,
        advice: Self.remedy)
    case .block(let file, let line):
      ErrorFacts(
        "core.results.block",
        "the lines before line \(line) were changed: their digest is different", at: file,
        advice: Self.remedy)
    case .cutShort(let file):
      ErrorFacts(
        "core.results.cutShort", "the results end in the middle of a block", at: file,
        advice: Self.remedy)
    case .lineEnds(let file):
      ErrorFacts(
        "core.results.lineEnds", "the lines end in CR LF instead of LF", at: file,
        advice: "Add '*.gold text eol=lf' to .gitattributes and check the file out again")
    }
  }

  private static let remedy =
    "Restore the file, for instance with 'git checkout', or make a new golden: "
    + "retake test, then retake accept --replace --reason '…'"
}
