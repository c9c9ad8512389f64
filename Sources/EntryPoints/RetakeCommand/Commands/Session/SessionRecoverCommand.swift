import ArgumentParser
import Retake

struct SessionRecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Close a session that a recorder left open, or rebuild its database.",
    discussion: """
      Every whole packet that the recorder wrote is kept: frames after the last commit get a row \
      from the media. With --from-media, a database that is gone or damaged is made again; the old \
      one stays as session.sqlite.damaged. Done twice, or after a kill, the result is the same.

      Examples:
        retake session recover yard
        retake session recover yard --from-media
      """)

  @OptionGroup var session: SessionArgument
  @Flag(help: "Rebuild missing rows, or the whole database, from the media.")
  var fromMedia = false
  @OptionGroup var output: OutputOptions

  func run() throws {
    let path = try session.path(in: try CommandEnvironment.current.project())
    let result = try SessionProgress.shown("recovering", output) { report in
      try SessionRecovery(path, fromMedia: fromMedia, report: report).run()
    }
    if output.json {
      try Console.json(result)
      return
    }
    // A closed session is not changed, and its bytes were not checked.
    guard result.wasOpen else {
      Console.result(
        "\(result.status.rawValue): nothing to recover, \(counted(result.frames, "frame")); "
          + "retake session check checks the bytes")
      return
    }
    let found = result.rebuiltFrames > 0 ? ", \(result.rebuiltFrames) of them from the media" : ""
    Console.result(
      "\(result.status.rawValue): \(counted(result.frames, "frame")) kept\(found), "
        + "\(result.damagedFrames) damaged, \(result.tailBytes) bytes behind the last commit")
    for note in result.notes { output.note("note: \(note)") }
    if let losses = result.losses { Console.result("  incomplete: \(visible(losses))") }
  }
}
