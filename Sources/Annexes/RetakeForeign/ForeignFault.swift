import RetakeGraph

/// A failure of a program, and the last lines that it wrote.
struct ForeignFault: Error, Hashable {
  var program: String
  var failure: ForeignFailure
  /// On one line; empty if the program wrote no lines.
  var lastLines: String
  /// The timer that it was given, if it was not a frame.
  var timer: String?

  /// The failure, and the last lines of the program.
  var text: String {
    let text = failure.text + (timer.map { ", at \($0)" } ?? "")
    return lastLines.isEmpty ? text : "\(text); its last lines: \(lastLines)"
  }

  /// The run ends, because the value that the program would have returned is not known.
  var stageError: StageError {
    StageError(
      code: failure.code, message: "the program '\(program)' \(text)", severity: .unrecoverable)
  }
}
