import Retake
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import RetakeStages

@testable import RetakeSuite

/// A pipeline over a part of a session, with everything that a regression may change.
struct Recipe: Sendable {
  enum Base: String, Sendable, CaseIterable {
    case boxes, means, waves, labels, plates, items, preview, digest, observations
  }

  typealias Change<Value> = @Sendable (Value, Int) -> Value

  var base: Base
  var session: String
  var mode = RunOptions.Mode.everyFrame
  var seed: UInt64 = 0
  var precision: [String: [String: Double]] = [:]
  var skipped: Set<Int> = []
  var rule: SinkRule?
  var budgets = GoldenManifest.Budgets()

  var crop = CropOptions(x: 0, y: 0, width: 300, height: 220)
  var motion = MotionOptions(threshold: 24)
  var cost = 45
  var capacity = 3
  var policy = EdgePolicy.dropNewest
  var failsAt: Int?
  var hasExtraNode = false
  var sink: String { hasOtherSink ? "others" : base.rawValue }
  var hasOtherSink = false
  var percent = 50
  var smoothing = 4
  var late = 0
  var window = 32
  var palette = MeanColor.cube
  var top = 3

  var picture: Change<Frame> = { frame, _ in frame } { didSet { hasOwnCode = true } }
  var detections: Change<Detections> = { value, _ in value } { didSet { hasOwnCode = true } }
  var scalars: Change<Scalars> = { value, _ in value } { didSet { hasOwnCode = true } }
  var wave: Change<Waveform> = { value, _ in value } { didSet { hasOwnCode = true } }
  var classes: Change<Classes> = { value, _ in value } { didSet { hasOwnCode = true } }
  var observed: Change<[Observation]> = { value, _ in value } { didSet { hasOwnCode = true } }
  var plate: @Sendable (Int) -> String = { "RT \($0 / 10) AKE" } { didSet { hasOwnCode = true } }

  /// Whether a closure was replaced. Closures cannot be compared.
  private(set) var hasOwnCode = false

  /// Equal for recipes that write the same golden, with every property; `nil` with own code.
  var key: String? {
    guard !hasOwnCode else { return nil }
    var text = ""
    dump(self, to: &text)
    return text
  }

  init(_ base: Base, _ session: String) {
    self.base = base
    self.session = session
  }

  var pipeline: Pipeline {
    let start = Pipeline.named(base.rawValue).source(.session())
    switch base {
    case .boxes: return boxes(start)
    case .means:
      return seen(start).fingertip(percent: percent, id: "fingertip")
        .stage(Smooth(length: smoothing), id: "smooth").stage(Late(frames: late), id: "late")
        .map("filter") { [scalars] value, context in scalars(value, context.frame.sequence) }
        .results(sink)
    case .waves:
      return seen(start).fingertip(percent: percent, id: "fingertip")
        .stage(Window(length: window), id: "window")
        .map("filter") { [wave] value, context in wave(value, context.frame.sequence) }
        .results(sink)
    case .labels:
      return seen(start).meanColor(palette: palette, top: top, id: "colour")
        .map("filter") { [classes] value, context in classes(value, context.frame.sequence) }
        .results(sink)
    case .plates:
      return seen(start).fingertip(percent: percent, id: "fingertip")
        .map("reader") { [plate] _, context in Plate(text: plate(context.frame.sequence)) }
        .results(sink)
    case .items:
      let frames = cropped(start)
      let found = frames.motion(options: motion, id: "motion")
        .map("filter") { [detections] value, context in detections(value, context.frame.sequence) }
      return frames.forEach(found, id: "each") { region in
        region.regionCrop(padding: 0.2).meanColor(palette: palette, top: top, id: "colour")
      }.results(sink)
    case .preview: return seen(cropped(start)).results(sink)
    case .observations:
      return seen(start).map("reader") { [observed] _, context in
        let frame = context.frame.sequence
        return Observations(observed(PlantedObservations.items(frame), frame))
      }.results(sink)
    case .digest: return seen(cropped(start)).digest(id: "fingerprint").results(sink)
    }
  }

  private func cropped(_ chain: PipelineChain<Frame>) -> PipelineChain<Frame> {
    chain.crop(x: crop.x, y: crop.y, width: crop.width, height: crop.height, id: "crop")
  }

  private func seen(_ chain: PipelineChain<Frame>) -> PipelineChain<Frame> {
    chain.map("tint") { [picture] frame, context in picture(frame, context.frame.sequence) }
  }

  private func boxes(_ start: PipelineChain<Frame>) -> Pipeline {
    var gray = seen(cropped(start).gray(id: "grey"))
    if hasExtraNode { gray = gray.map("extra") { frame, _ in frame } }
    return gray.motion(options: motion, id: "motion")
      .cost(.fixed(.milliseconds(cost))).queue(capacity: capacity, policy: policy)
      .executor("vision")
      .stage(Numbers(), id: "numbers").stage(Guard(failsAt: failsAt), id: "guard")
      .map("filter") { [detections] value, context in detections(value, context.frame.sequence) }
      .results(sink)
  }

  /// Runs it and writes the files of a golden.
  func write(to folder: GoldenFolder, workers: Int = 1, observers: [any RunObserver] = []) throws {
    let reader = try SessionPart.named(session).skipping(skipped)
    var options = RunOptions(mode: mode, workers: workers, seed: seed)
    options.watchdog = nil
    var request = Replay.Request(
      sessionName: session, caseName: base.rawValue, options: options, precision: precision)
    request.overrides = []
    let replay = try Replay(
      pipeline, reader: reader, catalog: StageRegistry.builtIn, request: request)
    var project = Project(folder: folder.url.path)
    project.registry = .builtIn
    if let rule { project.compare = CompareRules([sink: rule]) }
    project.budgets = budgets
    var definition = CaseDefinition(name: base.rawValue, pipeline: "own.json")
    definition.mode = mode
    definition.seed = seed
    _ = try GoldenRun.write(
      replay, definition: definition, project: project, reader: nil, to: folder,
      observers: observers)
  }
}

/// The digests of all stages and the reviewed decisions of a run, as they were reported.
final class Observed: RunObserver {
  private(set) var stages: [String] = []
  private(set) var digests: [[NodeDigest]] = []
  private(set) var decisions: [DecisionLine] = []

  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  func began(nodes: [RunNode]) { stages = nodes.filter(\.role.isDigested).map(\.id) }

  func decided(_ line: DecisionLine) {
    if ![.start, .done, .deliver, .block, .unblock].contains(line.kind) {
      decisions.append(line)
    }
  }

  func finished(_ frame: FinishedFrame) { digests.append(frame.digests) }

  /// The first frame at which a stage gave a different value.
  func firstDifference(from other: Observed, at stage: String) -> Int? {
    guard let mine = stages.firstIndex(of: stage), let theirs = other.stages.firstIndex(of: stage)
    else { return nil }
    return zip(digests, other.digests).enumerated().first {
      $0.element.0[mine] != $0.element.1[theirs]
    }?.offset
  }

  /// The earliest decision that only one of the two runs made. At the same position in both logs,
  /// the decision about the earlier frame.
  func firstOtherDecision(from other: Observed) -> DecisionLine? {
    let shared = Set(decisions.map(\.description)).intersection(
      other.decisions.map(\.description))
    return [other.decisions, decisions].compactMap { lines in
      lines.enumerated().first { !shared.contains($0.element.description) }
    }.min { left, right in
      if left.offset != right.offset { return left.offset < right.offset }
      guard let mine = left.element.frame, let theirs = right.element.frame else { return false }
      return mine < theirs
    }?.element
  }
}
