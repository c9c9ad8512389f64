import ArgumentParser
import Retake

/// Shows the progress of long work on a session on the terminal. Ctrl-C ends the work.
enum SessionProgress {
  static func shown<Result>(
    _ label: String, _ output: OutputOptions, megabytes: String = "copying MiB",
    _ body: (@escaping @Sendable (SessionCheck.Progress) -> Bool) throws -> Result
  ) throws -> Result {
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    return try body { progress in
      line.update(
        progress.unit == .megabytes ? megabytes : label, done: progress.done,
        // While the total is not known yet, the line counts without a percentage.
        total: progress.total > 0 ? progress.total : nil)
      return !Interruption.isRequested
    }
  }
}
