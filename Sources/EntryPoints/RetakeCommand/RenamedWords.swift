import Retake

/// Words of the command line that had another name before. An old word is an error with the new
/// one.
extension RetakeCommand {
  /// The error for a command that has another name since.
  static func renamedCommand(_ arguments: [String]) -> String? {
    let words = arguments.drop { $0 == "help" }
    let found = FormerWords.commands.first {
      words.starts(with: $0.key.split(separator: " ")) { $0 == $1 }
    }
    return found.map { renamed($0.key, $0.value) }
  }

  /// The error for an option of a command that has another name since.
  static func renamedOption(_ arguments: [String]) -> String? {
    let typed = arguments.prefix { $0 != "--" }.map { $0.prefix { $0 != "=" } }
    for (command, options) in FormerWords.options where arguments.first == command {
      let found = options.first { typed.contains(Substring($0.key)) }
      if let found { return renamed(found.key, found.value) }
    }
    return nil
  }

  /// The error for a value of `--mode` or `--costs` that has another name since.
  static func renamedValue(_ arguments: [String]) -> String? {
    let words = Array(arguments.prefix { $0 != "--" })
    for (index, word) in words.enumerated() {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      guard let option = parts.first, option == "--mode" || option == "--costs" else { continue }
      guard let value = parts.count > 1 ? parts[1] : words.dropFirst(index + 1).first else {
        continue
      }
      let new =
        option == "--mode"
        ? FormerWords.modes.first { $0.key == value }?.value : FormerWords.renamedCosts(value)
      if let new { return renamed("\(option) \(visible(value))", "\(option) \(visible(new))") }
    }
    return nil
  }

  /// The error for `record --mode`: only a replay has modes.
  static func modeOfRecord(_ arguments: [String]) -> String? {
    let typed = arguments.prefix { $0 != "--" }.map { $0.prefix { $0 != "=" } }
    guard typed.first == "record", typed.contains("--mode") else { return nil }
    return "error: record has no option '--mode': it records every frame that it can\n"
      + "  A mode belongs to a replay: retake replay SESSION --mode every-frame, simulate or "
      + "reproduce"
  }

  private static func renamed(_ old: String, _ new: String) -> String {
    "error: '\(old)' was renamed; write '\(new)'"
  }
}
