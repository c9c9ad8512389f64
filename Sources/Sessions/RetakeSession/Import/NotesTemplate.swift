import RetakeCore

/// The initial NOTES.md of a session: facts, and questions that only people can answer.
enum NotesTemplate {
  static func text(_ result: ImportResult, sources: [String]) -> String {
    var lines = ["# \(result.folder.name)", ""]
    lines.append(
      "Imported from " + sources.map { "`\(fileName($0))`" }.joined(separator: ", ") + ".")
    lines.append("")
    for track in result.tracks {
      lines.append(
        "- Track \(track.track): \(track.codec), \(track.width)x\(track.height), "
          + "\(counted(track.frames, "frame"))")
    }
    for place in result.times.prefix(timesMax) { lines.append("- \(capitalized(place.text))") }
    for note in result.notes { lines.append("- \(capitalized(note))") }
    for (heading, question) in questions { lines += ["", "## \(heading)", "", question] }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let timesMax = 10

  private static let questions = [
    ("What", "_What is to be seen, and why is it worth keeping?_"),
    ("Where", "_The place, the camera and how it was mounted._"),
    ("When", "_The date and time, the light and the weather._"),
    ("Licence", "_Whose footage is it, and who may use it for what?_"),
  ]

  private static func fileName(_ path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    // The name comes from outside: a backtick or a line end would end the code span.
    return String(name.map { $0 == "`" || $0.isNewline ? "'" : $0 })
  }

  private static func capitalized(_ text: String) -> String {
    // A note may begin with the name of a file, which is kept.
    let word = text.prefix { $0 != " " && $0 != ":" }
    guard word.utf8.allSatisfy({ (0x61...0x7A).contains($0) }) else { return text }
    return text.prefix(1).uppercased() + text.dropFirst()
  }
}
