import ArgumentParser
import Foundation
public import Retake

/// The command `retake` as a library. A package with its own stages can build its own `retake`.
///
/// ```swift
/// RetakeCommand.main(stages: { $0.register(BrightRegion.self) })
/// ```
public enum RetakeCommand {
  /// Parses the process's arguments, runs the command, and exits with the documented status.
  ///
  /// - Parameters:
  ///   - stages: Registers stage kinds in addition to the built-in kinds.
  ///   - pipelines: Pipelines defined in Swift, available as `example:NAME`.
  public static func main(
    stages: (inout StageRegistry) -> Void = { _ in }, pipelines: [Pipeline] = []
  ) -> Never {
    // First of all, while the process has one thread.
    SandboxedProcess.begin()
    // Also before a program's own code: a signal then ends it with the documented status.
    Interruption.begin()
    var registry = StageRegistry.builtIn
    stages(&registry)
    let arguments = Array(CommandLine.arguments.dropFirst())
    let called = SandboxedProcess.current?.program ?? CommandLine.arguments.first ?? "retake"
    // A program with its own stages may be the only program that knows them, so advice names it as
    // it was called and can be pasted, even if its name is ./retake.
    let isOwn = !pipelines.isEmpty || registry.kinds != StageRegistry.builtIn.kinds
    let isRetake =
      called == "retake" || !isOwn && URL(fileURLWithPath: called).lastPathComponent == "retake"
    CommandEnvironment(
      registry: registry, pipelines: pipelines, arguments: arguments,
      program: isRetake ? "retake" : called
    ).begin()
    exit(status(of: arguments))
  }

  /// Runs a command and returns its exit status.
  static func status(of arguments: [String]) -> Int32 { number(of: run(arguments)) }

  /// Ends the process with the status of the last of a command's work, and without the cleanup of
  /// libraries, which could wait for a display.
  static func end(with work: () throws -> Void) -> Never {
    let status: ExitStatus
    do {
      status = try CommandEnd.status(of: work)
    } catch {
      Console.note("error: \(error.causeText)")
      status = .error
    }
    _exit(number(of: status))
  }

  private static func number(of status: ExitStatus) -> Int32 {
    // A regression that no one could read must not look like a reported regression.
    guard let cause = Console.lostOutput else { return status.rawValue }
    Console.note(
      "error: standard output cannot be written (\(cause))\n"
        + "  Send it to a file on a disk with free space, or to another program")
    return ExitStatus.strongest([status, .error])?.rawValue ?? status.rawValue
  }

  private static func run(_ arguments: [String]) -> ExitStatus {
    // An amount that cannot be read would otherwise be the default, without a message.
    let memory = ProcessInfo.processInfo.environment[PixelBudget.variable]
    if let problem = PixelBudget.problem(with: memory) {
      Console.note("error: \(problem)")
      return .usage
    }
    if let problem = renamedCommand(arguments) ?? commandOfLab(arguments) {
      Console.note(problem)
      return .usage
    }
    // Otherwise the parser would answer with the help of all commands.
    if arguments.first == "help", let problem = misspelling(arguments) {
      Console.note(problem)
      return .usage
    }
    if let problem = dashed(arguments) ?? emptyPath(arguments) {
      Console.note(problem)
      return .usage
    }
    do {
      var command = try Root.parseAsRoot(arguments)
      return try CommandEnd.status(of: {
        do {
          try ProcessLimit.check()
          try command.run()
        } catch let problem as ValidationError {
          // It is found too late for the parser to know which command's usage to print.
          Console.note(
            "error: \(problem.message)\n  See: retake \(commandWords(arguments)) --help")
          throw CommandEnd(status: .usage)
        }
      })
    } catch {
      return usage(error, arguments)
    }
  }

  /// As wide as the longest example, which must be pasted as one line.
  private static let helpColumns = 100

  /// Prints help, versions and invalid arguments as the parser formats them.
  private static func usage(_ error: any Error, _ arguments: [String]) -> ExitStatus {
    let code = Root.exitCode(for: error)
    let text = Root.fullMessage(for: error, columns: helpColumns)
    // The parser throws help and versions like errors.
    if code.isSuccess {
      if !text.isEmpty { Console.result(text) }
      return .passed
    }
    if code == .validationFailure {
      // The prefix that all other errors have.
      let parserPrefix = "Error: "
      let told = withoutFarSuggestion(
        text.hasPrefix(parserPrefix) ? "error: " + text.dropFirst(parserPrefix.count) : text)
      Console.note(
        renamedOption(arguments) ?? modeOfRecord(arguments) ?? renamedValue(arguments)
          ?? misspelling(arguments) ?? told)
      return .usage
    }
    // The parser would print a dump of an error of Foundation.
    let cause = error.causeText
    Console.note("error: \(text.isEmpty || cause != "\(error)" ? cause : text)")
    return .error
  }
}

