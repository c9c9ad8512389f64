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

  static func result(_ text: String) { write(text, to: .standardOutput) }

  static func note(_ text: String) { write(text, to: .standardError) }

  /// An error in the form `error: place: message (cause)`, and the next thing to type.
  static func error(_ error: any CodedError) {
    var text = "error: "
    if let place = error.place { text += visible("\(place): ") }
    text += visible(error.message)
    if let cause = error.cause { text += visible(" (\(cause))") }
    text += " [\(error.code)]"
    if let advice = error.advice { text += "\n  " + visible(advice) }
    note(text)
  }

  /// A value as JSON on standard output: keys in order, on one line or laid out.
  static func json(_ value: some Encodable, isPretty: Bool = true) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    if isPretty { encoder.outputFormatting.insert(.prettyPrinted) }
    result(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  private static func write(_ text: String, to handle: FileHandle) {
    let line = text.hasSuffix("\n") ? text : text + "\n"
    // A reader that went away, such as `head`, is no error of ours.
    try? handle.write(contentsOf: Data(line.utf8))
  }
}
