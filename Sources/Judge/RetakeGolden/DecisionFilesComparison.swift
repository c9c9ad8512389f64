import Foundation
import RetakeCompare
import RetakeCore

/// The comparison of a golden's decisions with the decisions of a run.
struct DecisionFilesComparison {
  /// In the order of virtual time.
  var findings: [Finding] = []
  var compared = 0
  /// The golden's zero of virtual time, in nanoseconds on the session's time line.
  var origin: Int64 = 0
  /// The run's zero of virtual time.
  var actualOrigin: Int64 = 0

  /// By frame, why it ended differently: its first differing decision, then the decisions that this
  /// decision follows from.
  var chains: [FrameID: [String]] {
    var chains: [FrameID: [String]] = [:]
    for finding in findings {
      guard let frame = finding.frame, chains[frame] == nil else { continue }
      chains[frame] = [finding.message] + finding.because
    }
    return chains
  }

  static func run(
    _ folders: (golden: GoldenFolder, actual: GoldenFolder),
    _ manifests: (golden: GoldenManifest, actual: GoldenManifest)
  ) throws -> DecisionFilesComparison {
    let mine = folders.golden.file(GoldenFolder.decisionsName)
    let theirs = folders.actual.file(GoldenFolder.decisionsName)
    let golden = try DecisionFileReader(mine)
    let actual = try DecisionFileReader(theirs)
    var result = DecisionFilesComparison(origin: golden.origin, actualOrigin: actual.origin)
    var comparator = DecisionComparator()
    let changedLine = try feed(golden, actual, &comparator)
    let isEqual = changedLine == nil
    result.findings = comparator.finish()
    result.compared = comparator.compared
    // After the lines, so that a damaged line is reported with its number.
    guard golden.header.key == manifests.golden.key else {
      throw GoldenError.inconsistent(file: mine.path, detail: "it is about \(golden.header.key)")
    }
    let areSame =
      manifests.golden.summary.decisionDigest == manifests.actual.summary.decisionDigest
    // With a single track, the digests of its frames cover every line.
    if isEqual, !areSame, golden.origin == actual.origin, golden.tracks.count <= 1 {
      throw GoldenError.inconsistent(
        file: folders.golden.file(GoldenFolder.manifestName).path,
        detail:
          "its decisionDigest does not fit decisions.gold, which has every decision of the run")
    }
    // The same lines in another order pair completely, but they are not the same decisions.
    if result.findings.isEmpty && !(isEqual && areSame) {
      result.findings = [isEqual ? orderAlone(manifests) : otherOrder]
    }
    // Two sessions may begin at any time.
    let hasOtherOrigin =
      golden.origin != actual.origin
      && manifests.golden.input.digest == manifests.actual.input.digest
    // The run's digest was made from its lines. If golden.yml has the same digest, the lines that
    // were accepted were these, and decisions.gold was altered since.
    if areSame, !result.findings.isEmpty || hasOtherOrigin {
      let line = changedLine.map { "line \($0)" } ?? "its first line"
      throw GoldenError.inconsistent(
        file: mine.path, detail: "\(line) does not fit the decisionDigest in golden.yml")
    }
    if hasOtherOrigin {
      // First, because every time in the lines is relative to it.
      result.findings.insert(
        Finding(
          .decisionsDiffer, golden: String(golden.origin), actual: String(actual.origin),
          message: "virtual time begins elsewhere"), at: 0)
    }
    return result
  }

  private static let otherOrder = Finding(
    .decisionsDiffer, message: "the decisions come in another order")

  /// Everything in decisions.gold is equal, so only the order of several tracks within one instant
  /// can differ. Only the digest of all lines includes that order.
  private static func orderAlone(
    _ manifests: (golden: GoldenManifest, actual: GoldenManifest)
  ) -> Finding {
    Finding(
      .decisionsDiffer, golden: "\(manifests.golden.summary.decisionDigest)",
      actual: "\(manifests.actual.summary.decisionDigest)",
      message: "each track's decisions are equal, but not the digest of all: decisions of several "
        + "tracks at one instant come in another order, or decisionDigest in golden.yml was altered"
    )
  }

  /// Returns the number of the golden's first line that differs from the line at the same position.
  private static func feed(
    _ golden: DecisionFileReader, _ actual: DecisionFileReader,
    _ comparator: inout DecisionComparator
  ) throws -> Int? {
    var changed: Int?
    // Ends: both files end. Lines stream through, so a long golden needs no more memory than a
    // short one.
    while true {
      let left = try golden.nextLine()
      let right = try actual.nextLine()
      if left == nil && right == nil { return changed }
      // Also of equal lines: the number of tracks decides whether the folds cover all lines.
      if let left { golden.noteTrack(of: left) }
      // Compared as bytes: most lines of most runs are equal, and parsing them would be slow.
      if left == right {
        comparator.noteEqual()
        continue
      }
      changed = changed ?? golden.lineNumber
      if let left {
        switch try golden.entry(left) {
        case .line(let line): comparator.add(golden: line, actual: nil)
        case .fold(let fold): comparator.add(goldenFold: fold)
        }
      }
      if let right {
        switch try actual.entry(right) {
        case .line(let line): comparator.add(golden: nil, actual: line)
        case .fold(let fold): comparator.add(actualFold: fold)
        }
      }
    }
  }
}
