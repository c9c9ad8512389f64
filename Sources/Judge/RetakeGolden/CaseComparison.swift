import Foundation
import RetakeCompare
import RetakeCore

/// The state of one comparison while its files are read.
struct CaseComparison {
  let folders: (golden: GoldenFolder, actual: GoldenFolder)
  let manifests: (golden: GoldenManifest, actual: GoldenManifest)
  let options: GoldenComparator.Options
  private let labels: GoldenComparator.LabelMeter?
  /// Where each side's own files are: only a side with models names the class of kernels.
  private let platforms: (golden: String, actual: String)
  private let pipelines: PipelineComparison
  private let noise: DeviceNoise
  private var comparison: Comparison

  /// - Throws: An error in a pipeline's document.
  init(
    folders: (golden: GoldenFolder, actual: GoldenFolder),
    manifests: (golden: GoldenManifest, actual: GoldenManifest),
    options: GoldenComparator.Options, labels: GoldenComparator.LabelMeter?
  ) throws {
    self.labels = labels
    self.folders = folders
    self.manifests = manifests
    self.options = options
    func platform(_ manifest: GoldenManifest) -> String {
      PlatformKey.name(
        options.platform, kernels: options.kernels, models: manifest.models,
        devices: manifest.devices)
    }
    platforms = (platform(manifests.golden), platform(manifests.actual))
    pipelines = try PipelineComparison(folders, manifests)
    noise = DeviceNoise(manifests)
    comparison = Comparison(key: manifests.actual.key, verdict: .passed)
  }

  consuming func result() throws -> Comparison {
    // Two sessions number their frames independently, so only their results can be compared.
    let isOneSession = options.pairing == .sequence
    let decisions =
      isOneSession ? try DecisionFilesComparison.run(folders, manifests) : DecisionFilesComparison()
    comparison.counts.decisions = decisions.compared
    var log = FindingLog(limit: options.findingLimit)
    // Set before the stage digests are compared: if only one run passed a frame to a stage, the
    // stage then differs because of this decision.
    if let first = decisions.findings.first {
      log.causes.setDecisionRootCause(
        RootCause(
          frame: first.frame, time: first.time, stage: Self.decider(of: first),
          why: .decisionDiffers))
    }
    // The stages of two inputs differ from the first frame on, which would hide their results.
    let stages = isOneSession && hasOneInput ? try compareStages(log) : nil
    try compareResults(stages?.log ?? log, decisions)
    addNotes(stages)
    conclude()
    // Last, because only a comparison that passed can say that the summary is wrong.
    try checkSummary()
    return comparison
  }

  private var hasOneInput: Bool { manifests.golden.input.digest == manifests.actual.input.digest }

  /// A sink makes no decisions: the fate of a frame was decided at the node where it ended.
  private static func decider(of finding: Finding) -> String? {
    let line = (finding.golden ?? finding.actual).flatMap { DecisionLine(parsing: $0) }
    guard let line, line.kind == .outcome else { return finding.node }
    return line["node"] ?? finding.node
  }

  // MARK: stage digests

  private mutating func compareStages(_ log: FindingLog) throws -> StageComparator? {
    let mine = folders.golden.file(GoldenFolder.digestsName(platforms.golden))
    let theirs = folders.actual.file(GoldenFolder.digestsName(platforms.actual))
    guard FileManager.default.fileExists(atPath: theirs.path) else { return nil }
    // Digests are accepted per platform, so their absence is normal on a second machine. The causes
    // are then seen at the sinks.
    guard FileManager.default.fileExists(atPath: mine.path) else {
      comparison.notes.append("the golden has no stage digests for \(platforms.golden)")
      return nil
    }
    // With a single track, rows do not name the track (docs/formats/goldens.md), so they mean this
    // track.
    let track = manifests.golden.input.tracks.values.min() ?? 0
    let golden = try StageDigestReader(mine, track: track)
    let actual = try StageDigestReader(theirs, track: track)
    var comparator = StageComparator(
      golden: golden.columns, actual: actual.columns, sinks: sinkInputs, log: log)
    let frames = (manifests.golden.summary.captured, manifests.actual.summary.captured)
    // A golden that is compared with itself is checked in full, like any other.
    if mine != theirs, try areEqual(mine, theirs) { return comparator }
    // Checked after the comparison of bytes: a file that equals the run's has the run's key.
    guard golden.header.key == manifests.golden.key else {
      throw GoldenError.inconsistent(file: mine.path, detail: "it is about \(golden.header.key)")
    }
    var aligner = RowAligner()
    var isAtEnd = false
    while !isAtEnd {
      isAtEnd = true
      try options.checkInterruption()
      for _ in 0..<RowAligner.batch {
        let left = try golden.next()
        let right = try actual.next()
        if let left { aligner.add(golden: left) }
        if let right { aligner.add(actual: right) }
        if left != nil || right != nil { isAtEnd = false }
      }
      aligner.drain(into: &comparator, atEnd: isAtEnd)
    }
    // The rows are complete here. This compares their number with golden.yml, which the checksums
    // of the blocks do not cover.
    try golden.finish(frames: frames.0)
    try actual.finish(frames: frames.1)
    return comparator
  }

