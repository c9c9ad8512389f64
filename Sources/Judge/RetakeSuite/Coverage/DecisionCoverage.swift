import Foundation
import RetakeCore
import RetakeGolden
import RetakeGraph

/// Reads which decisions the accepted goldens of a suite contain. No case is replayed.
package struct DecisionCoverage {
  package var project: Project
  package var selection: Selection
  /// Whether the cases of all suites count, and not only the selection.
  package var coversAllSuites = false
  /// The folder of the goldens; the project's if `nil`.
  package var goldens: String?

  package init(project: Project, selection: Selection) {
    self.project = project
    self.selection = selection
  }

  /// - Throws: `SuiteError` for a selection that cannot be made, or without any golden;
  ///   `GoldenError` and `PipelineError` for a golden that cannot be read.
  package func report() throws -> CoverageReport {
    let library = GoldenLibrary(root: URL(fileURLWithPath: goldens ?? project.goldens))
    let keys = try keys()
    let known = keys.filter { library.folder($0).exists }
    guard !known.isEmpty else {
      throw SuiteError.nothingSelected(
        "no selected case has an accepted golden",
        advice: "Accept goldens first: retake test, then retake accept --reason \"first golden\"")
    }
    var parts: [String: PipelineCoverage] = [:]
    for key in known {
      let folder = library.folder(key).fitting(PlatformKey.current.description)
      let manifest = try folder.manifest()
      let name = manifest.testCase.pipeline
      let pipeline = try pipeline(of: folder, manifest)
      // A golden's document has no costs, and its digest does not cover them.
      let current = try? project.pipeline(name)
      let costed = current?.digest == pipeline.digest ? current : nil
      try parts[name, default: PipelineCoverage(name)].add(
        folder, manifest, pipeline: costed ?? pipeline,
        // With timings, any stage can have a cost.
        anyCost: costed == nil || manifest.testCase.costs != "declared")
    }
    return CoverageReport(
      // Sorted, because a Dictionary has no order.
      pipelines: parts.keys.sorted().compactMap { parts[$0]?.report },
      missing: keys.filter { !library.folder($0).exists }.map(\.description))
  }

  /// Also of cases whose recordings are not on this disk.
  private func keys() throws -> [GoldenLibrary.Key] {
    var keys: [GoldenLibrary.Key] = []
    for selection in coversAllSuites ? Selection.allSuites(of: project) : [selection] {
      var run = SuiteRun(project: project, selection: selection)
      run.goldens = goldens
      do {
        keys += try run.cases().selected.map(\.key).filter { !keys.contains($0) }
      } catch let error as SuiteError {
        // Another suite may have cases.
        guard coversAllSuites, error.facts.kind == .nothingSelected else { throw error }
      }
    }
    return keys
  }

  /// The golden's own document. The project's for a golden without a document.
  private func pipeline(of folder: GoldenFolder, _ manifest: GoldenManifest) throws -> Pipeline {
    guard let record = try folder.pipeline(of: manifest) else {
      return try project.pipeline(manifest.testCase.pipeline)
    }
    // A pipeline that is only read starts no program.
    let catalog = project.registry.allowing(.all, places: project.places).reading(project.places)
    return try PipelineDocument.parseStored(
      Data(record.json.canonicalText.utf8), catalog: catalog,
      file: folder.file(GoldenFolder.pipelineName).path)
  }
}

/// The decisions of the cases of one pipeline.
private struct PipelineCoverage {
  private struct Seen {
    var count = 0
    var first: CoverageReport.Place
  }

  private let name: String
  private var cases: [String] = []
  private var simulated = false
  /// In the order of the nodes of the first case; then nodes that only later cases have.
  private var possible: [DecisionLabel] = []
  private var seen: [DecisionLabel: Seen] = [:]

  init(_ name: String) { self.name = name }

  mutating func add(
    _ folder: GoldenFolder, _ manifest: GoldenManifest, pipeline: Pipeline, anyCost: Bool
  ) throws {
    let isTimed = manifest.testCase.mode != "every-frame"
    let rules = PossibleDecisions(pipeline, isTimed: isTimed, anyCost: anyCost)
    cases.append(manifest.key)
    simulated = simulated || isTimed
    let swaps = manifest.testCase.overrides.keys.sorted().compactMap(Self.swappedNode)
    for label in rules.labels + swaps.map({ DecisionLabel($0, "swap") })
    where !possible.contains(label) { possible.append(label) }
    var routes = RouteCounter(rules)
    try folder.eachDecision { line in
      let place = CoverageReport.Place(
        key: manifest.key, frame: line.frame.map { "\($0)" }, nanoseconds: line.time)
      for label in DecisionLabel.labels(of: line) { note(label, place) }
      routes.add(line)
    }
    for (label, frame) in try routes.frames(in: folder, manifest.input) {
      note(label, .init(key: manifest.key, frame: "\(frame)"))
    }
  }

