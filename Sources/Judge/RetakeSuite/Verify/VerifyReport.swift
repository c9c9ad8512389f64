package import RetakeCore

/// The result of `retake verify` for one case.
package struct VerifyReport: Hashable, Sendable, Codable {
  package enum Outcome: String, Hashable, Sendable, Codable {
    case deterministic
    /// The same on every machine of this kind; values on other processors differ.
    case platformDependent = "platform-dependent"
    case notDeterministic = "not deterministic"
  }

  package var v = 1
  package var session: String?
  package var caseName: String
  package var frames: Int
  package var decisionDigest: Digest128
  package var resultDigest: Digest128
  package var variations: [Variation]
  /// Failures of stages in the first run; `nil` without failures.
  package var failureCount: Int?

  package var outcome: Outcome {
    if variations.contains(where: { $0.outcome == .different }) { return .notDeterministic }
    return variations.allSatisfy { $0.outcome == .same } ? .deterministic : .platformDependent
  }

  /// - Parameter isPortable: Whether values must also be the same on other processors.
  package func status(isPortable: Bool) -> ExitStatus {
    switch outcome {
    case .deterministic: .passed
    case .platformDependent: isPortable ? .regression : .passed
    case .notDeterministic: .regression
    }
  }

  /// The earliest divergence. A difference that must never occur comes before a difference that
  /// only other processors cause; then the order of the frames decides, then the order of the
  /// variations.
  package var firstDivergence: Divergence? {
    let graver = variations.filter { $0.outcome == .different }
    return (graver.isEmpty ? variations : graver).compactMap(\.divergence).min {
      $0.order < $1.order
    }
  }

  /// The stages whose values depend on the processor, in the order in which they were found.
  package var platformDependentStages: [String] {
    let stages = variations.filter { $0.outcome == .platformDependent }
      .compactMap { $0.divergence?.stage }
    return stages.enumerated().filter { stages.firstIndex(of: $0.element) == $0.offset }
      .map(\.element)
  }

  private enum CodingKeys: String, CodingKey {
    case v, session, caseName = "case", frames, decisionDigest, resultDigest, variations
    case failureCount
  }
}

extension VerifyReport {
  /// A further run of the case.
  package struct Variation: Hashable, Sendable, Codable {
    package enum Outcome: String, Hashable, Sendable, Codable {
      case same
      /// Only values differ, and only the processor's instructions were different.
      case platformDependent = "platform-dependent"
      case different
    }

    package var condition: VerifyCondition
    package var outcome: Outcome
    /// The name of the condition that it is compared with.
    package var comparedWith: String
    package var decisionDigest: Digest128
    package var resultDigest: Digest128
    /// Whether exp, sin and pow of the C library returned different bits; only if the condition
    /// checks them.
    package var hasOtherMathematics: Bool?
    package var divergence: Divergence?
  }

  /// The first place at which a variation differs.
  package struct Divergence: Hashable, Sendable, Codable {
    package enum Kind: String, Hashable, Sendable, Codable {
      /// A stage returned another value for the same input.
      case value
      /// Virtual time led to another decision.
      case decision
      /// A sink received another result although all stages agree.
      case result
    }

    package var kind: Kind
    package var frame: FrameID?
    /// The number of frames that were captured before this one, of all tracks; `nil` if the report
    /// was read from a document, which does not have it.
    var position: Int?
    /// The stage; for a decision the node, for a result the sink.
    package var stage: String?
    /// The first decision that differs, even if a value differed before it.
    package var decision: DecisionDifference?
    package var message: String
    /// Whether a program outside of this process computes the stage; not in a document.
    var isProgram = false
    /// Whether that program is a script under `retake.loop`; not in a document.
    var isLoop = false

    /// A difference that names no frame comes after all differences that name a frame. Sequences
    /// are only in order within a track.
    fileprivate var order: Int { position ?? frame?.sequence ?? .max }

    private enum CodingKeys: String, CodingKey {
      case kind, frame, stage, decision, message
    }
  }

  /// The two decision lines at the first place where they differ.
  package struct DecisionDifference: Hashable, Sendable, Codable {
    /// Counted from 1, in the order of the decisions.
    package var number: Int
    /// `nil` if one run has no more decisions.
    package var expected: String?
    package var actual: String?

    var frame: FrameID? { line?.frame }
    var node: String? { line?.node }

    var text: String { "'\(expected ?? "the end")' became '\(actual ?? "the end")'" }

    private var line: DecisionLine? { (expected ?? actual).flatMap { DecisionLine(parsing: $0) } }
  }
}

extension VerifyReport.Variation {
  /// A different decision is never due to the platform: virtual time is computed with integers.
  static func outcome(
    _ divergence: VerifyReport.Divergence?, under condition: VerifyCondition
  ) -> Outcome {
    guard let divergence else { return .same }
    let isOnlyValue = divergence.kind != .decision && divergence.decision == nil
    return condition.isOtherPlatform && isOnlyValue ? .platformDependent : .different
  }
}
