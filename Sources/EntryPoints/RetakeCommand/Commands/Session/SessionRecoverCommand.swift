import ArgumentParser
import Retake

struct SessionRecoverCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover",
    abstract: "Close a session that a recorder left open, or rebuild its database.",
    discussion: """
      Every complete packet that the recorder wrote is kept: the rows of frames after the last \
      commit are rebuilt from the media. With --from-media, a missing or damaged database is \
      rebuilt; the old database stays as session.sqlite.damaged. The result is the same if the \
      command is repeated, or was killed before.

      Examples:
        retake session recover yard
        retake session recover yard --from-media
      """)

  @OptionGroup var session: SessionArgument
  @Flag(help: "Rebuild missing rows, or the complete database, from the media.")
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
    // A closed session is not changed, and its media was not read.
    guard result.wasOpen else {
      Console.result("closed already, nothing to recover: \(counted(result.frames, "frame"))")
      if let losses = result.losses { Console.result("  incomplete: \(visible(losses))") }
      output.note("  the media was not read; retake session check \(path) reads it")
      noteEmpty(result)
      return
    }
    let found = result.rebuiltFrames > 0 ? ", \(result.rebuiltFrames) of them from the media" : ""
    Console.result(
      "\(result.status.rawValue): \(counted(result.frames, "frame")) kept\(found), "
        + "\(result.damagedFrames) damaged, \(ByteText.of(result.tailBytes)) after the last commit")
    for note in result.notes { output.note("note: \(note)") }
    if let losses = result.losses { Console.result("  incomplete: \(visible(losses))") }
    noteEmpty(result)
  }

  /// A recorder that was killed before its first commit, such as a ring without a moment, leaves a
  /// folder without footage.
  private func noteEmpty(_ result: RecoveryResult) {
    guard result.frames == 0 else { return }
    output.note(
      "note: the session has no frame, so no command can use it; remove it: "
        + "rm -r \(result.path.shellWord)")
  }
}
