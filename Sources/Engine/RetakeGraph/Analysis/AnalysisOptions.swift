import RetakeCore

/// The conditions that a pipeline is checked against: the rates of its frames, and their time
/// budgets.
package struct AnalysisOptions: Sendable {
  /// Frames per second of each source that `rates` does not name; `nil` = not known.
  package var framesPerSecond: Double?
  /// Frames per second, by source.
  package var rates: [String: Double] = [:]
  /// Detections per frame, for the body of each forEach.
  package var items = 1
  /// The longest time of a frame to each sink that `budgets` does not name.
  package var budget: Duration?
  /// The longest time of a frame, by sink.
  package var budgets: [String: Duration] = [:]
  /// Inserts the conversions that a flat pipeline needs. A conversion has its own slots and queues.
  package var completing: @Sendable (Pipeline) throws -> Pipeline = {
    flat in flat
  }

  package init(
    framesPerSecond: Double? = nil, rates: [String: Double] = [:], items: Int = 1,
    budget: Duration? = nil, budgets: [String: Duration] = [:]
  ) {
    requirement(items >= 1, "a frame has one item at least")
    self.framesPerSecond = framesPerSecond
    self.rates = rates
    self.items = items
    self.budget = budget
    self.budgets = budgets
  }

  func rate(of source: String) -> Double? { rates[source] ?? framesPerSecond }
  func budget(of sink: String) -> Duration? { budgets[sink] ?? budget }
}