  /// The nodes before each sink, from the run if the golden does not have them.
  private var sinkInputs: [String: [String]] {
    let (golden, actual) = (manifests.golden.pipeline.sinks, manifests.actual.pipeline.sinks)
    return golden.isEmpty ? actual : golden
  }

  // MARK: results

  private var images: StoredImages? {
    guard let pixels = options.pixels else { return nil }
    let (golden, actual) = (folders.golden, folders.actual)
    let isInterrupted = options.isInterrupted
    return StoredImages { mine, theirs in
      guard
        let left = pixels(golden.file(GoldenFolder.pictureName(mine.frame, sink: mine.sink))),
        let right = pixels(actual.file(GoldenFolder.pictureName(theirs.frame, sink: theirs.sink)))
      else { return nil }
      return ImageDifference(golden: left, actual: right, isInterrupted: isInterrupted)
    } arrays: { mine, theirs in
      (golden.image(mine, pixels), actual.image(theirs, pixels))
    }
  }

  private mutating func compareResults(
    _ log: FindingLog, _ decisions: DecisionFilesComparison
  ) throws {
    var comparator: ResultComparator?
    let chains = decisions.chains
    var rolling = DigestHasher()
    var totals = (frames: 0, facts: 0)
    let counts = (
      golden: GoldenFolder.chunkCount(frames: manifests.golden.summary.captured),
      actual: GoldenFolder.chunkCount(frames: manifests.actual.summary.captured)
    )
    // Also the files that only one side has: their frames are findings, lost or inserted.
    for index in 0..<max(counts.golden, counts.actual) {
      let golden = index < counts.golden ? try folders.golden.chunk(index) : nil
      let actual = index < counts.actual ? try folders.actual.chunk(index) : nil
      // Every file of the golden is read and hashed, even if the run ended earlier. Otherwise
      // damage after the run's last frame would pass.
      golden?.append(to: &rolling)
      totals.frames += golden?.frameCount ?? 0
      totals.facts += golden?.blocks.reduce(0) { $0 + $1.facts } ?? 0
      if let golden { try check(golden, index, isLast: index == counts.golden - 1) }
      if let platform = otherPlatform(golden, actual) {
        comparison.verdict = .missing
        comparison.reasons = [
          "the golden's images, tensors or own values are for \(platform) only; "
            + "accept the values of this platform with: retake accept --alternate"
        ]
      }
      // Made from the first pair of files. There is always one: a golden without frames has a file
      // with a header alone.
      if comparator == nil, let golden, let actual {
        comparator = ResultComparator(
          golden: golden.header, actual: actual.header,
          rules: options.rules ?? noise.widened(manifests.golden.compare),
          pairing: options.pairing,
          origin: decisions.origin, log: log, chains: chains, images: images,
          isInterrupted: options.isInterrupted)
        if !hasOneInput && options.pairing == .sequence {
          comparator?.actualTimes = RunTimes(actual.header, origin: decisions.actualOrigin)
        }
      }
      do {
        try comparator?.compare(golden: golden, actual: actual)
      } catch let error as ResultTextError {
        throw GoldenError.results(error)
      }
      // After an interruption the results of the comparator have no meaning.
      try options.checkInterruption()
    }
    try checkTotals(totals, rolling.finish(), chunks: counts.golden)
    guard var comparator else { return }
    comparison.headroom = comparator.finish()
    try options.checkInterruption()
    try checkImages(comparator)
    comparison.notes += noise.notes(comparison.headroom)
    // After `finish`, which compares the frames that waited for a partner until the end.
    comparison.errorCurves = comparator.errorCurves
    comparison.decisions = Array(decisions.findings.prefix(options.findingLimit))
    addDecisions(decisions, &comparator)
    // After all other findings: a broken budget follows from the first root cause if there is one,
    // and is a separate root cause only if there is no other.
    comparison.labels = try labels?(folders.golden, folders.actual)
    let budgets = BudgetCheck(
      manifests, primarySink: pipelines.primarySink, labels: comparison.labels)
    comparison.budgets = budgets.run(&comparator)
    comparison.notes += budgets.unchecked
    let origins = CauseOrigins(
      manifests: manifests, pipelineDiffers: pipelines.isChanged,
      environmentDiffers: !environmentChanges.isEmpty, knowsLibraries: knowsLibraries)
    comparator.log.causes.setOrigins { origins.origin(of: $0) }
    // The comparator counts only results, so assigning its counts would lose the decisions.
    let compared = comparison.counts.decisions
    comparison.notes += comparator.notes
    comparison.counts = comparator.counts
    comparison.counts.decisions = compared
    comparison.findingCount = comparator.log.count
    (comparison.findings, comparison.rootCauses) = comparator.log.sorted()
  }

