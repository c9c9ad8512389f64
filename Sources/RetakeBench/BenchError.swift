package import RetakeCore

/// Why a benchmark cannot run.
package enum BenchError: RetakeError, Hashable {
  /// A load for the pool benchmark is malformed.
  case badLoad(message: String, advice: String?, pointer: String, file: String)

  package var facts: ErrorFacts {
    switch self {
    case .badLoad(let message, let advice, let pointer, let file):
      ErrorFacts(
        "suite.bench.load", message, at: file, pointer: pointer,
        advice: advice ?? "See the loads in docs/pools.md")
    }
  }
}
