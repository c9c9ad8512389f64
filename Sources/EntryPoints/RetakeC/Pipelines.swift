import CRetake
import Retake

/// The live pipelines of this process, by the numbers that callers have.
///
/// Numbers rise and are never reused, so that a number of a destroyed pipeline is recognized.
/// Bounded by `RETAKE_PIPELINES_MAX`.
final class Pipelines: Sendable {
  static let shared = Pipelines()

  private struct State: Sendable {
    var last: UInt64 = 0
    var alive: [UInt64: CPipeline] = [:]
    /// Pipelines that are being created.
    var reserved = 0
  }

  private let state = Locked(State())

  /// - Throws: `Problem`, and the error of `make`.
  func add(_ make: () throws -> CPipeline) throws -> UInt64 {
    // Before it is made: a pipeline has threads and models.
    try state.withLock { state in
      guard state.alive.count + state.reserved < Int(RETAKE_PIPELINES_MAX) else {
        throw Problem(
          RETAKE_ERROR_LIMIT, "limit", "there are \(RETAKE_PIPELINES_MAX) pipelines already",
          advice: "Destroy unused pipelines")
      }
      state.reserved += 1
    }
    let made = Result { try make() }
    return try state.withLock { state -> Result<UInt64, any Error> in
      state.reserved -= 1
      return made.map { pipeline in
        state.last += 1
        state.alive[state.last] = pipeline
        return state.last
      }
    }.get()
  }

  /// - Throws: `Problem`.
  func pipeline(_ number: UInt64) throws -> CPipeline {
    try state.withLock { state in
      guard let pipeline = state.alive[number] else { throw Self.unknown(number, state.last) }
      return pipeline
    }
  }

  /// - Throws: `Problem`.
  func remove(_ number: UInt64) throws -> CPipeline {
    try state.withLock { state in
      guard let pipeline = state.alive.removeValue(forKey: number) else {
        throw Self.unknown(number, state.last)
      }
      return pipeline
    }
  }

  private static func unknown(_ number: UInt64, _ last: UInt64) -> Problem {
    let isPast = (1...max(1, last)).contains(number) && last > 0
    return Problem(
      RETAKE_ERROR_HANDLE, "handle",
      isPast ? "the pipeline \(number) was destroyed" : "there is no pipeline \(number)",
      advice: isPast ? "" : "Pass the number that retake_pipeline_create has written")
  }
}
