import RetakeCore

/// Errors in the files of a golden.
package enum GoldenError: CodedError, Hashable {
  /// Nothing has been accepted yet.
  case missing(folder: String)
  /// golden.yml exists, but a file that belongs to it does not.
  case fileMissing(file: String)
  /// An invalid key or value in golden.yml.
  case manifest(file: String, pointer: String, detail: String, advice: String?)
  /// Written by another version of Retake.
  case version(file: String, version: Int)
  /// An invalid line of decisions.gold or of a digests file; `line` counts from 1.
  case line(file: String, line: Int, text: String, expected: String)
  /// The files of one golden do not belong together.
  case inconsistent(file: String, detail: String)
  case results(ResultTextError)
  /// There is nothing to accept.
  case nothingPending(folder: String)
  /// The pending golden is not the one that was reviewed: another run has ended in the meantime.
  case pendingChanged(folder: String)
  /// The pending golden has no root causes that can be accepted separately.
  case indivisible(folder: String, why: String)
  /// Some of the chosen root causes are written together with others; `others` are those that were
  /// not chosen.
  case inseparable(folder: String, why: String, others: [String])
  case io(path: String, action: String, cause: String)

  package var code: String {
    switch self {
    case .missing: "golden.missing"
    case .fileMissing: "golden.file.missing"
    case .manifest: "golden.manifest.invalid"
    case .version: "golden.version"
    case .line: "golden.file.line"
    case .inconsistent: "golden.file.inconsistent"
    case .results(let error): error.code
    case .nothingPending: "golden.pending.none"
    case .pendingChanged: "golden.pending.changed"
    case .indivisible: "golden.pending.indivisible"
    case .inseparable: "golden.pending.inseparable"
    case .io: "golden.io"
    }
  }

  package var message: String {
    switch self {
    case .missing: "there is no accepted golden"
    case .fileMissing: "the file belongs to the golden and is missing"
    case .manifest(_, _, let detail, _): detail
    case .version(_, let version): "a golden of version \(version) cannot be read here"
    case .line(_, let line, let text, let expected):
      "line \(line) is damaged: '\(text)' should be \(expected)"
    case .inconsistent(_, let detail): detail
    case .results(let error): error.message
    case .nothingPending: "there is no pending golden"
    case .pendingChanged: "another run ended meanwhile: what is pending is not what was looked at"
    case .indivisible(_, let why): "the pending golden has no root causes: \(why)"
    case .inseparable(_, let why, let others):
      "\(why); left out: \(others.joined(separator: ", "))"
    case .io(_, let action, _): "cannot \(action)"
    }
  }

  package var cause: String? {
    switch self {
    case .io(_, _, let cause): cause
    case .results(let error): error.cause
    default: nil
    }
  }

  package var place: Place? {
    switch self {
    case .missing(let path), .fileMissing(let path), .version(let path, _),
      .line(let path, _, _, _), .inconsistent(let path, _), .nothingPending(let path),
      .pendingChanged(let path), .indivisible(let path, _), .inseparable(let path, _, _),
      .io(let path, _, _):
      Place(file: path)
    case .manifest(let file, let pointer, _, _): Place(file: file, pointer: pointer)
    case .results(let error): error.place
    }
  }

  package var advice: String? {
    switch self {
    case .missing: "Look at the pending result and take it: retake accept --reason '…'"
    case .fileMissing(let file), .line(let file, _, _, _), .inconsistent(let file, _):
      Self.remedy(file)
    case .manifest(let file, _, _, let advice): advice ?? Self.remedy(file)
    case .version: "Use the Retake that wrote it, or a newer one"
    case .results(let error): error.advice
    case .nothingPending: "Run 'retake test' first: it writes what it found as pending"
    case .pendingChanged: "Look at the new result, then decide again: retake review"
    case .indivisible: "Take or refuse it as a whole, without --root and --stage"
    case .inseparable(_, _, let others):
      "Name them too: " + others.map { "--root '\($0)'" }.joined(separator: " ")
    case .io(_, _, let cause):
      Self.advice(forCause: cause)
    }
  }
}

extension GoldenError {
  /// How to fix a file that cannot be read or written.
  private static func advice(forCause cause: String) -> String {
    // The texts are those of `GoldenLibrary.requireOwn` and of `RegularFile.Refusal`. They have to
    // change together with these prefixes.
    if cause.hasPrefix("it is a symbolic link that leads") {
      return "Put a folder in its place; 'Goldens' itself may be a link"
    }
    // A regular file of too many bytes.
    if cause.hasPrefix("it has ") { return remedyOfSize }
    return cause.hasPrefix("it ")
      ? "Put a regular file in its place" : "Check the folder's permissions and the free space"
  }

  private static let remedyOfSize =
    "Retake writes no such file: restore it, for instance with 'git checkout', or make a new "
    + "golden: retake test, then retake accept --replace --reason '…'"

  /// How to fix a damaged file.
  private static func remedy(_ file: String) -> String {
    if file.hasSuffix("/" + GoldenFolder.pipelineName) {
      return "Restore the file, for instance with 'git checkout', or write it again where the "
        + "pipeline is the golden's: retake golden adopt --pipelines"
    }
    // Git ignores pending files, so it cannot restore one; a new run writes them all again.
    return file.hasSuffix(".new")
      ? "Make what is pending again: retake test"
      : "Restore the file, for instance with 'git checkout', or make a new golden: "
        + "retake test, then retake accept --replace --reason '…'"
  }
}

extension GoldenError: DocumentFailure {
  /// The reader fills in the file, because only the reader knows it.
  package init(_ problem: DocumentProblem) {
    switch problem.reason {
    case .otherVersion(let version): self = .version(file: "", version: version)
    // What is missing is restored, not written by hand.
    case .missingKey:
      self = .manifest(file: "", pointer: problem.pointer, detail: problem.message, advice: nil)
    default:
      self = .manifest(
        file: "", pointer: problem.pointer, detail: problem.message, advice: problem.advice)
    }
  }

  /// The same error with the name of the file, if it has none.
  func at(_ file: String) -> GoldenError {
    switch self {
    case .manifest("", let pointer, let detail, let advice):
      .manifest(file: file, pointer: pointer, detail: detail, advice: advice)
    case .version("", let version): .version(file: file, version: version)
    default: self
    }
  }
}
