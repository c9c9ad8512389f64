import ArgumentParser
import Retake

extension DisagreementTrigger {
  /// Reads `--trigger disagree=1,frames=3,after=5s,cooldown=60s`; each part may be left out.
  ///
  /// - Throws: `ValidationError`.
  init(parsing text: String) throws {
    self.init()
    var seen: Set<Substring> = []
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard words.count == 2, seen.insert(words[0]).inserted,
        set(words[0], to: String(words[1]))
      else {
        throw ValidationError(
          "'\(part)' in '--trigger \(text)' is not a condition; use for example "
            + "disagree=1,frames=3,after=5s,cooldown=60s (disagree above 0, frames from 1 to 1000, "
            + "after at most 1h)")
      }
    }
  }

  private mutating func set(_ key: Substring, to text: String) -> Bool {
    switch key {
    case "disagree":
      guard let value = Double(text), value > 0, value.isFinite else { return false }
      least = value
    case "frames":
      guard let value = Int(text), (1...1_000).contains(value) else { return false }
      frames = value
    case "after":
      guard let value = TimeArgument.parse(text), value <= .seconds(3_600) else { return false }
      after = value
    case "cooldown":
      guard let value = TimeArgument.parse(text) else { return false }
      cooldown = value
    default: return false
    }
    return true
  }
}
