import Foundation
import RetakeReplay
import RetakeRuntime

/// Something that a run writes during the run.
protocol RunOutput: RunObserver {
  /// The error that ended the output; `nil` while bytes are accepted.
  var loss: ReplayError? { get }
  /// Moves the written file to its final place.
  func finish() throws
  /// Removes the files of a run that failed.
  func discard()
}
