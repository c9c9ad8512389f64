import RetakeCore

/// Errors of plans, shards and their merge.
enum ShardError {
  static func badPlan(file: String, cause: String) -> SuiteError {
    SuiteError(
      "shard.plan.unreadable", "the plan cannot be read", cause: cause, at: file,
      advice: "Make it again: retake plan --shards N --json > plan.json")
  }

  static func otherVersion(file: String, version: String) -> SuiteError {
    SuiteError(
      "shard.otherVersion", "retake \(version) wrote this, and this is \(Tool.version)", at: file,
      advice: "Run all shards and the merge with one version")
  }

  /// The plan of a file is about another content of this project.
  static func otherItem(_ key: String, file: String, problem: String) -> SuiteError {
    SuiteError(
      "shard.plan.differs", "\(key) \(problem)", at: file,
      advice: "Make the plan in the same checkout, and with the same arguments: "
        + "retake plan --shards N --json > plan.json")
  }

  static func otherCount(_ count: Int, planned: Int, file: String) -> SuiteError {
    SuiteError(
      "shard.plan.differs", "the plan has \(planned) shards, not \(count)", at: file,
      advice: "Write --shard I/\(planned), or make another plan")
  }

  /// A plan of a file, and a test of another suite.
  static func otherSuite(_ suite: String?, planned: String?, file: String) -> SuiteError {
    func name(_ suite: String?) -> String { suite.map { "the suite '\($0)'" } ?? "no suite" }
    return SuiteError(
      "shard.plan.differs", "the plan was made with \(name(planned)), not with \(name(suite))",
      at: file,
      advice: planned.map { "Write --suite \($0.shellWord)" } ?? "Leave out --suite")
  }

  static func badNumber(_ text: String, cause: String, advice: String) -> SuiteError {
    SuiteError(
      "shard.number", "'\(text)' is not a shard", cause: cause, advice: advice, kind: .usage)
  }

  static func unreadable(blob: String, cause: String) -> SuiteError {
    SuiteError(
      "shard.blob.unreadable", "the blob cannot be read", cause: cause, at: blob,
      advice: "Name files of: retake test --shard I/N --blob FILE")
  }

  static func notBlob(_ file: String) -> SuiteError {
    SuiteError(
      "shard.blob.foreign", "this is not a blob", at: file,
      advice: "Name files of: retake test --shard I/N --blob FILE")
  }

  static func planWithoutStore(_ file: String) -> SuiteError {
    SuiteError(
      "shard.blob.foreign", "this is a plan, not a blob", at: file,
      advice: "Name the folder of its results: retake merge \(file.shellWord) --store DIR")
  }

  static func newerBlob(_ file: String, version: Int) -> SuiteError {
    SuiteError(
      "shard.blob.newer", "the blob has format \(version), and this retake reads 1", at: file,
      advice: "Run all shards and the merge with one version")
  }

  static func damaged(_ file: String, cause: String) -> SuiteError {
    SuiteError(
      "shard.blob.damaged", "the blob is damaged", cause: cause, at: file,
      advice: "Copy it again, or run its shard again")
  }

  static func otherPlan(_ file: String, first: String, why: String) -> SuiteError {
    SuiteError(
      "shard.merge.otherPlan", "this blob has another plan than \(first): \(why)", at: file,
      advice: "Run all shards again, in one checkout, with one program and one plan")
  }

  static func duplicate(_ file: String, first: String, shard: String) -> SuiteError {
    SuiteError(
      "shard.merge.duplicate", "\(first) is shard \(shard), too", at: file,
      advice: "Leave out one of them")
  }

  static func gap(shard: String, cases: Int, first: String) -> SuiteError {
    let count = counted(cases, "case")
    return SuiteError(
      "shard.merge.gap", "shard \(shard) is missing: \(count), the first is \(first)",
      advice: "Name its blob, or run it: retake test --shard \(shard) --blob FILE")
  }

  static let poisonCode = "shard.case.poison"

  /// A case that is not tried again, because its processes were killed.
  static func poison(_ key: String, file: String) -> SuiteError {
    SuiteError(
      poisonCode, "the process that tested \(key) was killed \(ShardStore.attemptsMax) times",
      cause:
        "by the case, such as by a crash or too much memory, or from outside, such as by the end "
        + "of its machine or of its job: both leave the same file",
      at: file,
      advice:
        "Test it by itself: retake test \(key.shellWord); if it passes there, remove this file "
        + "and run the shard again")
  }

  static func unfinished(shard: String, cases: Int, first: String, plan: String) -> SuiteError {
    let count = counted(cases, "case")
    return SuiteError(
      "shard.merge.gap",
      "shard \(shard) is not finished: \(count) without a result, the first is \(first)",
      at: plan,
      advice: "Run it again: \(runAgain(plan: plan, index: "\(shard.prefix { $0 != "/" })"))")
  }

  /// The command that completes a shard in a store.
  static func runAgain(plan: String, index: String) -> String {
    "retake run-shard \(plan.shellWord) --index \(index) --store DIR"
  }

  /// Results of two versions of a library.
  ///
  /// - Parameters:
  ///   - library: The name and the version of the library in the results of a shard.
  ///   - first: The first case with another version, and that library.
  ///   - shard: The shard, its first case with `library`, and the number of such cases.
  static func otherLibrary(
    _ library: String, first: (key: String, library: String),
    shard: (name: String, key: String, cases: Int), command: String
  ) -> SuiteError {
    let more = shard.cases > 1 ? " and \(shard.cases - 1) more of its cases" : ""
    return SuiteError(
      "shard.merge.otherLibraries",
      "shard \(shard.name) tested \(shard.key)\(more) with \(library), and \(first.key) was tested "
        + "with \(first.library)",
      advice: "Install one version on all machines; then run each shard that had another version "
        + "again: \(command)")
  }

  /// The result of a case in a store cannot be used.
  ///
  /// - Parameter reason: With the code and the file of the result.
  static func badResult(
    _ key: String, shard: Int, plan: String, reason: ErrorFacts
  ) -> SuiteError {
    var facts = reason
    facts.message = "the result of \(key) cannot be used: \(reason.message)"
    // `run-shard` replaces it.
    facts.advice = "Run it again: \(runAgain(plan: plan, index: "\(shard)"))"
    return SuiteError(facts: facts)
  }

  static func noStore(_ folder: String) -> SuiteError {
    SuiteError(
      "shard.store.none", "there is no such folder of results", at: folder,
      advice: "Name the folder of: retake run-shard PLAN --store DIR")
  }

  static func notSubmitted(cause: String) -> SuiteError {
    SuiteError(
      "shard.fleet.submit", "sbatch did not accept the jobs", cause: cause,
      advice: "Run it on a machine of the cluster, or store the script: leave out --submit")
  }

  static func outsideVolume(_ path: String) -> SuiteError {
    SuiteError(
      "shard.fleet.place", "'\(path)' is not in the volume that the pods share",
      cause: "each pod would use a file system of its own there; the volume is mounted at /project",
      advice: "Name a file or a folder in the project: --store results", kind: .usage)
  }

  static func replaced(_ word: String) -> SuiteError {
    SuiteError(
      "shard.fleet.place", "GNU parallel would change '\(word)'",
      cause: "it replaces '{}' and other words in braces, in quotes, too",
      advice: "Choose a name without braces, or make a link that has none", kind: .usage)
  }

  static func emptyGap(shard: String) -> SuiteError {
    SuiteError(
      "shard.merge.gap", "shard \(shard) is missing; it has no case",
      advice: "Name its blob, or run it: retake test --shard \(shard) --blob FILE")
  }
}
