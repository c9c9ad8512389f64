/// The words of a shell command line, as far as the docs need it: quotes, comments, pipes.
enum ShellWords {
  /// The words of the first command on the line.
  static func first(in line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in line {
      if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
        continue
      }
      switch character {
      case "'", "\"":
        quote = character
        word = word ?? ""
      case " ":
        if let ended = word { words.append(ended) }
        word = nil
      case "#" where word == nil: return words
      case "|", ">", "&", ";":
        if let ended = word { words.append(ended) }
        return words
      default: word = (word ?? "") + String(character)
      }
    }
    if let ended = word { words.append(ended) }
    return words
  }
}