  /// Pixels are read only where two digests differ, so damage is found only there.
  private func checkImages(_ comparator: ResultComparator) throws {
    guard let (place, isPicture, isGolden) = comparator.damagedImage, let index = place.index else {
      return
    }
    let name = GoldenFolder.imageName(
      place.frame, sink: place.sink, index: index, isPicture: isPicture)
    throw GoldenError.inconsistent(
      file: (isGolden ? folders.golden : folders.actual).file(name).path,
      detail: "its pixels are not those of its digest in the results")
  }

  private func otherPlatform(_ golden: ResultChunk?, _ actual: ResultChunk?) -> String? {
    guard let platform = golden?.header.platform else { return nil }
    // A run's file without P, N or U lines names no platform; it holds where this program runs.
    let own = actual?.header.platform ?? platforms.actual
    // A run that has models now holds on the same machine under a longer name.
    return platform == (own == platforms.actual ? platforms.golden : own) ? nil : platform
  }

  /// Checks that a results file of the golden matches golden.yml.
  private func check(
    _ chunk: ResultChunk, _ index: Int, isLast: Bool
  ) throws {
    func broken(_ detail: String) -> GoldenError {
      .inconsistent(file: chunk.file, detail: detail)
    }
    let manifest = manifests.golden
    guard chunk.header.key == manifest.key else {
      throw broken("it is about \(chunk.header.key), golden.yml about \(manifest.key)")
    }
    // How many files are read follows from this number (`chunkCount`).
    guard chunk.header.chunk == ResultHeader.chunkSize else {
      throw broken("files of \(chunk.header.chunk) frames are not written by this version")
    }
    let bases = manifest.input.timeBase
    guard chunk.header.tracks.allSatisfy({ bases[$0.index] == $0.timeBase }),
      chunk.header.tracks.count == bases.count
    else { throw broken("its time bases differ from golden.yml") }
    guard chunk.header.sinks == manifest.precision.keys.sorted() else {
      throw broken("its sinks differ from golden.yml")
    }
    // A short file in the middle is a cut one: frames are numbered across the files.
    guard isLast || chunk.frameCount == ResultHeader.chunkSize else {
      throw broken(
        "it has \(counted(chunk.frameCount, "frame")) instead of "
          + "\(ResultHeader.chunkSize)")
    }
  }

  private func checkTotals(
    _ totals: (frames: Int, facts: Int), _ digest: Digest128, chunks: Int
  ) throws {
    let summary = manifests.golden.summary
    let file = folders.golden.file(GoldenFolder.manifestName).path
    guard totals == (summary.captured, summary.facts), digest == summary.resultDigest else {
      throw GoldenError.inconsistent(
        file: file,
        detail: "its summary does not fit the results: they have "
          + "\(counted(totals.frames, "frame")), "
          + "\(counted(totals.facts, "fact")) and the digest \(digest)")
    }
    let known = (0..<chunks).map { ResultChunkText.name($0) }
    let extra = folders.golden.fileNames().first {
      // A file after the last chunk is not in any digest. Another golden left it, or someone added
      // it.
      $0.hasPrefix("results-") && !known.contains($0)
    }
    if let extra {
      throw GoldenError.inconsistent(
        file: folders.golden.file(extra).path, detail: "the file is not of this golden")
    }
  }

  /// Leaves out decisions about a frame's fate if the results already report another fate.
  private func addDecisions(
    _ decisions: DecisionFilesComparison, _ comparator: inout ResultComparator
  ) {
    // A frame whose end changed would otherwise count twice: as its fate at the sink and as the
    // decision that caused it. Lines about no frame, or about all, have no such double.
    for finding in decisions.findings {
      if let frame = finding.frame, finding.kind != .decisionsDiffer,
        comparator.framesWithOtherFate.contains(frame)
      {
        continue
      }
      comparator.log.add(finding)
    }
  }

  // MARK: conclusions

