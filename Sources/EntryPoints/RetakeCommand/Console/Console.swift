import Foundation
import Retake

/// Results go to standard output, everything else to standard error.
enum Console {
  /// Whether standard error is a terminal: progress is shown only then.
  static var isInteractive: Bool { ProcessContext.current.isErrorsTerminal }

  /// Whether standard output has colors: only on a terminal, and not if NO_COLOR is set.
  static var isColored: Bool {
    let context = ProcessContext.current
    return context.isOutputTerminal && (context.variables["NO_COLOR"] ?? "").isEmpty
  }

  /// Why standard output did not accept a result, such as a full disk; `nil` if it accepted
  /// everything.
  static var lostOutput: String? {
    ProcessContext.current.lostOutput.withLock { $0 }.map { String(cString: strerror($0)) }
  }

  /// Keeps the process running when a reader such as `head` closes the output. The next write
  /// reports it.
  static func outliveReaders() {
    if ProcessContext.current.ownsProcess { signal(SIGPIPE, SIG_IGN) }
  }

  /// Prints a result for people. Parts of it may come from a file, a database or a stage; no part
  /// can move the terminal's cursor or reverse the direction of text.
  static func result(_ text: String) {
    put(visibleLines(ownCommands(text), keepsColors: isColored))
  }

  /// Prints a result for programs, such as JSON. It is unchanged, except on a terminal, where
  /// characters that could act are written as JSON escapes.
  static func data(_ text: String) {
    // A file or a pipe gets each character as it is, because a program reads it.
    put(ProcessContext.current.isOutputTerminal ? visibleJSON(text) : text)
  }

  private static func put(_ text: String) {
    let context = ProcessContext.current
    guard let cause = write(text, to: context.output) else { return }
    // The first cause: the others may only follow from it.
    context.lostOutput.withLock { $0 = $0 ?? cause }
  }

  /// - Parameter eraser: Removes a progress line, in the same write.
  static func note(_ text: String, after eraser: String = "") {
    // An error of standard error cannot be reported anywhere.
    _ = write(eraser + noteText(text), to: ProcessContext.current.errors)
  }

  /// Passes the messages of a compiler on to standard error as they are.
  ///
  /// - Parameter eraser: Removes a progress line, in the same write.
  static func passOn(_ bytes: [UInt8], after eraser: String) {
    // An error of standard error cannot be reported anywhere.
    try? ProcessContext.current.errors.write(contentsOf: Data(eraser.utf8) + bytes)
  }

  /// The form in which a message goes to standard error.
  static func noteText(_ text: String) -> String {
    visibleLines(ownCommands(text), keepsColors: false)
  }

  /// Puts the name of this program into commands to type next.
  static func ownCommands(_ text: String) -> String {
    CommandEnvironment.current.name.applied(to: text)
  }

  /// Prints an error in the form `error: place: message (cause)`, followed by its advice.
  static func error(_ error: any CodedError) { note(text("error", error)) }

  /// Prints a warning, which is a result of a check in the form of an error.
  static func warning(_ warning: any CodedError) { result(text("warning", warning)) }

  private static func text(_ severity: String, _ error: any CodedError) -> String {
    var text = "\(severity): "
    // Each part by itself: a line feed in a file's name must not begin a line of the message, and
    // the line feed before the advice must.
    if let place = error.place { text += visible("\(place): ") }
    text += visible(error.message)
    if let cause = error.cause { text += visible(" (\(cause))") }
    text += " [\(error.code)]"
    if let advice = error.advice { text += "\n  " + visible(advice) }
    return text
  }

  /// Prints a value as JSON on standard output: keys sorted, on one line or indented.
  static func json(_ value: some Encodable, isPretty: Bool = true) throws {
    data(ownCommands(inJSON: try jsonText(value, isPretty: isPretty)))
  }

  /// The same as `ownCommands` for the strings of JSON. If JSON would escape the name, the text is
  /// returned unchanged.
  private static func ownCommands(inJSON text: String) -> String {
    let name = CommandEnvironment.current.name
    let isPlain = name.word.unicodeScalars.allSatisfy {
      $0.value >= 0x20 && $0 != "\"" && $0 != "\\"
    }
    return isPlain ? name.applied(to: text) : text
  }

  /// The same JSON as a string, for a stream of lines.
  static func jsonText(_ value: some Encodable, isPretty: Bool) throws -> String {
    let encoder = JSONEncoder()
    // Unsorted, keys would come in the order of a Dictionary, another one in each process.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Returns the system's error number if the string was not written.
  private static func write(_ text: String, to handle: FileHandle) -> Int32? {
    let line = text.hasSuffix("\n") ? text : text + "\n"
    do {
      try handle.write(contentsOf: Data(line.utf8))
      return nil
    } catch {
      return lossNumber(of: error)
    }
  }

  /// A reader such as `head` that closes its end is not an error, and neither is a closed output.
  private static func lossNumber(of error: any Error) -> Int32? {
    // Only errors of a disk that is full or broken. EPIPE means that the reader has left, EBADF
    // that the output is closed.
    error.systemNumber.flatMap { [ENOSPC, EDQUOT, EFBIG, EIO].contains($0) ? $0 : nil }
  }
}
