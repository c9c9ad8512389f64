import Foundation
package import RetakeReplay
import RetakeRuntime

/// How cases are run, separate from their definitions. A command makes this value once, and every
/// layer passes it on unchanged. No condition changes a result.
package struct RunConditions: Sendable {
  /// Compute threads of each case; `nil` means all processors, shared by the cases that run at
  /// once.
  package var workers: Int?
  /// The real time after which a stage's body fails its run; `nil` means no limit.
  package var watchdog: Duration?
  /// Seeds real delays before each computation; no delays if `nil`.
  package var perturbation: UInt64?
  package var poisonsMemory = false
  /// Opens the folder where results of earlier runs are read and new results are stored; without a
  /// folder, the run computes every result. Not used when stages are measured.
  ///
  /// Called when the session and the pipeline are known, so that a wrong argument creates no
  /// folder. `note` receives the reason why there is no cache, for the user.
  package var openCache: @Sendable (_ note: (String) -> Void) throws -> CacheFolder? = { _ in nil }
  package var isInterrupted: @Sendable () -> Bool

  package init(
    workers: Int? = RunOptions.workersDefault,
    watchdog: Duration? = RunOptions.defaultWatchdog,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    self.workers = workers
    self.watchdog = watchdog
    self.isInterrupted = isInterrupted
  }

  func workerCount(casesAtOnce: Int = 1) -> Int {
    let processors = ProcessInfo.processInfo.activeProcessorCount
    return workers
      ?? max(casesAtOnce == 1 ? RunOptions.workersDefault : 1, processors / casesAtOnce)
  }
}
