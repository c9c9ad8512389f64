import ArgumentParser
import Retake

/// For commands that run stages.
struct WatchdogOptions: ParsableArguments {
  @Option(
    parsing: .unconditional,
    help: ArgumentHelp(
      "End the run if a stage does not return within this time; 0: no limit (programs: a day).",
      valueName: "seconds"), transform: Bounded.seconds(0...86_400))
  var watchdog = RunOptions.defaultWatchdog / .seconds(1)

  /// The options of a command's runs, which end when an end is requested.
  func options(workers: Int? = nil) -> RunOptions {
    RunOptions(
      workers: workers ?? RunOptions.workersDefault,
      watchdog: watchdog > 0 ? .seconds(watchdog) : nil,
      isInterrupted: { Interruption.isRequested })
  }
}
