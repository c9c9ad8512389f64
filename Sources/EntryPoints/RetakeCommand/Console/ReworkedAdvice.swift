import Retake

/// An error of a floor below, with advice in the words of the command that shows it.
struct ReworkedAdvice: RetakeError {
  let facts: ErrorFacts

  init(_ error: any RetakeError, replacing words: String, with own: String) {
    var facts = error.facts
    facts.advice = facts.advice?.replacing(words, with: own)
    self.facts = facts
  }
}
