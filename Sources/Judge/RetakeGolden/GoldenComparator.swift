package import Foundation
package import RetakeCompare
package import RetakeCore

/// Compares a run with a golden: first the keys; then the results as bytes, blocks and frames; then
/// the decisions; then stage digests, to find the root causes; then the budgets.
package struct GoldenComparator {
  package struct Options: Sendable {
    /// Used instead of the rules in golden.yml.
    package var rules: CompareRules?
    /// Compare even if the session, the tracks or the case differ. This is for inspecting two runs,
    /// never for a verdict in CI.
    package var ignoresKeys = false
    package var pairing = Pairing.sequence
    /// Findings beyond this number are counted but not kept.
    package var findingLimit = Comparison.findingLimit
    /// Reads the pixels of a kept image, for rules that compare pixels; `nil` without an image.
    package var pixels: (@Sendable (_ file: URL) -> ImagePixels?)?
    /// Throws if an end was requested. Called often, also within a frame.
    package var checkInterruption: @Sendable () throws -> Void = {}
    /// The kinds of Retake's own stages. If no recorded condition changed, the code of any other
    /// stage is named as a suspect. `nil` if the same program made both runs.
    package var builtInKinds: Set<String>?
    /// The platform whose stage digests are compared, such as linux-x86_64-fma. For a run with
    /// models the class of kernels is added.
    package var platform: String
    package var kernels = KernelClass.current

    package init(platform: String = PlatformKey.current.description) {
      self.platform = platform
    }

    var isInterrupted: @Sendable () -> Bool {
      { [checkInterruption] in (try? checkInterruption()) == nil }
    }
  }

  /// Scores the results of both folders against the session's labels; `nil` without labels.
  package typealias LabelMeter = (
    _ golden: GoldenFolder?, _ actual: GoldenFolder
  ) throws -> LabelComparison?

  package let golden: GoldenFolder
  package let actual: GoldenFolder
  package let options: Options
  private let labels: LabelMeter?

  /// - Parameters:
  ///   - actual: The run: a pending golden or the folder of a run.
  ///   - labels: Used also if there is no golden.
  package init(
    golden: GoldenFolder, actual: GoldenFolder, options: Options = Options(),
    labels: LabelMeter? = nil
  ) {
    self.golden = golden
    self.actual = actual
    self.options = options
    self.labels = labels
  }

  /// The verdict, even if the comparison failed or was interrupted.
  package func outcome() -> Comparison {
    do {
      return try compare()
    } catch let error as GoldenError {
      let key = (try? actual.manifest().key) ?? golden.url.path
      // Only the golden may be missing. The same error about the run's folder is an error.
      if case .missing(golden.url.path) = error {
        return Comparison(key: key, verdict: .missing, reasons: [error.message])
      }
      return Comparison(key: key, verdict: .errored, reasons: [error.description])
    } catch {
      return Comparison(key: golden.url.path, verdict: .errored, reasons: [error.causeText])
    }
  }

  /// The verdict. A golden that does not exist is a verdict (missing); a damaged one is an error.
  ///
  /// - Throws: `GoldenError` for files that are damaged, incomplete or do not belong together.
  package func compare() throws -> Comparison {
    let run = try actual.manifest()
    var comparison = try compare(run)
    if let damaged = run.summary.damaged {
      comparison.notes.append(damaged.text(of: run.summary.captured))
    }
    return comparison
  }

  private func compare(_ run: GoldenManifest) throws -> Comparison {
    guard golden.exists else {
      var comparison = Comparison(
        key: run.key, verdict: .missing, reasons: [GoldenError.missing(folder: "").message])
      comparison.labels = try labels?(nil, actual)
      return comparison
    }
    let lock = FolderLock(golden.url, .reading)
    // Swift may release an object after its last use, which would end the lock before the
    // comparison.
    defer { withExtendedLifetime(lock) {} }
    return try compareLocked(run)
  }

  /// As `compare()`, for a caller that has locked the golden's folder.
  func compareLocked(_ run: GoldenManifest) throws -> Comparison {
    let manifest = try golden.manifest()
    var reasons = KeyDifferences.reasons(golden: manifest, actual: run)
    let noise = DeviceNoise((manifest, run))
    let isOtherDevice = reasons.isEmpty && noise.isUnknown
    if noise.isUnknown { reasons += noise.differences }
    if !reasons.isEmpty && !options.ignoresKeys {
      if isOtherDevice { reasons.append(DeviceNoise.advice) }
      var comparison = Comparison(key: run.key, verdict: .notComparable, reasons: reasons)
      comparison.isOtherDevice = isOtherDevice
      return comparison
    }
    var comparison = try CaseComparison(
      folders: (golden, actual), manifests: (manifest, run), options: options, labels: labels
    ).result()
    // Here only with `ignoresKeys`: the reader has to know that two different things were compared.
    comparison.notes += reasons
    return comparison
  }
}