  private mutating func addNotes(_ stages: StageComparator?) {
    // Not a finding: the verdict is about the results, and a difference that they do not show
    // changes no verdict.
    if let stages, stages.differingFrames > 0, comparison.findingCount == 0 {
      let root = stages.log.causes.rootCauses.first
      let place = root.map { " from \($0.id) on" } ?? ""
      let results =
        comparison.counts.withinTolerance > 0 ? "results within tolerance" : "equal results"
      comparison.notes.append(
        "stage digests differ under \(results): \(stages.differingFrames) of "
          + "\(counted(stages.comparedFrames, "frame"))\(place)")
    }
    let (golden, actual) = manifests
    comparison.notes += RuleDifferences.notes(golden: golden, actual: actual)
    if let old = golden.labels, let new = actual.labels, old != new {
      comparison.notes.append(
        "the labels changed since the golden was accepted; both runs are scored with those of now")
    }
    comparison.pipelineChanges = pipelines.changes
    comparison.suspects += pipelines.suspicions
    // Sorted, because the order of a Set differs from process to process, and reports are compared.
    for name in Set(golden.models.keys).union(actual.models.keys).sorted()
    where golden.models[name] != actual.models[name] {
      comparison.suspects.append(modelChange(name))
    }
    for path in actual.changedPrograms(since: golden) {
      comparison.suspects.append(
        change("the program's file \(path)", actual.programs[path], golden.programs[path]))
    }
    for path in actual.changedFiles(since: golden) {
      comparison.suspects.append(
        change("the file \(path)", actual.files[path], golden.files[path]))
    }
    comparison.suspects += environmentChanges
    let program = pipelines.programSuspicion(
      comparison.rootCauses, builtInKinds: options.builtInKinds)
    comparison.suspects += [program].compactMap(\.self)
  }

  private func change(_ what: String, _ new: String?, _ old: String?) -> String {
    "\(what) changed: sha256 \(new?.prefix(12) ?? "")…, the golden has \(old?.prefix(12) ?? "")…"
  }

  private func modelChange(_ name: String) -> String {
    let what = name.contains(".model.json") ? "the sidecar \(name)" : "the model \(name)"
    return switch (manifests.golden.models[name], manifests.actual.models[name]) {
    case (let old?, let new?): change(what, new, old)
    case (nil, let new?):
      "\(what) is new: sha256 \(new.prefix(12))…, the golden was made without it"
    default: "\(what) of the golden is no longer read"
    }
  }

  private var knowsLibraries: Bool {
    !folders.golden.environment(platforms.golden).isEmpty
      && !folders.actual.environment(platforms.actual).isEmpty
  }

  /// Devices, libraries and other parts of the environment that differ from the golden's, in words.
  private var environmentChanges: [String] {
    let mine = folders.golden.environment(platforms.golden)
    let theirs = folders.actual.environment(platforms.actual)
    // A name that only one side has is not a known change: the golden may have no environment file
    // of this platform.
    return noise.differences
      + mine.keys.sorted().compactMap { name in
        guard let new = theirs[name], let old = mine[name], new != old else { return nil }
        return "\(name) is \(new), the golden was made with \(old)"
      }
  }

  private mutating func conclude() {
    if comparison.verdict == .missing { return }
    // Without this rule, an empty session would pass against an empty golden, although no frame was
    // tested.
    if comparison.comparedNothing && comparison.findingCount == 0 {
      comparison.verdict = .errored
      comparison.reasons.append("no frame was compared")
      return
    }
    let marks = ExpectedFrames(
      manifests.golden.expected, track: manifests.golden.input.tracks.values.min() ?? 0)
    comparison.isExpected = marks.cover(comparison)
    comparison.known = marks.known(comparison)
    // Evaluated before the first such finding is added: an added finding concerns the mark's own
    // frame, and would count as its difference.
    for finding in marks.vanished(comparison) { addVanished(finding) }
    comparison.verdict = comparison.findingCount == 0 ? .passed : .changed
  }

  /// A mark for a change that no longer exists would hide the next regression.
  private mutating func addVanished(_ finding: Finding) {
    var finding = finding
    var root = RootCause(frame: finding.frame, why: .knownChangeGone)
    root.findings = 1
    finding.root = comparison.rootCauses.count
    comparison.rootCauses.append(root)
    comparison.findings.append(finding)
    comparison.findingCount += 1
    comparison.isExpected = false
  }

  /// If a golden passes, its own summary must agree with the summary of the run.
  private func checkSummary() throws {
    // `ignoresKeys` compares two different cases, whose summaries may differ without any damage.
    guard comparison.verdict == .passed, !options.ignoresKeys else { return }
    let (mine, theirs) = (manifests.golden.summary, manifests.actual.summary)
    let isSame =
      mine.captured == theirs.captured && mine.delivered == theirs.delivered
      && mine.decisions == theirs.decisions && mine.decisionDigest == theirs.decisionDigest
    guard isSame else {
      throw GoldenError.inconsistent(
        file: folders.golden.file(GoldenFolder.manifestName).path,
        detail: "its summary does not fit its own files")
    }
  }
}
