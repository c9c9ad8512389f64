import ArgumentParser
import Foundation
import Retake

struct SessionSnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot", abstract: "Copy a session safely, even while it is being recorded.",
    discussion: """
      The copy is the session as its last commit left it: closed, every packet checked. The recording \
      continues.

      Examples:
        retake session snapshot yard --into Backup
        retake session snapshot yard --into /mnt/usb --name yard-noon --json
      """)

  @OptionGroup var session: SessionArgument
  @OptionGroup var to: TargetOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let path = try session.path(in: project)
    let target = to.target(for: path, in: project, suffix: "snapshot")
    let result = try SessionProgress.shown("checking", output) { report in
      try SessionSnapshot(of: path, to: target, report: report).run()
    }
    try SessionCopyText.tell(result, output, in: project)
  }
}

struct SessionMigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Copy a session of an older schema into the current one.",
    discussion: """
      The old session stays as it is, and is still read. A session of a newer schema is refused.

      Examples:
        retake session migrate yard --into Migrated
        retake session migrate yard --into Migrated --link
      """)

  @OptionGroup var session: SessionArgument
  @OptionGroup var to: TargetOptions
  @Flag(help: "Link to the media rather than copying it.")
  var link = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let path = try session.path(in: project)
    let target = to.target(for: path, in: project, suffix: "schema\(SessionMigration.schema)")
    let made = try SessionProgress.shown("copying", output) { report in
      try SessionMigration(of: path, to: target, link: link, report: report).run()
    }
    guard let result = made else {
      // Scripts get one document even if no migration was necessary.
      if output.json { return try Console.json(try SessionReader(opening: path).info()) }
      return Console.result(
        "nothing to migrate, no copy made: \(visible(path)) has schema "
          + "\(SessionMigration.schema) already")
    }
    try SessionCopyText.tell(result, output, in: project)
  }
}

/// Prints a session that was made from another one, or from an archive.
enum SessionCopyText {
  static func tell(
    _ result: SessionCopyResult, _ output: OutputOptions, in project: Project
  ) throws {
    let own = [NewSession(result.path, in: project).noteOfCopy].compactMap(\.self)
    for note in result.notes + own { output.note("note: \(visible(note))") }
    guard !output.json else { return try Console.json(result) }
    let damaged = result.damagedFrames > 0 ? ", \(result.damagedFrames) of them damaged" : ""
    Console.result(
      "\(result.status.rawValue)  \(counted(result.frames, "frame"))\(damaged)  \(result.path)")
    Console.result("  digest \(result.sessionDigest)")
  }
}
