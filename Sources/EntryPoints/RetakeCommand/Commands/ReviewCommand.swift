import ArgumentParser
import Retake

struct ReviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "review",
    abstract: "Review pending goldens in the terminal: one key for each root cause.",
    discussion: """
      Keys: a accept, r reject, s skip (it continues to wait); A, R, S the same for
      every root cause at this stage; d details, b back, q done. Files change only
      after the last question; if you accept a root cause, the command asks for the
      reason first. Ctrl-C leaves all files unchanged.

      Examples:
        retake review
        retake review yard/motion
        retake review 'yard-*' --reason "new model"

      Without a terminal: retake accept --root-cause ID, retake reject --root-cause ID.
      """)

  @OptionGroup var choice: PendingOptions

  @Option(help: "The reason for accepting; if not given, the command asks for it at the end.")
  var reason: String?

  func run() throws {
    // Before the first question, or the user would answer all questions in vain.
    if let reason, reason.allSatisfy(\.isWhitespace) { throw SuiteError.missingReason }
    var review = try Review(choice.acceptance())
    let keyboard = try Keyboard()
    // Answers are applied after the last question, so an interruption changes no golden.
    guard try ask(&review, keyboard) else { throw CommandEnd(status: .interrupted) }
    guard review.count(.accept) + review.count(.reject) > 0 else {
      Console.note("no answer was given; all root causes are still pending")
      return
    }
    let reason = try reason ?? askReason(review, keyboard)
    let done = try review.apply(reason: reason)
    for item in done.rejected { Console.result(item.text("rejected")) }
    for item in done.accepted { Console.result(item.text("accepted")) }
    for failure in done.failures { Console.error(failure.error) }
    if !done.failures.isEmpty { throw CommandEnd(status: .error) }
  }

  /// Returns whether the review was completed.
  private func ask(_ review: inout Review, _ keyboard: Keyboard) throws -> Bool {
    // A capital letter answers several questions, and a single `b` opens all of them again.
    var history: [[Int]] = []
    while let index = review.next {
      var isShown = false
      question: while true {
        // The question is shown after the terminal accepts single keys, so that a key typed
        // immediately is not lost, and neither is Ctrl-C.
        let key = try keyboard.key {
          guard !isShown else { return }
          show(review.questions[index], number: index + 1, of: review.questions.count)
          isShown = true
        }
        switch key {
        case "a", "r", "s", "A", "R", "S":
          history.append(take(key, index, &review))
          break question
        case "d": showDetails(review.questions[index])
        case "b":
          guard let last = history.popLast() else { continue }
          for index in last { review.withdraw(index) }
          break question
        case "q": return true
        case "\u{3}": return false
        default: Console.note(Self.keys)
        }
      }
    }
    return true
  }

  private static let keys =
    "a accept · r reject · s skip · A R S all at this stage · d details · b back · q done"

  /// Returns the questions that were answered.
  private func take(_ key: Character, _ index: Int, _ review: inout Review) -> [Int] {
    let answer: Review.Answer =
      switch key.lowercased() {
      case "a": .accept
      case "r": .reject
      default: .skip
      }
    let taken = key.isUppercase ? review.answerAlike(index, answer) : [index]
    if key.isLowercase { review.answer(index, answer) }
    Console.note(taken.count > 1 ? "  \(answer): \(taken.count) root causes" : "  \(answer)")
    return taken
  }

  private func show(_ question: Review.Question, number: Int, of count: Int) {
    Console.note("")
    Console.note(visible("\(number) of \(count)  \(question.key)"))
    Console.note(visible("  \(question.headline)"))
    if let labels = question.labels { Console.note(visible("  labels: \(labels)")) }
    for suspect in question.suspects.prefix(3) { Console.note(visible("  suspected: \(suspect)")) }
    for line in question.details.prefix(3) { Console.note(visible("    \(line)")) }
    if question.details.count > 3 { Console.note("    … (d shows more)") }
    Console.note("  \(Self.keys)")
  }

  private func showDetails(_ question: Review.Question) {
    for line in question.details { Console.note(visible("    \(line)")) }
    if question.moreDetails > 0 {
      Console.note("    and \(question.moreDetails) more: see the report")
    }
  }

  private func askReason(_ review: Review, _ keyboard: Keyboard) throws -> String {
    guard review.count(.accept) > 0 else { return "" }
    Console.note("")
    let question =
      "Accept \(review.count(.accept)), reject \(review.count(.reject)). "
      + "Why are the accepted changes right? "
    // Ends with the input: the user can type a reason, or Ctrl-C.
    while let line = keyboard.line(question) {
      if !line.allSatisfy(\.isWhitespace) { return line }
      Console.note("The golden stores the reason; no file has changed. Ctrl-C ends the review.")
    }
    Console.note("")
    Console.note("no reason was given; all root causes are still pending")
    throw CommandEnd(status: .interrupted)
  }
}
