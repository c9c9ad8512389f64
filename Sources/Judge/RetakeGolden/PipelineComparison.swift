import RetakeCompare
import RetakeCore
import RetakeGraph

/// How the run's pipeline differs from the golden's: by their documents if both were stored, else
/// by their digests.
struct PipelineComparison {
  private let notes: (golden: GoldenManifest.PipelineNote, actual: GoldenManifest.PipelineNote)
  private let records: (golden: PipelineRecord?, actual: PipelineRecord?)
  private let difference: PipelineDifference?

  /// - Throws: An error in a document.
  init(
    _ folders: (golden: GoldenFolder, actual: GoldenFolder),
    _ manifests: (golden: GoldenManifest, actual: GoldenManifest)
  ) throws {
    notes = (manifests.golden.pipeline, manifests.actual.pipeline)
    records = (
      try folders.golden.pipeline(of: manifests.golden),
      try folders.actual.pipeline(of: manifests.actual)
    )
    guard let golden = records.golden, let actual = records.actual else {
      difference = nil
      return
    }
    var ignored: Set<PipelineChange.Kind> = []
    // A name does not change a result, so a change of the name alone is not reported.
    if notes.golden.digest == notes.actual.digest { ignored.insert(.name) }
    // Costs have no effect if the case does not use them, and an adopted document has no costs.
    let usesCosts = manifests.golden.testCase.costs != "none"
    if !usesCosts || !golden.hasCosts { ignored.insert(.cost) }
    difference = PipelineDifference(from: golden, to: actual, ignoring: ignored)
  }

  private var digestsDiffer: Bool { notes.golden.digest != notes.actual.digest }

  /// Whether anything changed that a result may depend on.
  var isChanged: Bool { digestsDiffer || (difference?.count ?? 0) > 0 }

  /// The sink of the run whose ledger is the headline; `nil` if the document is not known.
  var primarySink: String? { records.actual?.primarySink }

  var changes: [PipelineChange] { difference?.changes ?? [] }

  /// The changes in words, one line each.
  var suspicions: [String] {
    guard isChanged else { return [] }
    guard let difference, difference.count > 0 else { return [digests + advice] }
    let more = difference.count - changes.count
    let rest =
      more == 0
      ? [] : ["the pipeline changed in \(counted(more, "other place")), too"]
    return changes.map(\.suspicion) + rest
  }

  private var digests: String {
    "the pipeline changed: \(notes.actual.name) \(notes.actual.digest.short), "
      + "the golden has \(notes.golden.name) \(notes.golden.digest.short)"
  }

  /// How to find out more.
  private var advice: String {
    if records.golden == nil {
      return "; the change is unknown, because this golden has no pipeline.json: the next "
        + "'retake accept' writes it, and 'retake golden sync-rules --pipelines' if the pipeline is "
        + "unchanged"
    }
    if records.actual == nil {
      return "; the change is unknown, because this run has no pipeline.json: replay it again"
    }
    return ""
  }

  // MARK: the program

  /// The most stages that are named.
  private static let stagesMax = 3

  /// Whether the program itself may be the cause: true for the program's own stages whose output
  /// differs although no recorded condition of the two runs does.
  ///
  /// A golden has no digest of the program's code, so this conclusion only remains after all other
  /// causes are excluded.
  /// - Parameter builtInKinds: The kinds of Retake's own stages; if `nil`, the function returns
  ///   `nil`.
  func programSuspicion(_ rootCauses: [RootCause], builtInKinds: Set<String>?) -> String? {
    // Any recorded change explains more than a guess about code that was not recorded.
    guard !isChanged, let builtInKinds, let kinds = records.actual?.kinds else { return nil }
    var stages: [String] = []
    let suspects = rootCauses.filter {
      $0.why == .outputDiffers && ($0.origin == .code || $0.origin == .codeOrLibraries)
    }
    // `CauseOrigins` returns the same origin for all of them: libraries are known per run, not per
    // cause.
    let knowsLibraries = !suspects.contains { $0.origin == .codeOrLibraries }
    for root in suspects {
      guard let stage = root.stage, let kind = kinds[stage], !builtInKinds.contains(kind),
        !stages.contains(stage)
      else { continue }
      stages.append(stage)
    }
    guard !stages.isEmpty else { return nil }
    let others = stages.count - Self.stagesMax
    let names =
      stages.prefix(Self.stagesMax).map { "'\($0)'" }.joined(separator: ", ")
      + (others > 0 ? " and \(counted(others, "other"))" : "")
    let noun = stages.count == 1 ? "stage" : "stages"
    return
      "the pipeline is the same: the code of \(noun) \(names) changed, or data that it reads "
      + "besides its input" + (knowsLibraries ? "" : ", or a library")
      + " ('retake verify' finds a stage that is not deterministic)"
  }
}
