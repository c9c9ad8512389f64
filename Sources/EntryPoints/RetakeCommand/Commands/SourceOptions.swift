import ArgumentParser
import Retake

/// Frames in place of a session's, for `replay` and `test`.
struct SourceOptions: ParsableArguments {
  @Option(
    name: .customLong("source"),
    help: ArgumentHelp(
      "Read these frames instead of a session's: images:PATH, synthetic:SCENE.",
      discussion: """
        images:Faces is a folder of PNG and JPEG files, or one file; synthetic:figures, pulse and \
        cut are drawn. Options of the source follow: images:Faces,fps=15, \
        synthetic:pulse,frames=60,width=320. Replaces each source that reads a session.
        """))
  private var text: String?

  /// - Throws: `ValidationError` for a text of another form.
  func validate() throws {
    guard let text, SourceChoice(parsing: text) == nil else { return }
    throw ValidationError(
      "'--source \(text)' cannot be used here. Write one of: \(SourceChoice.forms)")
  }

  var choice: SourceChoice? { text.flatMap { SourceChoice(parsing: $0) } }

  /// - Throws: `ValidationError` for a session, or an option that goes with one.
  func check(sessions: [String], tracks: [String], costs: String?) throws {
    guard let choice else { return }
    if let session = sessions.first {
      throw ValidationError(
        "--source \(choice.text) provides the frames: leave out the session '\(session)'")
    }
    guard tracks.isEmpty else {
      throw ValidationError("--track goes with a session: leave out --source or --track")
    }
    guard costs.flatMap({ CostChoice(parsing: $0) })?.readsSession != true else {
      throw ValidationError("timings of a session goes with a session: write --costs timings:FILE")
    }
  }
}
