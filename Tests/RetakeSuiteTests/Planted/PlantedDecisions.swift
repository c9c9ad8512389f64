import RetakeCompare
import RetakeGolden

/// Regressions of decisions, of the graph, and of the input.
enum PlantedDecisions {
  private static let figures = Recipe(.boxes, "figures")
  private static let slow = figures.simulated
  private static let cut = Recipe(.boxes, "cut").simulated

  static let all = decisions + budgets + graphs + inputs

  private static func decided(
    _ name: String, _ base: Recipe, _ kind: Finding.Kind? = .fateChanged,
    plant: (inout Recipe) -> Void
  ) -> Planted {
    Planted(name, base, kind, at: .firstDecision, "motion", .decisionDiffers, plant: plant)
  }

  private static let decisions = [
    decided("slower by 5 ms", slow) { $0.cost = 50 },
    decided("late decision: slower by 1 ms", slow) { $0.cost = 46 },
    decided("faster by 5 ms", slow) { $0.cost = 40 },
    decided("no longer too slow", slow) { $0.cost = 20 },
    decided("a shorter queue", slow) { $0.capacity = 2 },
    decided("a longer queue", slow) { $0.capacity = 5 },
    decided("the oldest is dropped", slow) { $0.policy = .dropOldest },
    decided("slower by 5 ms", cut) { $0.cost = 50 },
    decided("a shorter queue", cut) { $0.capacity = 1 },
    decided("the newest replaces", slow) {
      $0.capacity = 1
      $0.policy = .replace
    },
    Planted("faster but wrong", slow, .fateChanged, at: .frame(5), "filter") {
      $0.cost = 20
      $0.changeBoxes(at: 5) { $0.removeFirst() }
    },
  ]

  private static let budgets = [
    Planted(
      "too many drops", slow.budgeted(.init(droppedMax: 21)), .budget, at: .firstDecision,
      "motion", .decisionDiffers
    ) { $0.cost = 60 },
    Planted(
      "too slow in the worst case", slow.costing(20).budgeted(.init(latencyMax: 22_000_000)),
      .budget, at: .frame(0), nil, .decisionDiffers, words: "23ms of virtual time, 22ms are allowed"
    ) { $0.cost = 23 },
    Planted(
      "too slow for 1 in 100", slow.costing(20).budgeted(.init(latencyP99: 22_000_000)),
      .budget, at: .frame(0), nil, .decisionDiffers, words: "23ms of virtual time, 22ms are allowed"
    ) { $0.cost = 23 },
  ]

  private static let graphs = [
    Planted("a node more", figures, .nodeAdded, at: .none, "extra", .nodeAdded) {
      $0.hasExtraNode = true
    },
    Planted(
      "a node less", figures.extended, .nodeRemoved, at: .none, "extra", .nodeRemoved
    ) {
      $0.hasExtraNode = false
    },
    Planted("another sink", figures, .sinkRemoved, at: .none, "boxes", .sinkChanged) {
      $0.hasOtherSink = true
    },
  ]

  /// Seen between two sessions, whose frames are paired by their times.
  private static let inputs = [
    Planted("a lost frame", figures, .frameLost, at: .frame(40), nil, .frameLost) {
      $0.skipped = [40]
    },
    Planted("three lost frames", figures, .frameLost, at: .frame(50), nil, .frameLost) {
      $0.skipped = [50, 51, 52]
    },
    Planted(
      "an inserted frame", figures.without([30]), .frameInserted, at: .frame(30), nil,
      .frameInserted
    ) {
      $0.skipped = []
    },
    Planted(
      "a lost frame", Recipe(.means, "pulse"), .frameLost, at: .frame(40), nil, .frameLost
    ) {
      $0.skipped = [40]
    },
  ]
}

extension Recipe {
  fileprivate func budgeted(_ budgets: GoldenManifest.Budgets) -> Recipe {
    var recipe = self
    recipe.budgets = budgets
    return recipe
  }

  fileprivate func costing(_ milliseconds: Int) -> Recipe {
    var recipe = self
    recipe.cost = milliseconds
    return recipe
  }

  fileprivate func without(_ frames: Set<Int>) -> Recipe {
    var recipe = self
    recipe.skipped = frames
    return recipe
  }

  fileprivate var extended: Recipe {
    var recipe = self
    recipe.hasExtraNode = true
    return recipe
  }
}
