import RetakeCompare
package import RetakeCore
import RetakeReport

/// Goes through the pending goldens, one root cause after the other, and carries out the decisions
/// at the end.
package struct Review {
  package enum Answer: Hashable, Sendable {
    case accept
    case reject
    /// It stays pending.
    case skip
  }

  /// A root cause, or a case without root causes, such as a first golden.
  package struct Question: Hashable, Sendable {
    /// `session/case`.
    package var key: String
    /// Id of the root cause; `nil` if the question is about the case.
    package var root: String?
    /// The stage of the root cause.
    package var stage: String?
    /// The finding in one sentence.
    package var headline: String
    /// Whether the results came closer to the labels, in words; `nil` without labels.
    package var labels: String?
    /// Possible causes, in words.
    package var suspects: [String] = []
    /// The first findings, one line each.
    package var details: [String]
    /// The number of findings that `details` leaves out.
    package var moreDetails: Int
  }

  /// Findings that a question shows.
  package static let detailsMax = 20

  private var acceptance: Acceptance
  package let questions: [Question]
  package private(set) var answers: [Answer?]

  /// - Parameter acceptance: Selects the goldens.
  /// - Throws: `SuiteError.nothingPending`, `suite.accept.notPending`, `acceptInCI`.
  package init(_ acceptance: Acceptance) throws {
    guard !acceptance.isCI else { throw SuiteError.acceptInCI }
    let waiting = try acceptance.waitingResults()
    guard !waiting.isEmpty else { throw SuiteError.nothingPending }
    self.acceptance = acceptance
    // The question itself shows the input that the golden describes, so replacing it needs no extra
    // option.
    self.acceptance.replacesOthers = true
    // Each result that is accepted must be the result that its question shows, even if a test ends
    // meanwhile.
    for (comparison, identity) in waiting { self.acceptance.seen[comparison.key] = identity }
    questions = waiting.flatMap { Self.questions($0.comparison) }
    answers = questions.map { _ in nil }
  }

  /// The first question without an answer.
  package var next: Int? { answers.firstIndex(of: nil) }

  package mutating func answer(_ question: Int, _ answer: Answer) {
    answers[question] = answer
  }

  /// Answers a question, and all open questions about the same stage, with the same answer.
  ///
  /// - Returns: The questions that were answered.
  @discardableResult
  package mutating func answerAlike(_ question: Int, _ answer: Answer) -> [Int] {
    let stage = questions[question].stage
    // Two questions without a stage, such as two questions about first goldens, are unrelated.
    let alike = questions.indices.filter { index in
      index == question
        || (answers[index] == nil && stage != nil && questions[index].stage == stage)
    }
    for index in alike { answers[index] = answer }
    return alike
  }

  /// Opens a question again.
  package mutating func withdraw(_ question: Int) { answers[question] = nil }

  package func count(_ answer: Answer) -> Int { answers.filter { $0 == answer }.count }

  /// A case that could not be changed as decided, and the reason.
  package struct Failure {
    package var key: String
    package var error: any CodedError
  }

  /// Applies the answers, case by case. Questions without an answer stay pending.
  ///
  /// - Parameter reason: Stored in golden.yml; required if something is accepted.
  /// - Returns: The accepted items, the rejected items, and the cases that failed.
  /// - Throws: `SuiteError.missingReason`, before anything is changed.
  package func apply(
    reason: String
  ) throws -> (accepted: [Acceptance.Item], rejected: [Acceptance.Item], failures: [Failure]) {
    if count(.accept) > 0, reason.allSatisfy(\.isWhitespace) { throw SuiteError.missingReason }
    var result: (accepted: [Acceptance.Item], rejected: [Acceptance.Item], failures: [Failure])
    result = ([], [], [])
    var keys: [String] = []
    // The questions of a case are next to each other, so the last key is enough to compare with.
    for question in questions where keys.last != question.key { keys.append(question.key) }
    for key in keys {
      do {
        // Reject first: the remaining pending golden may then be accepted entirely.
        let rejected = try change(key, .reject) { try $0.reject() }
        result.rejected += rejected
        result.accepted += try change(key, .accept) {
          var acceptance = $0
          // The remaining pending golden was written just now, so it has a new identity.
          if !rejected.isEmpty { acceptance.seen[key] = nil }
          return try acceptance.run(reason: reason)
        }
      } catch let error as any CodedError {
        // The other cases do not depend on this one, so they are changed as decided.
        result.failures.append(Failure(key: key, error: error))
      }
    }
    return result
  }

  private func change(
    _ key: String, _ answer: Answer, _ action: (Acceptance) throws -> [Acceptance.Item]
  ) throws -> [Acceptance.Item] {
    let own = questions.indices.filter { questions[$0].key == key }
    let meant = own.filter { answers[$0] == answer }
    guard !meant.isEmpty else { return [] }
    var acceptance = acceptance
    acceptance.keys = [key]
    // Rejected root causes are removed first. If all other root causes are accepted, the remaining
    // pending golden is accepted entirely, without naming them.
    let isWhole = own.allSatisfy { answers[$0] == answer || answers[$0] == .reject }
    let takesAll = meant.count == own.count || (isWhole && answer == .accept)
    acceptance.rootCauses = takesAll ? [] : meant.compactMap { questions[$0].root }
    return try action(acceptance)
  }

  private static func questions(_ comparison: Comparison) -> [Question] {
    let labels = comparison.labels.map { ReportLabels($0).text }
    guard !comparison.rootCauses.isEmpty else {
      let reason = comparison.reasons.first ?? "no root cause is known"
      return [
        Question(
          key: comparison.key, headline: "\(comparison.verdict.rawValue): \(reason)",
          labels: labels, suspects: comparison.suspects,
          details: comparison.notes + comparison.findings.prefix(detailsMax).map(line),
          moreDetails: max(0, comparison.findingCount - detailsMax))
      ]
    }
    return comparison.rootCauses.enumerated().map { index, root in
      let own = comparison.findings.filter { $0.root == index }
      return Question(
        key: comparison.key, root: root.id, stage: root.stage,
        headline: ReportRootCause(root, findings: own).headline, labels: labels,
        suspects: comparison.suspects,
        details: own.prefix(detailsMax).map(line),
        moreDetails: max(0, root.findings - detailsMax))
    }
  }

  private static func line(_ finding: Finding) -> String {
    var text = (finding.frame.map { "\($0)  " } ?? "") + finding.message
    if finding.kind.needsValues, let golden = finding.golden, let actual = finding.actual {
      text += "  (\(golden) → \(actual))"
    }
    return text + (finding.because.first.map { ", because \($0)" } ?? "")
  }
}

extension Finding.Kind {
  /// Whether the message needs the old and the new value to be understood.
  fileprivate var needsValues: Bool {
    switch self {
    case .fateChanged, .factChanged, .decisionChanged, .decisionMoved, .pictureChanged,
      .classesChanged:
      true
    default: false
    }
  }
}
