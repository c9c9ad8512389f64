/// The keys of a player's window.
package enum PlayerKeys {
  /// As listed in the window and in `--help`.
  package static let texts: [(keys: String, meaning: String)] = [
    ("space", "pause, play; at the end: from the beginning"),
    (". ,", "one frame on, one back"),
    ("right left", "one second on, one back"),
    ("up down, + -", "faster, slower: 0.1x to 16x"),
    ("home end", "the first frame, the last frame"),
    ("n p", "next, previous uncertain frame of a redacted copy"),
    ("o", "results of a pipeline: shown or not"),
    ("f", "full screen, and back"),
    ("h", "these keys: shown or not"),
    ("q, Esc", "end"),
    ("mouse", "on the bar: go there"),
  ]

  static func command(_ key: PreviewKey) -> PlayerState.Command? {
    switch key {
    case .space: .togglePause
    case .period: .stepForward
    case .comma: .stepBack
    case .right: .seekForward
    case .left: .seekBack
    case .up, .plus: .faster
    case .down, .minus: .slower
    case .home: .home
    case .end: .end
    case .letter("n"): .nextUncertain
    case .letter("p"): .previousUncertain
    case .escape, .letter: nil
    }
  }

  /// The list for `--help`.
  package static var help: String {
    let width = texts.map(\.keys.count).max() ?? 0
    return texts.map {
      "  " + $0.keys + String(repeating: " ", count: width - $0.keys.count + 2) + $0.meaning
    }.joined(separator: "\n")
  }
}
