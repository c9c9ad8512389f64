import RetakeCore

/// How far a difference exceeds its tolerance; larger is worse.
struct ReportSeverity: Comparable {
  /// The error as a multiple of the allowed error: infinite if no error is allowed, or if the
  /// difference has no size, such as an object that is gone.
  var excess: Double
  /// Orders differences with the same excess.
  var magnitude: Double

  init(_ finding: ReportFinding) {
    // NaN would make the order of a sort depend on the order of its input.
    let size = finding.magnitude.map { $0.isNaN ? .infinity : $0 } ?? .infinity
    let allowed = finding.allowed ?? 0
    excess = allowed > 0 ? size / allowed : .infinity
    magnitude = size
  }

  static func < (left: ReportSeverity, right: ReportSeverity) -> Bool {
    (left.excess, left.magnitude) < (right.excess, right.magnitude)
  }
}

extension ReportCase {
  /// Cases by importance, and changed cases by their worst finding; equal cases are in the order of
  /// the run.
  static func worstFirst(_ cases: [ReportCase]) -> [ReportCase] {
    let worst = cases.map { $0.findings.items.map(ReportSeverity.init).max() }
    return readingOrder(cases) { left, right in
      switch (worst[left], worst[right]) {
      case (let left?, let right?) where left != right: left > right
      case (nil, .some): false
      case (.some, nil): true
      default: cases[left].counts.changed > cases[right].counts.changed
      }
    }.map { cases[$0] }
  }

  /// The worst finding of a root cause; the earliest of several that are equally bad.
  func worstFinding(of cause: ReportRootCause) -> ReportFinding? {
    findings.items.filter { $0.rootCause == cause.id }
      .reduce(nil) { worst, next in
        guard let worst else { return next }
        return ReportSeverity(next) > ReportSeverity(worst) ? next : worst
      }
  }
}
