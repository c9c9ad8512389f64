import RetakeCore
import RetakeGraph
import RetakeProcess

/// Trouble with a program, and the last lines that it wrote.
struct ForeignFault: Error, Hashable {
  var program: String
  var failure: ForeignFailure
  /// On one line; empty if it wrote nothing.
  var lastLines: String
  /// The timer that it was given, if it was not a frame.
  var timer: String?

  /// What happened, and the program's own words.
  var text: String {
    let text = failure.text + (timer.map { ", at \($0)" } ?? "")
    return lastLines.isEmpty ? text : "\(text); its last lines: \(lastLines)"
  }

  /// The run ends: what the program would have returned is not known.
  var stageError: StageError {
    StageError(
      code: failure.code, message: "the program '\(program)' \(text)", severity: .unrecoverable)
  }
}
