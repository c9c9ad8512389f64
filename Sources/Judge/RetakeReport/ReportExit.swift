/// The exit code of the run and its meaning.
package struct ReportExit: Hashable, Sendable, Codable {
  package var code: Int
  package var word: String
  package var meaning: String

  /// - Parameter expected: The number of cases that differ as their golden expects. They pass.
  package init(code: Int, expected: Int = 0) {
    self.code = code
    (word, meaning) = Self.texts(code)
    guard code == 0, expected > 0 else { return }
    meaning =
      "\(meaning.dropLast()), or differs as expected: \(Wording.count(expected, "case"))."
  }

  /// The end of a process that keeps results, whatever they are.
  package static let kept: Self = {
    var exit = Self(code: 0)
    (exit.word, exit.meaning) = (
      "kept", "Each case has a result; 'retake merge' has the exit code of the test."
    )
    return exit
  }()

  /// The word of this version for the code, for stored reports with an older word, too.
  package var shownWord: String { code == 1 ? "changed" : word }

  private static func texts(_ code: Int) -> (word: String, meaning: String) {
    switch code {
    case 0: ("passed", "Everything that was compared equals its golden within the tolerances.")
    // A program only sees a change; whether it is a regression, a person decides.
    case 1: ("changed", "At least one result differs from its golden.")
    case 2: ("error", "At least one case could not be run; its result is unknown.")
    case 3: ("golden missing", "A golden is missing or has not been accepted yet.")
    case 4: ("nothing compared", "No case was selected, or no result could be compared.")
    case 5: ("stale", "A golden is stale, or it is not comparable with this run.")
    case 64: ("usage", "The command line was not understood.")
    case 65: ("case killed", "A case killed its process twice; all other cases have results.")
    case 75: ("infrastructure", "A session or a disk could not be read; run the test again.")
    case 130: ("interrupted", "The run was interrupted; this report is not complete.")
    default: ("exit \(code)", "The run ended with exit code \(code).")
    }
  }
}
