/// Words of documents and of the command line that had another name before.
///
/// A document with an old word is refused with the new one, and `retake migrate` rewrites it. Data
/// that a program stored (sessions, the pipeline of a live run, the bytes that a digest covers)
/// keeps the stored word: docs/glossary.md names it.
package enum FormerWords {
  /// Keys of a node in a pipeline document, with the word that the pipeline's digest covers.
  package static let nodeKeys: KeyValuePairs = [
    "quantum": "precision", "lanes": "concurrency",
  ]

  /// Values of `mode`.
  package static let modes: KeyValuePairs = [
    "lossless": "every-frame", "redecide": "simulate", "reenact": "reproduce",
  ]

  /// Keys of retake.yml and golden.yml.
  package static let projectKeys: KeyValuePairs = [
    "quantisation": "precision", "roots": "rootCauses",
  ]

  /// The first word of `costs`: `tape`, `tape@2`, `tape:FILE`, `tape+profile:FILE`.
  package static let costs = (old: "tape", new: "timings")

  /// Commands, without `retake`.
  package static let commands: KeyValuePairs = [
    "session doctor": "session check", "session optimise": "session transcode",
    "session optimize": "session transcode", "session repair": "session recover",
    "golden fit": "golden calibrate", "golden adopt": "golden sync-rules",
    "golden stale": "golden list --stale",
  ]

  /// Options of commands.
  package static let options: [(command: String, options: KeyValuePairs<String, String>)] = [
    (
      "record",
      [
        "--ring-memory": "--pre-trigger-memory", "--ring": "--pre-trigger",
        "--reserve": "--min-free", "--patience": "--reconnect-timeout", "--pace": "--speed",
      ]
    ),
    ("replay", ["--write-tape": "--write-timings"]),
    ("accept", ["--root": "--root-cause"]), ("reject", ["--root": "--root-cause"]),
  ]

  /// The new word, if `word` is an old one and the new one is known here.
  package static func successor(of word: String, among known: [String]) -> String? {
    for table in [nodeKeys, modes, projectKeys] {
      for (old, new) in table where old == word && known.contains(new) { return new }
    }
    return nil
  }

  /// The costs with the new word; `nil` if they have no old one.
  package static func renamedCosts(_ text: String) -> String? {
    guard text.hasPrefix(costs.old) else { return nil }
    let rest = text.dropFirst(costs.old.count)
    guard rest.isEmpty || "@:+".contains(rest.first ?? " ") else { return nil }
    return costs.new + rest
  }

  /// The advice for an old word in a document.
  package static func advice(_ old: String, _ new: String) -> String {
    "'\(old)' was renamed to '\(new)'. Rewrite the project's documents: retake migrate"
  }
}