/// Why two manifests do not describe the same thing.
enum KeyDifferences {
  static func reasons(golden: GoldenManifest, actual: GoldenManifest) -> [String] {
    var reasons: [String] = []
    func note(_ what: String, _ mine: some Equatable, _ theirs: some Equatable) {
      if "\(mine)" != "\(theirs)" {
        reasons.append("another \(what): \(theirs), the golden has \(mine)")
      }
    }
    note("session", golden.input.session, actual.input.session)
    note("session digest", golden.input.digest, actual.input.digest)
    note("choice of tracks", text(golden.input.tracks), text(actual.input.tracks))
    note("number of frames", golden.input.frames, actual.input.frames)
    note("time base", text(golden.input.timeBase), text(actual.input.timeBase))
    note("case", golden.testCase.name, actual.testCase.name)
    note("mode", golden.testCase.mode, actual.testCase.mode)
    note("choice of costs", golden.testCase.costs, actual.testCase.costs)
    note("seed", golden.testCase.seed, actual.testCase.seed)
    note(
      "override", JSONValue.object(golden.testCase.overrides).canonicalText,
      JSONValue.object(actual.testCase.overrides).canonicalText)
    for sink in golden.precision.keys.sorted() {
      // A sink that only one side has is a finding (`sinkAdded`, `sinkRemoved`), not another key.
      guard let mine = golden.precision[sink], let theirs = actual.precision[sink] else {
        continue
      }
      note("precision of \(sink)", text(mine), text(theirs))
    }
    return reasons
  }

  private static func text(_ entries: [some Hashable & Comparable: some Any]) -> String {
    entries.keys.sorted().map { key in "\(key): \(entries[key].map { "\($0)" } ?? "")" }
      .joined(separator: ", ")
  }

  private static func text(_ steps: Precision) -> String {
    "box \(steps.box), score \(steps.score), scalar \(steps.scalar)"
  }
}

/// The rules in golden.yml are the accepted rules. If the project has other rules, that is a note.
enum RuleDifferences {
  static func notes(golden: GoldenManifest, actual: GoldenManifest) -> [String] {
    var notes: [String] = []
    for sink in golden.compare.bySink.keys.sorted() {
      // Without a partner there is no rule to differ from; the missing sink is a finding itself.
      guard let mine = golden.compare.bySink[sink], let theirs = actual.compare.bySink[sink]
      else { continue }
      let changes = mine.changes(to: golden.calibrated(theirs, for: sink))
      if !changes.isEmpty { notes.append(note("the rules for '\(sink)'", changes)) }
    }
    let budgets = golden.budgets.changes(to: actual.budgets)
    if !budgets.isEmpty { notes.append(note("the budgets", budgets)) }
    return notes
  }

  private static func note(_ what: String, _ changes: [String]) -> String {
    "\(what) in golden.yml are used; retake.yml differs (\(changes.joined(separator: "; "))). "
      + "To copy retake.yml's: retake golden sync-rules"
  }
}

extension Comparison {
  /// The comparison of a golden whose session or case no longer exists.
  ///
  /// - Parameter why: The missing part: `case 'old' is not in retake.yml`.
  package static func stale(_ key: GoldenLibrary.Key, why: String) -> Comparison {
    Comparison(
      key: key.description, verdict: .stale,
      reasons: [
        "no case makes this golden any more (\(why)). Remove it: "
          + "retake golden list --stale \(key.description.shellWord) --remove"
      ])
  }
}
