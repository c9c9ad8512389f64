import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeRuntime
import RetakeSession

/// Finds the tolerances of goldens by running their cases under other conditions. Implements
/// `retake golden calibrate`.
///
/// A repeated run has the same result, so repeating it would find no difference. Each run has a
/// different condition, such as a processor with fewer instructions, or comes from another machine.
package struct GoldenFit {
  /// The factor between the largest error and the tolerance, before the tolerance is rounded up to
  /// the next step of the sink.
  static let margin = 1.5

  /// One tolerance.
  package struct Row: Hashable, Sendable, Codable {
    package var sink: String
    /// `position`, `score`, `scalar`, `mask` (1 - IoU) or `embedding` (cosine distance).
    package var quantity: String
    /// The largest error of all runs.
    package var largest: Double
    package var allowed: Double
    /// The tolerance until now.
    package var before: Double
    /// Where the noise was measured, such as `between card-a and card-b`: the tolerance applies to
    /// runs of the other device alone. `nil` for a tolerance of all runs.
    package var devices: String?
  }

  package struct Item: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// The names of the runs whose conditions differ from the conditions of the golden.
    package var conditions: [String]
    /// Only quantities that differed at all.
    package var rows: [Row]
  }

  package var project: Project
  package var selection: Selection
  package var goldens: String?
  /// The most runs on this machine.
  package var runs = 3
  /// Folders of runs that were made on other machines or with other costs.
  package var given: [String] = []
  package var isCI = false
  /// The arguments for a new process that runs one case under a condition and writes it into a
  /// folder.
  package var arguments: (_ key: String, _ condition: String, _ folder: String) -> [String]
  package var isInterrupted: @Sendable () -> Bool = { false }
  package var progress: (String, Int, Int) -> Void = { _, _, _ in }
  /// Runs a condition in a new process, into a folder. The last argument is the duration of a run
  /// in this process, in seconds.
  var runProcess: (NewProcessRuns, VerifyCondition, URL, Double) throws -> Void = {
    try $0.run($1, into: $2, firstSeconds: $3)
  }

  package init(
    project: Project, selection: Selection,
    arguments: @escaping (String, String, String) -> [String]
  ) {
    (self.project, self.selection, self.arguments) = (project, selection, arguments)
  }

  /// Conditions that may change values come first, then the others, in this order.
  static var conditions: [VerifyCondition] {
    let all = VerifyCondition.newProcess
    return all.filter(\.isOtherPlatform) + all.filter { !$0.isOtherPlatform }
  }

  /// Fits the tolerances of the selected cases.
  ///
  /// - Throws: `SuiteError` for a selection or a run that does not exist, for a case without a
  ///   golden, and for a case whose runs differ in more than numbers. In these cases no golden is
  ///   changed.
  package func run(isDryRun: Bool = false) throws -> [Item] {
    guard !isCI || isDryRun else { throw SuiteError.calibrateInCI }
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    var fits: [(GoldenFolder, Fitted, Item)] = []
    // Before the runs of this machine, which are slow.
    let selection = try selection.resolve(in: project)
    try checkGiven(selection.map(\.key.description))
    for selected in selection {
      try selected.check()
      let fit = try fit(selected, scratch.url)
      // The given runs may cover only some of the cases.
      if !fit.2.conditions.isEmpty { fits.append(fit) }
    }
    guard !fits.isEmpty else {
      throw SuiteError(
        "suite.fit.noRun",
        "no run was given of \(selection.map(\.key.description).joined(separator: ", "))",
        advice: SuiteError.makeRun)
    }
    guard !isDryRun else { return fits.map(\.2) }
    // After all cases: if one of them cannot be fitted, no golden is changed.
    let date = WallClock().dateText
    for (golden, fitted, item) in fits where !item.rows.isEmpty {
      try golden.setRules(fitted.rules, fitted: fitted.evidence(at: date))
    }
    return fits.map(\.2)
  }

  /// The new tolerances of a golden.
  private struct Fitted {
    /// The tolerances of runs on the golden's devices.
    var rules: CompareRules
    /// The evidence, without its date.
    var evidence: [GoldenManifest.Fit] = []

    mutating func add(_ rows: [Row], _ runs: [Run], on devices: [String: ModelDevice] = [:]) {
      evidence += rows.map { row in
        GoldenManifest.Fit(
          at: "", sink: row.sink, quantity: row.quantity, largest: row.largest,
          allowed: row.allowed, conditions: runs.map(\.name), devices: devices)
      }
    }

    func evidence(at date: String) -> [GoldenManifest.Fit] {
      evidence.map { fit in
        var fit = fit
        if fit.at.isEmpty { fit.at = date }
        return fit
      }
    }
  }

  typealias Run = (name: String, folder: GoldenFolder)

  /// Runs one case into a folder: the work of a separate process.
  ///
  /// - Throws: `SuiteError.nothingSelected` for another key; errors of the run.
  package func record(_ key: String, condition name: String, into folder: String) throws {
    guard let selected = try selection.resolve(in: project).first(where: { "\($0.key)" == key }),
      let condition = VerifyCondition.newProcess(named: name)
    else { throw SuiteError.nothingSelected("\(key) under '\(name)'") }
    // In this process and before it decodes. glibc's share of the condition is in the environment
    // of the process, from its start.
    condition.process?.processor.force()
    var job = try job(selected, into: folder)
    job.options = RunOptions().under(condition)
    _ = try job.runToEnd()
  }

  private func job(_ selected: SelectedCase, into folder: String) throws -> ReplayJob {
    var job = ReplayJob(
      project: project, definition: selected.definition, session: selected.sessionRead)
    job.destination = .run(folder)
    // Written in the golden's form, such as its order of boxes, because the two are compared.
    job.comparedWith = try library.folder(selected.key).manifest()
    return job
  }

  private var library: GoldenLibrary {
    GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
  }

  /// Throws if a folder in `given` is not a run of a selected case.
  private func checkGiven(_ keys: [String]) throws {
    for path in given {
      let folder = GoldenFolder(URL(fileURLWithPath: project.path(path)))
      guard folder.exists else { throw SuiteError.noGolden(path: folder.url.path) }
      let manifest = try folder.manifest()
      let key = manifest.key.description
      guard !keys.contains(key) else { continue }
      let own = manifest.testCase
      let choice =
        project.definition(named: own.name) == nil
        ? "--pipeline \(own.pipeline.shellWord)" : "--case \(own.name.shellWord)"
      throw SuiteError(
        "suite.fit.otherCase",
        "the run \(path) is of \(key), and the tolerances of \(SuiteError.list(keys)) are fitted",
        advice: "Name the golden of the run: retake golden calibrate "
          + "\(manifest.input.session.shellWord) \(choice) --run \(path.shellWord). Or make a run of "
          + "the selected case: retake replay SESSION --pipeline CASE --output RUN")
    }
  }

  private static let otherCase =
    "the pipeline, the case or the session is not the golden's, so a tolerance would hide a change"

  // MARK: - One case

  private func fit(
    _ selected: SelectedCase, _ scratch: URL
  ) throws -> (GoldenFolder, Fitted, Item) {
    try library.requireOwn(selected.key)
    let golden = library.folder(selected.key)
    guard golden.exists else { throw GoldenError.missing(folder: golden.url.path) }
    let manifest = try golden.manifest()
    let runs = try make(selected, scratch)
    // Only runs of this machine are checked. The user is responsible for the runs in `given`.
    for (name, folder) in runs where !given.contains(name) {
      let run = try folder.manifest()
      guard run.pipeline.digest == manifest.pipeline.digest, run.testCase == manifest.testCase,
        run.input == manifest.input
      else { throw SuiteError.notFitted(selected.key.description, cause: Self.otherCase) }
    }
    for (name, folder) in runs {
      // Runs of this machine are written by the golden's rules, so only a run in `given` can have
      // its boxes in another order.
      guard let problem = BoxOrder.problem(golden: manifest, run: try folder.manifest()),
        given.contains(name)
      else { continue }
      throw SuiteError.notFitted(selected.key.description, cause: "\(name): \(problem)")
    }
    var fitted = Fitted(rules: manifest.compare)
    var item = Item(key: selected.key.description, conditions: runs.map(\.name), rows: [])
    for (noise, runs) in try Self.groups(runs, by: manifest) {
      let (rules, rows) = try Self.fit(golden, manifest, runs, endingIf: isInterrupted)
      if noise.areSame {
        fitted.rules = rules
        fitted.add(rows.filter { $0.largest > 0 }, runs)
        item.rows += rows.filter { $0.largest > 0 }
      } else {
        let rows = Self.ofDevices(rows, noise)
        fitted.add(rows, runs, on: noise.devices)
        item.rows += rows
      }
    }
    // Noise between devices does not replace the evidence of the golden's own tolerances.
    if !fitted.evidence.contains(where: \.devices.isEmpty) {
      fitted.evidence += manifest.fitted.filter(\.devices.isEmpty)
    }
    return (golden, fitted, item)
  }

  /// Runs by their devices, in the order of their first run.
  static func groups(
    _ runs: [Run], by golden: GoldenManifest
  ) throws -> [(noise: DeviceNoise, runs: [Run])] {
    var groups: [(noise: DeviceNoise, runs: [Run])] = []
    for run in runs {
      let noise = DeviceNoise((golden, try run.folder.manifest()))
      if let index = groups.firstIndex(where: { $0.noise.devices == noise.devices }) {
        groups[index].runs.append(run)
      } else {
        groups.append((noise, [run]))
      }
    }
    return groups
  }

  /// The rows of another device. One without an error says that the devices were compared and that
  /// their results are equal.
  private static func ofDevices(_ rows: [Row], _ noise: DeviceNoise) -> [Row] {
    let differing = rows.filter { $0.largest > 0 }
    return (differing.isEmpty ? Array(rows.prefix(1)) : differing).map { row in
      var row = row
      row.devices = noise.place
      return row
    }
  }

  /// The rules under which runs pass, and how far they differ from the golden.
  ///
  /// - Throws: `SuiteError.notFitted` for runs that differ in more than numbers; `GoldenError`.
  static func fit(
    _ golden: GoldenFolder, _ manifest: GoldenManifest, _ runs: [Run],
    endingIf isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws -> (CompareRules, [Row]) {
    func comparison(_ run: GoldenFolder, _ rules: CompareRules) throws -> Comparison {
      try Self.comparison(golden, run, rules, endingIf: isInterrupted)
    }
    var largest: [String: [String: Double]] = [:]
    for (_, folder) in runs {
      for row in try comparison(folder, manifest.compare).headroom {
        // No number covers this. `widen` leaves it out, and the comparison below names the
        // difference.
        let error = row.largest ?? .infinity
        largest[row.sink, default: [:]][row.quantity, default: 0] = max(
          largest[row.sink]?[row.quantity] ?? 0, error)
      }
    }
    var rules = manifest.compare
    var rows: [Row] = []
    for sink in largest.keys.sorted() {
      rows += widen(&rules, sink, largest[sink] ?? [:], manifest)
    }
    // Again with the new tolerances: a difference that they do not cover, such as a missing box, is
    // an error.
    for (name, folder) in runs {
      let comparison = try comparison(folder, rules)
      guard comparison.verdict == .passed else {
        let first = comparison.findings.first
        throw SuiteError.notFitted(
          manifest.key, cause: "\(name): \(first?.message ?? comparison.verdict.rawValue)",
          isImage: first?.kind == .pictureChanged)
      }
    }
    return (rules, rows)
  }

  /// A run compared with a golden whose key does not count.
  static func comparison(
    _ golden: GoldenFolder, _ run: GoldenFolder, _ rules: CompareRules,
    endingIf isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) throws -> Comparison {
    var options = GoldenComparator.Options().interrupted(by: isInterrupted)
    // Runs of other machines may have other costs. Whether a run of this machine is of the same
    // case was checked before.
    options.ignoresKeys = true
    options.rules = rules
    // Without the pixels, an image within its rule would be a difference that no number covers.
    options.pixels = { ImagePixels(kept: $0) }
    return try GoldenComparator(golden: golden, actual: run, options: options).compare()
  }

  private func make(
    _ selected: SelectedCase, _ scratch: URL
  ) throws -> [Run] {
    let conditions = Array(Self.conditions.prefix(max(0, runs)))
    let seconds = try conditions.isEmpty ? 0 : duration(of: selected, scratch)
    var made: [Run] = []
    for (number, condition) in conditions.enumerated() {
      progress(selected.key.description, number, conditions.count)
      let folder = scratch.appending(path: "\(selected.key)-\(number)")
      let processes = NewProcessRuns(
        arguments: { arguments("\(selected.key)", $0.name, $1) }, isInterrupted: isInterrupted)
      try runProcess(processes, condition, folder, seconds)
      made.append((condition.name, GoldenFolder(folder)))
    }
    for path in given {
      let folder = GoldenFolder(URL(fileURLWithPath: project.path(path)))
      guard (try? folder.manifest().key) == selected.key.description else { continue }
      made.append((path, folder))
    }
    return made
  }

  /// The duration of one run in this process, in seconds. The time limit of the other runs follows
  /// from it, as in `Verification`.
  private func duration(of selected: SelectedCase, _ scratch: URL) throws -> Double {
    let folder = scratch.appending(path: "\(selected.key)-timed")
    // The output is not compared: this run has the conditions of the golden.
    defer { try? FileManager.default.removeItem(at: folder) }
    var job = try job(selected, into: folder.path)
    job.options.isInterrupted = isInterrupted
    return try job.runToEnd().wallSeconds
  }

  private static func widen(
    _ rules: inout CompareRules, _ sink: String, _ largest: [String: Double],
    _ manifest: GoldenManifest
  ) -> [Row] {
    let steps = manifest.precision[sink] ?? .default
    let quantities: [(String, WritableKeyPath<SinkRule, Double>, Double, Int)] = [
      ("position", \.position, steps.box, steps.boxDecimals),
      ("score", \.score, steps.score, steps.scoreDecimals),
      ("scalar", \.scalar, steps.scalar, steps.scalarDecimals),
      ("mask", \.maskErrorMax, 0.001, 3), ("embedding", \.cosineMax, 1e-6, 6),
    ]
    var rule = rules.rule(for: sink)
    var rows: [Row] = []
    for (name, path, step, decimals) in quantities {
      guard let error = largest[name], error.isFinite else { continue }
      let allowed = tolerance(for: error, step: step, decimals: decimals)
      rows.append(
        Row(
          sink: sink, quantity: name, largest: error, allowed: allowed,
          before: rule[keyPath: path]))
      if error > 0 { rule[keyPath: path] = allowed }
    }
    if rows.contains(where: { $0.largest > 0 }) { rules.bySink[sink] = rule }
    return rows
  }

  /// The tolerance for an error: with the margin, rounded up to a step of the sink.
  static func tolerance(for error: Double, step: Double, decimals: Int) -> Double {
    let count = (error / step * margin).rounded(.up)
    // Through decimals, so that golden.yml gets 0.3 and not 0.30000000000000004.
    return FixedDecimal(count * step, decimals: decimals).value
  }
}
