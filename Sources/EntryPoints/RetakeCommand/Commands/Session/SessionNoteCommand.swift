import ArgumentParser
import Retake

struct SessionNoteCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "note",
    abstract: "Show or replace the note of a session.",
    discussion: """
      A few words to find a session again: 'session list' and 'session info' show them, also with \
      --json. Copies keep the note, and the session's digest does not depend on it.

      Examples:
        retake session note yard
        retake session note yard 'gate 3, rain, camera on the left post'
        retake session note yard ''                # removes it
        retake session list | grep rain
      """)

  @OptionGroup var session: SessionArgument
  @Argument(help: "The new note, at most 4096 bytes; '' removes it. Omit it to show the note.")
  var text: String?
  @OptionGroup var output: OutputOptions

  /// A session's note in `session note --json`.
  private struct Noted: Encodable {
    var session: String
    var note: String?
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let path = try text == nil ? session.path(in: project) : session.ownPath(in: project)
    let note = SessionNote(of: path)
    if let text { try note.set(text) }
    let known = try note.text()
    if output.json {
      try Console.json(Noted(session: SessionFolder(path: path).name, note: known))
    } else if let known {
      Console.result(visible(known))
    } else {
      output.note(
        "\(visible(session.session)) has no note\n  Write one: retake session note "
          + "\(visible(session.session.shellWord)) 'gate 3, rain'")
    }
  }
}
