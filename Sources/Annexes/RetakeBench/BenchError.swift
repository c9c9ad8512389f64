package import RetakeCore

/// Why a benchmark cannot run.
package enum BenchError: RetakeError, Hashable {
  /// A load for the pool benchmark is malformed.
  case badLoad(message: String, advice: String?, pointer: String, file: String)
  /// There is no file with a load.
  case noLoad(path: String)
  /// The file of a load cannot be read.
  case unreadableLoad(path: String, cause: String)
  /// Options are tuned on loads of one family alone.
  case oneFamily([String])
  /// The system does not say how much memory a process has.
  case noResidentMemory
  /// The process that measured a pool ended without its figures.
  case noFigures(pool: String)
  /// No device profile of this name comes with Retake.
  case noProfile(String, known: [String])

  package var facts: ErrorFacts {
    switch self {
    case .badLoad(let message, let advice, let pointer, let file):
      ErrorFacts(
        "suite.bench.load", message, at: file, pointer: pointer,
        advice: advice ?? "See the loads in docs/pools.md")
    case .noLoad(let path):
      ErrorFacts(
        "suite.bench.noLoad", "there is no such file", at: path,
        advice: "--load reads a load as JSON; docs/pools.md has an example")
    case .unreadableLoad(let path, let cause):
      ErrorFacts(
        "suite.bench.loadUnreadable", "the load cannot be read", cause: cause, at: path,
        advice: "--load reads a load as JSON from a file; docs/pools.md has an example")
    case .oneFamily(let families):
      ErrorFacts(
        "suite.bench.oneFamily",
        families.isEmpty
          ? "options are tuned on loads without events, but every load has events"
          : "options are tuned on one family of loads and judged on another, "
            + "and there is only '\(families[0])'",
        advice: "Add a load without events of another 'family' with --load, or leave --load out")
    case .noResidentMemory:
      ErrorFacts(
        "suite.bench.residentMemory",
        "there is no /proc/self/statm, which has the memory of a process",
        advice: "Run 'retake bench memory' on Linux")
    case .noFigures(let pool):
      ErrorFacts(
        "suite.bench.noFigures", "the process that measured the pool '\(pool)' returned no figures",
        advice: "Run 'retake bench memory --pool \"\(pool)\"' to see why")
    case .noProfile(let name, let known):
      ErrorFacts(
        "suite.bench.noProfile", "there is no profile '\(name)'",
        advice: Suggestion.advice(for: name, among: known))
    }
  }
}
