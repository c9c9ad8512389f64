import Foundation
package import RetakeCore

/// Errors in the files of a golden.
package enum GoldenError: RetakeError, Hashable {
  /// No golden has been accepted yet.
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
  /// There is no pending golden.
  case nothingPending(folder: String)
  /// The pending golden changed after its review: another run has ended in the meantime.
  case pendingChanged(folder: String)
  /// The pending golden has no root causes that can be accepted separately.
  case indivisible(folder: String, why: String)
  /// Some of the chosen root causes are written together with others; `others` are the root causes
  /// that were not chosen.
  case inseparable(folder: String, why: String, others: [String])
  case io(path: String, action: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .missing(let folder):
      ErrorFacts(
        "golden.missing", "there is no accepted golden", at: folder,
        advice: "Look at the pending result and accept it: retake accept --reason '…'")
    case .fileMissing(let file):
      ErrorFacts(
        "golden.file.missing", "the file belongs to the golden and is missing", at: file,
        advice: Self.remedy(file))
    case .manifest(let file, let pointer, let detail, let advice):
      ErrorFacts(
        "golden.manifest.invalid", detail, at: file, pointer: pointer,
        advice: advice ?? Self.remedy(file))
    case .version(let file, let version):
      ErrorFacts(
        "golden.version", "a golden of version \(version) cannot be read here", at: file,
        advice: "Use the Retake that wrote it, or a newer one")
    case .line(let file, let line, let text, let expected):
      ErrorFacts(
        "golden.file.line", "line \(line) is damaged: '\(text)' should be \(expected)", at: file,
        advice: Self.remedy(file))
    case .inconsistent(let file, let detail):
      ErrorFacts("golden.file.inconsistent", detail, at: file, advice: Self.remedy(file))
    case .results(let error): error.facts
    case .nothingPending(let folder):
      ErrorFacts(
        "golden.pending.none", "there is no pending golden", at: folder,
        advice: "Run 'retake test' first: it writes changed results as pending")
    case .pendingChanged(let folder):
      ErrorFacts(
        "golden.pending.changed",
        "another run ended meanwhile: the pending result is not the reviewed result", at: folder,
        advice: "Look at the new result, then decide again: retake review")
    case .indivisible(let folder, let why):
      ErrorFacts(
        "golden.pending.indivisible", "the pending golden has no root causes: \(why)", at: folder,
        advice: "Accept or reject all of it, without --root-cause and --stage")
    case .inseparable(let folder, let why, let others):
      ErrorFacts(
        "golden.pending.inseparable", "\(why); left out: \(others.joined(separator: ", "))",
        at: folder,
        advice: "Name them too: " + others.map { "--root-cause '\($0)'" }.joined(separator: " "))
    case .io(let path, let action, let cause):
      ErrorFacts(
        "golden.io", "cannot \(action)", cause: cause, at: path,
        advice: Self.advice(forCause: cause, of: action))
    }
  }
}

extension GoldenError {
  /// How to fix a file that cannot be read or written.
  private static func advice(forCause cause: String, of action: String) -> String {
    switch cause {
    case String(cString: strerror(EACCES)):
      return action.hasPrefix("read") ? "Make it readable" : "Make its folder writable"
    case String(cString: strerror(ENOSPC)): return "Free space on the disk"
    default: break
    }
    // `GoldenLibrary.requireOwn` and `RegularFile.Refusal` write these texts. They have to change
    // together with the prefixes here.
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
        + "pipeline is the golden's: retake golden sync-rules --pipelines"
    }
    // Git ignores pending files, so it cannot restore one; a new run writes them all again.
    return file.hasSuffix(".new")
      ? "Make the pending result again: retake test"
      : "Restore the file, for instance with 'git checkout', or make a new golden: "
        + "retake test, then retake accept --replace --reason '…'"
  }
}

extension GoldenError: DocumentFailure {
  /// The reader fills in the file, because only the reader knows it.
  package init(_ problem: DocumentProblem) {
    switch problem.reason {
    case .otherVersion(let version): self = .version(file: "", version: version)
    // A missing key is restored, not written by hand.
    case .missingKey:
      self = .manifest(file: "", pointer: problem.pointer, detail: problem.message, advice: nil)
    default:
      self = .manifest(
        file: "", pointer: problem.pointer, detail: problem.message, advice: problem.advice)
    }
  }

  /// The same error; if it names no file, with the name of this file.
  package func at(_ file: String) -> GoldenError {
    switch self {
    case .manifest("", let pointer, let detail, let advice):
      .manifest(file: file, pointer: pointer, detail: detail, advice: advice)
    case .version("", let version): .version(file: file, version: version)
    default: self
    }
  }
}