  /// `swap:motion@4s` → `motion`
  private static func swappedNode(_ key: String) -> String? {
    guard key.hasPrefix("swap:"), let at = key.lastIndex(of: "@") else { return nil }
    return String(key[..<at].dropFirst("swap:".count))
  }

  private mutating func note(_ label: DecisionLabel, _ place: CoverageReport.Place) {
    seen[label, default: Seen(first: place)].count += 1
  }

  var report: CoverageReport.Pipeline {
    let others = seen.keys.filter { !possible.contains($0) }
      .sorted { ($0.node, $0.text) < ($1.node, $1.text) }
    // Codes of failures replace the failure that is possible.
    let expected = possible.filter { label in
      !["fail", "itemFail"].contains(label.text)
        || !others.contains { $0.node == label.node && $0.text.hasPrefix(label.text + " ") }
    }
    var nodes: [String] = []
    for label in possible + others where !nodes.contains(label.node) { nodes.append(label.node) }
    let rows = nodes.flatMap { node in (expected + others).filter { $0.node == node } }
      .map { label in
        CoverageReport.Row(
          node: label.node, decision: label.text, count: seen[label]?.count ?? 0,
          first: seen[label]?.first)
      }
    return .init(pipeline: name, cases: cases, simulated: simulated, rows: rows)
  }
}

/// Finds the port of each frame at each route. A line names a port that a frame does *not* enter.
private struct RouteCounter {
  private typealias Witness = (sink: String, ends: Set<String>)

  private let ports: [String: [String]]
  /// Of routes with one edge: a frame that enters it has no line.
  private let witnesses: [String: Witness]
  private var others: [String: [FrameID: Set<String>]] = [:]
  /// By route: the frames that end before the port of a witness, or at the route.
  private var ended: [String: Set<FrameID>] = [:]

  init(_ rules: PossibleDecisions) {
    let ports = rules.ports
    self.ports = ports
    var witnesses: [String: Witness] = [:]
    for (route, ports) in ports where ports.count == 1 {
      witnesses[route] = rules.witness(of: route, port: ports[0])
    }
    self.witnesses = witnesses
  }

  mutating func add(_ line: DecisionLine) {
    guard let frame = line.frame else { return }
    if line.kind == .thin, let port = line["port"] {
      others[line.node, default: [:]][frame, default: []].insert(port)
    }
    guard line.kind == .outcome, let node = line["node"] else { return }
    for (route, witness) in witnesses
    where witness.sink == line.node && witness.ends.contains(node) {
      ended[route, default: []].insert(frame)
    }
  }

  /// The frames that took each port, in order.
  func frames(in folder: GoldenFolder, _ input: GoldenManifest.Input) throws -> [(
    DecisionLabel, FrameID
  )] {
    try ports.keys.sorted().flatMap { route -> [(DecisionLabel, FrameID)] in
      let ports = ports[route] ?? []
      guard ports.count == 1 else {
        return (others[route] ?? [:]).sorted { $0.key < $1.key }.compactMap { frame, others in
          ports.first { !others.contains($0) }.map { (DecisionLabel(route, "port \($0)"), frame) }
        }
      }
      return try passed(route, in: folder, input).map {
        (DecisionLabel(route, "port \(ports[0])"), $0)
      }
    }
  }

  private func passed(
    _ route: String, in folder: GoldenFolder, _ input: GoldenManifest.Input
  ) throws -> [FrameID] {
    guard let witness = witnesses[route], let ledger = try folder.ledger(sink: witness.sink),
      let track = input.tracks.sorted(by: { $0.key < $1.key })
        .first(where: { witness.ends.contains($0.key) })?.value
    else { return [] }
    return (0..<ledger.frames.captured).map { FrameID(track: track, sequence: $0) }
      .filter { !(ended[route] ?? []).contains($0) }
  }
}
