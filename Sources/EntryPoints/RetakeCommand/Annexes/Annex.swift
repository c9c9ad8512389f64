import ArgumentParser
import Retake

/// A part of Retake that a package leaves out if it does not enable the part's trait. Its code is
/// in a separate folder here; the rest of the command uses it through this protocol alone.
protocol Annex {
  static var commands: [AnnexCommand] { get }
  static var importers: [any AnnexImporter.Type] { get }
}

extension Annex {
  static var commands: [AnnexCommand] { [] }
  static var importers: [any AnnexImporter.Type] { [] }
}

/// Makes a session of files that are not video.
protocol AnnexImporter {
  /// Whether a file, or a folder of files, is of this form.
  static func accepts(_ file: String) -> Bool

  /// - Throws: `ValidationError` for options that files of this form do not have.
  static func validate(_ command: ImportCommand) throws

  static func run(_ command: ImportCommand, _ file: String) throws
}

extension Annexes {
  /// The subcommands of a command, with the commands of annexes at their places.
  static func commands(
    of parent: any ParsableCommand.Type, among commands: [any ParsableCommand.Type]
  ) -> [any ParsableCommand.Type] {
    let added = all.flatMap { $0.commands }.filter { $0.parent == parent }
    return commands.flatMap { command in
      [command] + added.filter { $0.after == command }.map(\.command)
    }
  }

  static func importer(of file: String) -> (any AnnexImporter.Type)? {
    all.flatMap { $0.importers }.first { $0.accepts(file) }
  }
}
