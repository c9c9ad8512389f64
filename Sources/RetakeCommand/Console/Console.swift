import Foundation
import Retake

/// Results go to standard output, everything else to standard error.
enum Console {
  /// Whether people watch standard error: only then is progress shown.
  static let isInteractive = isatty(STDERR_FILENO) == 1

  /// Colours on standard output, unless it is no terminal or NO_COLOR is set.
  static let isColoured =
    isatty(STDOUT_FILENO) == 1
    && (ProcessInfo.processInfo.environment["NO_COLOR"] ?? "").isEmpty

  private static let failure = Locked<Int32?>(nil)

  /// Why standard output did not take a result, such as a full disk; nil when it took all.
  static var lostOutput: String? { failure.withLock { $0 }.map { String(cString: strerror($0)) } }

  /// A reader that goes away, such as `head`, no longer ends the process: it is noticed where
  /// something is written.
  static func outliveReaders() { signal(SIGPIPE, SIG_IGN) }

  /// An answer for people. What is in it may come from a file, a database or a stage: nothing of it
  /// moves the terminal's cursor or turns text around.
  static func result(_ text: String) {
    put(visibleLines(ownCommands(text), keepsColours: isColoured))
  }

  /// An answer for programs, such as JSON: unchanged, but for a terminal, where characters that
  /// would act are escaped as JSON escapes them.
  static func data(_ text: String) {
    put(isTerminal ? visibleJSON(text) : text)
  }

  private static let isTerminal = isatty(STDOUT_FILENO) == 1

  private static func put(_ text: String) {
    guard let cause = write(text, to: .standardOutput) else { return }
    failure.withLock { $0 = $0 ?? cause }
  }

  static func note(_ text: String) {
    _ = write(visibleLines(ownCommands(text), keepsColours: false), to: .standardError)
  }

  /// Commands to type next, for the program that runs: one with stages of its own has another name,
  /// and alone knows those stages.
  static func ownCommands(_ text: String) -> String {
    let program = CommandEnvironment.current.program
    guard program != "retake", text.contains("retake ") else { return text }
    return Root.configuration.subcommands.compactMap { $0.configuration.commandName }
      .reduce(text) { replacing("retake \($1)", with: "\(program) \($1)", in: $0) }
  }

  /// Only where a command begins: `my-retake test` stays as it is.
  private static func replacing(_ old: String, with new: String, in text: String) -> String {
    var result = ""
    var rest = text[...]
    // Bounded: each turn takes an occurrence off the rest.
    while let range = rest.range(of: old) {
      result += rest[..<range.lowerBound]
      let isPart = result.last.map { $0.isLetter || $0.isNumber || "-_./".contains($0) } ?? false
      result += isPart ? old : new
      rest = rest[range.upperBound...]
    }
    return result + rest
  }

  /// An error in the form `error: place: message (cause)`, and the next thing to type.
  static func error(_ error: any CodedError) { note(text("error", error)) }

  /// A warning is a result of a check, in the form of an error.
  static func warning(_ warning: any CodedError) { result(text("warning", warning)) }

  private static func text(_ severity: String, _ error: any CodedError) -> String {
    var text = "\(severity): "
    if let place = error.place { text += visible("\(place): ") }
    text += visible(error.message)
    if let cause = error.cause { text += visible(" (\(cause))") }
    text += " [\(error.code)]"
    if let advice = error.advice { text += "\n  " + visible(advice) }
    return text
  }

  /// A value as JSON on standard output: keys in order, on one line or laid out.
  static func json(_ value: some Encodable, isPretty: Bool = true) throws {
    data(try jsonText(value, isPretty: isPretty))
  }

  /// The same text, for a stream of lines.
  static func jsonText(_ value: some Encodable, isPretty: Bool) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// The system's error number when the text was not taken.
  private static func write(_ text: String, to handle: FileHandle) -> Int32? {
    let line = text.hasSuffix("\n") ? text : text + "\n"
    do {
      try handle.write(contentsOf: Data(line.utf8))
      return nil
    } catch {
      return lossNumber(of: error)
    }
  }

  /// A reader that went away, such as `head`, and a closed output are no errors of ours.
  private static func lossNumber(of error: any Error) -> Int32? {
    error.systemNumber.flatMap { [ENOSPC, EDQUOT, EFBIG, EIO].contains($0) ? $0 : nil }
  }
}
