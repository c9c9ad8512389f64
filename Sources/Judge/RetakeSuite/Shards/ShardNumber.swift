import RetakeCore

/// One of several shards: `2/4`, or the shard that a job's own variables name.
package struct ShardNumber: Hashable, Sendable, CustomStringConvertible {
  /// From 1 to `count`.
  package var number: Int
  package var count: Int
  /// The variables that it was read from, as `NAME=VALUE`; empty for `2/4`.
  package private(set) var source: [String] = []

  package var description: String { "\(number)/\(count)" }

  /// The variables of one engine.
  private struct Engine {
    var index: String
    /// `nil` if the engine has no variable with the number of its jobs.
    var count: String?
    /// The index of the first job, or the variable that has it.
    var first = 0
    var firstVariable: String?
  }

  /// GitLab counts from 1, all others from 0, or from a number that they name.
  private static let engines = [
    Engine(index: "CI_NODE_INDEX", count: "CI_NODE_TOTAL", first: 1),
    Engine(index: "BUILDKITE_PARALLEL_JOB", count: "BUILDKITE_PARALLEL_JOB_COUNT"),
    Engine(index: "CIRCLE_NODE_INDEX", count: "CIRCLE_NODE_TOTAL"),
    Engine(
      index: "SLURM_ARRAY_TASK_ID", count: "SLURM_ARRAY_TASK_COUNT",
      firstVariable: "SLURM_ARRAY_TASK_MIN"),
    Engine(index: "AWS_BATCH_JOB_ARRAY_INDEX", count: "AWS_BATCH_JOB_ARRAY_SIZE"),
    Engine(index: "JOB_COMPLETION_INDEX"),
    Engine(index: "TEST_SHARD_INDEX", count: "TEST_TOTAL_SHARDS"),
  ]

  /// - Parameters:
  ///   - text: `2/4`, `auto`, or `auto/4` for an engine that does not name the number of its jobs.
  ///   - planned: The number of shards of a plan.
  /// - Throws: `shard.number`.
  package init(_ text: String, planned: Int? = nil, variables: [String: String]) throws {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
    let count = parts.count == 2 ? Self.whole(parts[1]) : nil
    if parts[0] == "auto", parts.count == 1 || count != nil {
      self = try Self.ofJob(variables, count: count ?? planned, text: text)
    } else if parts.count == 2, let number = Self.whole(parts[0]), let count {
      self = Self(number: number, count: count)
    } else {
      throw ShardError.badNumber(
        text, cause: "it has not the form I/N", advice: "Write for example: --shard 2/4, or auto")
    }
    guard (1...ShardPlan.shardsMax).contains(self.count), (1...self.count).contains(number) else {
      throw ShardError.badNumber(
        description,
        cause: "shards are counted from 1/N to N/N, and N is at most \(ShardPlan.shardsMax)",
        advice: "Write for example: --shard 2/4")
    }
  }

  /// A shard of `run-shard`.
  ///
  /// - Parameters:
  ///   - index: From 1; read from the variables of the job if `nil`.
  ///   - planned: The number of shards of the plan.
  /// - Throws: `shard.number`.
  package init(index: Int?, planned: Int, variables: [String: String]) throws {
    let advice = "Name a shard of the plan, from 1 to \(planned): --index 1"
    if let index {
      guard (1...planned).contains(index) else {
        throw ShardError.badNumber(
          "\(index)", cause: "the plan has \(counted(planned, "shard"))", advice: advice)
      }
      self.init(number: index, count: planned)
      return
    }
    do {
      try self.init("auto", planned: planned, variables: variables)
    } catch let error as SuiteError {
      var facts = error.facts
      (facts.message, facts.advice) = ("the variables of the job name no shard", advice)
      throw SuiteError(facts: facts)
    }
  }

  private init(number: Int, count: Int, source: [String] = []) {
    (self.number, self.count, self.source) = (number, count, source)
  }

  private static func ofJob(
    _ variables: [String: String], count known: Int?, text: String
  ) throws -> Self {
    let found = engines.filter { variables[$0.index] != nil }
    // Two engines can be nested, such as Slurm in a job of GitLab, and no order of them is right.
    guard found.count == 1, let engine = found.first else {
      let names = (found.isEmpty ? engines : found).map(\.index).joined(separator: ", ")
      throw ShardError.badNumber(
        text,
        cause: found.isEmpty ? "none of these variables is set: \(names)" : "several are: \(names)",
        advice: "Write the shard: --shard 2/4")
    }
    let used = [engine.index, engine.firstVariable, engine.count].compactMap(\.self)
    let first = engine.firstVariable.map { whole(variables[$0] ?? "") } ?? engine.first
    let total = engine.count.map { whole(variables[$0] ?? "") } ?? known
    guard let index = whole(variables[engine.index] ?? ""), let first, let total else {
      throw ShardError.badNumber(
        text,
        cause: engine.count == nil
          ? "\(engine.index) does not say how many jobs there are"
          : "\(used.joined(separator: ", ")) are not whole numbers",
        advice: engine.count == nil
          ? "Write --shard auto/N, or add --plan FILE" : "Write the shard: --shard 2/4")
    }
    let source = used.compactMap { name in variables[name].map { "\(name)=\($0)" } }
    if let known, known != total {
      throw ShardError.badNumber(
        text, cause: "\(source.joined(separator: ", ")) is not one of \(known)",
        advice: "Start \(known) jobs, or leave out the number")
    }
    return Self(number: index - first + 1, count: total, source: source)
  }

  /// A number that is safe to count with.
  private static func whole(_ text: String) -> Int? {
    Int(text).flatMap { (0...1_000_000_000).contains($0) ? $0 : nil }
  }
}
