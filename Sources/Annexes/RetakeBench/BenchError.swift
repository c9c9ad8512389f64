package import RetakeCore

/// Why a benchmark cannot run.
package struct BenchError: FactualError {
  package let facts: ErrorFacts

  package init(facts: ErrorFacts) { self.facts = facts }

  /// A load for the pool benchmark is malformed.
  package static func badLoad(message: String, advice: String?, pointer: String, file: String)
    -> Self
  {
    Self(
      "suite.bench.load", message, at: file, pointer: pointer,
      advice: advice ?? "See the loads in docs/pools.md")
  }

  /// The file of a load cannot be read.
  package static func unreadableLoad(path: String, cause: String) -> Self {
    Self(
      "suite.bench.loadUnreadable", "the load cannot be read", cause: cause, at: path,
      advice: "--load reads a load as JSON from a file; docs/pools.md has an example")
  }

}
