import ArgumentParser
import Retake

/// A command of an annex, and its place among the other commands.
struct AnnexCommand {
  /// The command that it is a part of.
  var parent: any ParsableCommand.Type
  /// The command that it follows in the help.
  var after: any ParsableCommand.Type
  var command: any ParsableCommand.Type
}
