/// Errors of results as text, and of the quanta that determine it.
package enum ResultTextError: CodedError, Hashable {
  /// A quantum that is not a power of ten.
  case quantum(name: String, value: Double)
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

  package var code: String {
    switch self {
    case .quantum: "core.results.quantum"
    case .header: "core.results.header"
    case .version: "core.results.version"
    case .line: "core.results.line"
    case .block: "core.results.block"
    case .cutShort: "core.results.cutShort"
    case .lineEnds: "core.results.lineEnds"
    }
  }

  package var message: String {
    switch self {
    case .quantum(let name, let value): "the quantum \(name): \(value) is not a power of ten"
    case .header(_, let line): "'\(line)' is not a header of a results file"
    case .version(_, let version): "results of version \(version) cannot be read here"
    case .line(_, let line, let text, let expected):
      "line \(line) is damaged: '\(text)' should be \(expected)"
    case .block(_, let line):
      "the lines before line \(line) were changed: they do not give its digest"
    case .cutShort: "the results end in the middle of a block"
    case .lineEnds: "the lines end in CR LF instead of LF"
    }
  }

  package var place: Place? {
    switch self {
    case .quantum: nil
    case .header(let file, _), .version(let file, _), .line(let file, _, _, _),
      .block(let file, _), .cutShort(let file), .lineEnds(let file):
      Place(file: file)
    }
  }

  package var advice: String? {
    switch self {
    case .quantum: "Use 1, 0.1, 0.01 and so on down to 0.000000001"
    // No version is older than this one, so a lower number is damage and gets the last advice.
    case .version(_, let version) where version > ResultHeader.version:
      "Use the Retake that wrote it, or a newer one"
    case .lineEnds: "Add '*.gold text eol=lf' to .gitattributes and check the file out again"
    case .header, .version, .line, .block, .cutShort:
      "Restore the file, for instance with 'git checkout', or make a new golden: "
        + "retake test, then retake accept --replace --reason '…'"
    }
  }
}