extension RetakeCommand {
  /// The name of the command in the arguments: `cache warm`.
  private static func commandWords(_ arguments: [String]) -> String {
    var command = Root.configuration
    var words: [String] = []
    for word in arguments {
      let known = command.subcommands.map { $0.configuration }
      guard let next = known.first(where: { $0.commandName == word }) else { break }
      words.append(word)
      command = next
    }
    return words.joined(separator: " ")
  }

  /// A file such as -clip.mp4 is several short options to the parser, perhaps with -h for help.
  private static func dashed(_ arguments: [String]) -> String? {
    // After `--` every word is an argument, even if it begins with `-`.
    let word = arguments.prefix { $0 != "--" }.first { word in
      word.hasPrefix("-") && !word.hasPrefix("--") && word.count > 2
        // A digit begins a value, such as -1s, which its option refuses in its own words.
        && word.dropFirst().first?.isNumber == false
        && !word.dropFirst().allSatisfy(shortOptions.contains)
        && word.dropFirst(2).first != "="
    }
    guard let word else { return nil }
    return "error: '\(visible(word))' is not an option. "
      + "For a file of that name write ./\(visible(word))\n  See: retake --help"
  }

  private static let shortOptions = "hpq"

  /// The error for an empty argument, which as a path would be the current folder: an empty variable
  /// of a script.
  private static func emptyPath(_ arguments: [String]) -> String? {
    // Texts, which answer in their own words.
    let texted = [["session", "note"], ["query"]]
    guard !texted.contains(where: { arguments.starts(with: $0) }) else { return nil }
    for (word, before) in zip(arguments, [""] + arguments).prefix(while: { $0.0 != "--" }) {
      let option = before.hasPrefix("--") && !before.contains("=") ? before : nil
      guard word.isEmpty, !texts.contains(option ?? "") else { continue }
      let what = option.map { "the value of \(visible($0)), or a file's name after it," }
      return "error: \(what ?? "the file's name") is empty\n"
        + "  See: retake \(commandWords(arguments)) --help"
    }
    return nil
  }

  /// Options of texts, which answer to an empty value in their own words.
  private static let texts: Set = ["--cache", "--note", "--plot", "--program", "--reason"]

  /// The parser suggests the nearest option, however far it is.
  private static func withoutFarSuggestion(_ text: String) -> String {
    text.replacing(#/'(--[^']+)'\. Did you mean '(--[^']+)'\?/#) { match in
      Suggestion.nearest(to: String(match.1), among: [String(match.2)]) == nil
        ? "'\(match.1)'" : String(match.0)
    }
  }

  /// The error for a study that no user needs: `retake-lab` has it.
  private static func commandOfLab(_ arguments: [String]) -> String? {
    let words = arguments.drop { $0 == "help" }.map { $0.prefix { $0 != "=" } }
    guard words.first == "bench" else { return nil }
    let found = studiesOfLab.first { study in
      study.key.split(separator: " ").allSatisfy { words.contains($0) }
    }
    return found.map {
      "error: 'retake \($0.key)' is not part of retake; write '\($0.value)'\n"
        + "  retake-lab is built from the source: swift build --product retake-lab"
    }
  }

  private static let studiesOfLab: KeyValuePairs = [
    "bench articles": "retake-lab articles", "bench pools --study": "retake-lab pools STUDY",
    "bench pools --soak": "retake-lab soak TIME",
  ]

  /// The error for a misspelled command name, which the parser reads as an argument.
  private static func misspelling(_ arguments: [String]) -> String? {
    var command = Root.configuration
    var line = "retake"
    for word in arguments.drop(while: { $0 == "help" }) {
      let known = command.subcommands.map { $0.configuration }
      // After the last command only its own arguments follow.
      guard !known.isEmpty, !word.hasPrefix("-") else { return nil }
      guard let next = known.first(where: { $0.commandName == word }) else {
        let advice =
          word == "version"
          ? "Write: retake --version"
          : elsewhere(word)
            ?? Suggestion.advice(for: word, among: known.compactMap { $0.commandName })
        return "error: there is no command '\(visible(word))'. \(advice)\n  See: \(line) --help"
      }
      command = next
      line += " \(word)"
    }
    return nil
  }

  /// The advice for a command in another place: `retake session recover` for `retake recover`.
  private static func elsewhere(_ word: String) -> String? {
    let all = Root.configuration.subcommands.map { $0.configuration }
    let groups = all.filter { $0.subcommands.contains { $0.configuration.commandName == word } }
    let found =
      all.contains { $0.commandName == word }
      ? ["retake \(word)"] : groups.map { "retake \($0.commandName ?? "") \(word)" }
    return found.isEmpty ? nil : "Write: \(found.joined(separator: " or "))"
  }
}
