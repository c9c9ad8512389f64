/// The name of the running program in commands to type. A program with its own stages is called
/// something other than `retake`, and only that program knows these stages.
///
/// Messages, help and reports are written with `retake`, and get the name where they are shown.
package struct ProgramName: Hashable, Sendable {
  /// The name as one word of a shell command.
  package let word: String

  /// - Parameter called: The program as it was called: a name, or a path.
  package init(_ called: String) {
    word = called.shellWord
  }

  package static let retake = ProgramName("retake")

  /// The commands of the program. A test compares this list with the program's commands.
  package static let commands = [
    "accept", "bench", "bisect", "build", "cache", "ci", "compare", "coverage", "diff", "doctor",
    "find", "fleet", "golden", "help", "import", "init", "label", "merge", "migrate", "model",
    "pipeline", "plan", "profile", "query", "record", "reduce", "reject", "replay", "report",
    "review", "run-shard", "session", "store", "stress", "test", "trend", "verify", "view",
  ]

  /// Replaces the name in the commands of a text: `retake test`, `retake --help`, and
  /// `retake <subcommand>` of a usage line. `my-retake test` and "this retake reads" stay.
  package func applied(to text: String) -> String {
    guard self != .retake, text.contains("retake ") else { return text }
    var result = ""
    var rest = text[...]
    // Bounded: each round removes an occurrence from the rest.
    while let range = rest.firstRange(of: "retake ") {
      result += rest[..<range.lowerBound]
      let isPart = result.last.map { $0.isLetter || $0.isNumber || "-_./".contains($0) } ?? false
      rest = rest[range.upperBound...]
      result += (isPart || !Self.beginsCommand(rest) ? "retake" : word) + " "
    }
    return result + rest
  }

  private static func beginsCommand(_ rest: Substring) -> Bool {
    if rest.hasPrefix("--") || rest.hasPrefix("<") { return true }
    return commands.contains(String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "-" }))
  }
}
