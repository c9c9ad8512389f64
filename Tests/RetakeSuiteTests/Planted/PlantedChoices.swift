import Foundation
import Retake
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages

@testable import RetakeSuite

/// Reports the detector's results with other class names.
private struct Renamed: PureStage {
  static let kind = "tamper"

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections {
    Detections(input.items, classNames: ["movement"])
  }
}

/// Passes the detector's results on.
private struct Plain: PureStage {
  static let kind = "tamper"

  init(options: NoOptions) {}

  func process(_ input: Detections, _ context: StageContext) -> Detections { input }
}

/// A change to a pipeline's document, or to the code of a stage, and the stage that must be named.
struct PlantedChoice: Sendable, CustomStringConvertible {
  enum Graph: String, Sendable {
    case throttled, sampled, routed, queued, tampered
  }

  enum Place: Sendable {
    /// Where the logs of the two runs first differ, according to another observer.
    case firstDecision
    /// Where a stage's own digests first differ.
    case firstDifference
    case frame(Int)
  }

  var graph: Graph
  var mode = RunOptions.Mode.everyFrame
  /// A string of the document, and its replacement.
  var change: (from: String, to: String)?
  /// Whether the stage `tamper` is a different one.
  var renames = false
  var stage: String
  var place = Place.firstDecision
  var why = RootCause.Why.decisionDiffers
  var origin = RootCause.Origin.pipeline

  var description: String {
    "\(graph), \(mode.rawValue): \(change.map { "\($0.from) → \($0.to)" } ?? "renamed")"
  }

  static let all: [PlantedChoice] = throttles + samples + routes + queues + values

  private static let modes: [RunOptions.Mode] = [.everyFrame, .simulate]

  private static let throttles = modes.flatMap { mode in
    ["14.9", "14", "10", "20", "29", "7.5", "1"].map { rate in
      PlantedChoice(
        graph: .throttled, mode: mode, change: ("\"fps\": 15", "\"fps\": \(rate)"), stage: "calm")
    }
  }

  private static let samples = modes.flatMap { mode in
    [2, 4, 5].map { every in
      PlantedChoice(
        graph: .sampled, mode: mode, change: ("\"every\": 3", "\"every\": \(every)"), stage: "third"
      )
    }
  }

  private static let routes: [PlantedChoice] =
    modes.flatMap { mode in
      [
        PlantedChoice(
          graph: .routed, mode: mode, change: ("found.match", "found.SWAP"), stage: "found"),
        PlantedChoice(
          graph: .routed, mode: mode, change: ("\"countMin\": 1", "\"countMin\": 4"), stage: "found"
        ),
      ]
    }

  private static let queues = [
    ("\"dropNewest\"", "\"dropOldest\""), ("\"capacity\": 3", "\"capacity\": 2"),
    ("\"capacity\": 3", "\"capacity\": 4"), ("45ms", "50ms"), ("45ms", "46ms"), ("45ms", "34ms"),
    ("\"capacity\": 3, \"policy\": \"dropNewest\"", "\"policy\": \"replace\""),
  ].map { change in
    // Costs are not part of a pipeline's digest, but they are in its document.
    PlantedChoice(graph: .queued, mode: .simulate, change: change, stage: "motion")
  }

  private static let values =
    modes.map { mode in
      PlantedChoice(
        graph: .tampered, mode: mode, renames: true, stage: "tamper", place: .frame(0),
        why: .outputDiffers, origin: .code)
    }
    + [20, 28, 40].map { threshold in
      PlantedChoice(
        graph: .tampered, change: ("\"threshold\": 24", "\"threshold\": \(threshold)"),
        stage: "motion", place: .firstDifference, why: .outputDiffers)
    }
    + [(PlantedChoice.Graph.throttled, "throttled"), (.sampled, "sampled"), (.routed, "routed")].map
  {
    PlantedChoice(
      graph: $0.0, change: ("\"threshold\": 24", "\"threshold\": 40"), stage: "motion",
      place: .firstDifference, why: .outputDiffers)
  }

  // MARK: running

  private var document: String {
    let head = """
      {"v": 1, "name": "planted",
       "nodes": [
        {"id": "camera", "kind": "session"}, {"id": "grey", "kind": "grey"},
        {"id": "motion", "kind": "motion", "options": {"threshold": 24}, "cost": {"fixed": "45ms"}},
        {"id": "boxes", "kind": "results", "primary": true}
      """
    switch graph {
    case .throttled:
      return head + """
        , {"id": "calm", "kind": "throttle", "options": {"fps": 15}}],
         "edges": [
          {"from": "camera", "to": "calm"}, {"from": "calm", "to": "grey"},
          {"from": "grey", "to": "motion"}, {"from": "motion", "to": "boxes"}]}
        """
    case .sampled:
      return head + """
        , {"id": "third", "kind": "sample", "options": {"every": 3}}],
         "edges": [
          {"from": "camera", "to": "third"}, {"from": "third", "to": "grey"},
          {"from": "grey", "to": "motion"}, {"from": "motion", "to": "boxes"}]}
        """
    case .routed:
      return head + """
        , {"id": "found", "kind": "route", "options": {"detections": {"countMin": 1}}},
          {"id": "quiet", "kind": "results"}],
         "edges": [
          {"from": "camera", "to": "grey"}, {"from": "grey", "to": "motion"},
          {"from": "motion", "to": "found"}, {"from": "found.match", "to": "boxes"},
          {"from": "found.else", "to": "quiet"}]}
        """
    case .queued:
      return head + """
        ],
         "edges": [
          {"from": "camera", "to": "grey"},
          {"from": "grey", "to": "motion", "capacity": 3, "policy": "dropNewest"},
          {"from": "motion", "to": "boxes"}]}
        """
    case .tampered:
      return head + """
        , {"id": "tamper", "kind": "tamper"}],
         "edges": [
          {"from": "camera", "to": "grey"}, {"from": "grey", "to": "motion"},
          {"from": "motion", "to": "tamper"}, {"from": "tamper", "to": "boxes"}]}
        """
    }
  }

  private var changedDocument: String {
    guard let change else { return document }
    guard change.to == "found.SWAP" else {
      return document.replacing(change.from, with: change.to)
    }
    return document.replacing("found.match", with: "found.SWAP")
      .replacing("found.else", with: "found.match").replacing("found.SWAP", with: "found.else")
  }

  /// Writes the two runs as files, and returns the observations of another observer.
  func write(
    golden: GoldenFolder, actual: GoldenFolder
  ) throws -> (before: Observed, now: Observed) {
    let observed = (Observed(), Observed())
    try write(document, renames: false, to: golden, observed.0)
    try write(changedDocument, renames: renames, to: actual, observed.1)
    return observed
  }

  private func write(
    _ document: String, renames: Bool, to folder: GoldenFolder, _ observer: Observed
  ) throws {
    var registry = StageRegistry.builtIn
    if renames { registry.register(Renamed.self) } else { registry.register(Plain.self) }
    let pipeline = try PipelineDocument.parse(Data(document.utf8), catalog: registry)
    var options = RunOptions(mode: mode, workers: 1)
    options.watchdog = nil
    let replay = try Replay(
      pipeline, reader: try SessionPart.named("figures"), catalog: registry,
      request: Replay.Request(sessionName: "figures", caseName: "planted", options: options))
    var definition = CaseDefinition(name: "planted", pipeline: "own.json")
    definition.mode = mode
    _ = try GoldenRun.write(
      replay, definition: definition, project: Project(folder: folder.url.path), reader: nil,
      to: folder, observers: [observer])
  }
}
