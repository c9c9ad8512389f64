import RetakeCompare
import RetakeCore
import Testing

/// A change to a pipeline, and the finding that must be reported about it.
struct Planted: Sendable, CustomTestStringConvertible {
  enum Place: Sendable {
    case frame(Int)
    /// Where the stage's own digests first differ, according to another observer.
    case firstDifference
    /// Where the decisions first differ, according to another observer.
    case firstDecision
    /// Concerns the run in general.
    case none
  }

  var name: String
  var golden: Recipe
  var actual: Recipe
  var verdict = Verdict.changed
  /// One of the findings.
  var kind: Finding.Kind?
  var place: Place
  /// Of the first root cause.
  var stage: String?
  var why = RootCause.Why.outputDiffers
  /// In the message of one of the findings, or in a note.
  var words: String?

  var testDescription: String { "\(golden.session): \(name)" }

  init(
    _ name: String, _ golden: Recipe, _ kind: Finding.Kind?, at place: Place, _ stage: String?,
    _ why: RootCause.Why = .outputDiffers, words: String? = nil,
    plant: (inout Recipe) -> Void
  ) {
    self.name = name
    self.golden = golden
    var actual = golden
    plant(&actual)
    self.actual = actual
    self.kind = kind
    self.place = place
    self.stage = stage
    self.why = why
    self.words = words
  }

  /// A difference that the rules allow.
  static func allowed(
    _ name: String, _ golden: Recipe, words: String? = nil, plant: (inout Recipe) -> Void
  ) -> Planted {
    var planted = Planted(name, golden, nil, at: .none, nil, words: words, plant: plant)
    planted.verdict = .passed
    return planted
  }
}

extension Recipe {
  func ruled(_ mode: SinkRule.Mode, _ change: (inout SinkRule) -> Void) -> Recipe {
    var rule = SinkRule(mode: mode)
    change(&rule)
    var recipe = self
    recipe.rule = rule
    return recipe
  }

  /// Decides again from the declared costs.
  var simulated: Recipe {
    var recipe = self
    recipe.mode = .simulate
    return recipe
  }

  /// Changes the first box of the frames in a range.
  mutating func changeBox(
    from first: Int = 40, to last: Int = .max,
    _ change: @escaping @Sendable (inout Detection) -> Void
  ) {
    detections = { found, frame in
      guard frame >= first, frame <= last, !found.items.isEmpty else { return found }
      var found = found
      change(&found.items[0])
      return found
    }
  }

  /// Changes every box.
  mutating func changeBoxes(_ change: @escaping @Sendable (inout Detection, Int) -> Void) {
    detections = { found, frame in
      var found = found
      for index in found.items.indices { change(&found.items[index], frame) }
      return found
    }
  }

  /// Changes the list of boxes of one frame.
  mutating func changeBoxes(
    at place: Int, _ change: @escaping @Sendable (inout [Detection]) -> Void
  ) {
    detections = { found, frame in
      guard frame == place else { return found }
      var found = found
      change(&found.items)
      return found
    }
  }

  /// Changes the scalars of the frames in a range.
  mutating func changeScalars(
    from first: Int = 40, to last: Int = .max,
    _ change: @escaping @Sendable (inout [Scalars.Entry]) -> Void
  ) {
    scalars = { value, frame in
      guard frame >= first, frame <= last else { return value }
      var entries = value.entries
      change(&entries)
      return Scalars(entries)
    }
  }
}
