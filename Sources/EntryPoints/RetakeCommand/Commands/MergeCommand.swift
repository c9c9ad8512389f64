import ArgumentParser
import Retake

struct MergeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "merge",
    abstract: "Combine the results of all shards into one report.",
    discussion: """
      Reads the blobs of 'retake test --shard I/N --blob FILE'. The report and the exit code are those
      of a test of all cases. Blobs that are missing, present twice, damaged, of another version or of
      another plan are refused.

      Examples:
        retake merge 1.blob 2.blob 3.blob 4.blob
        retake merge blobs/*.blob --report report

      Exit codes: as 'retake test'; 2 if the blobs cannot be merged.
      """)

  @Argument(help: "The blobs of all shards, in any order.")
  var blobs: [String]

  @Option(help: "Write report.html, report.json, junit.xml, codequality.json and summary.md here.")
  var report: String?

  @OptionGroup var form: OutputOptions

  func run() throws {
    Interruption.listen()
    let project = try CommandEnvironment.current.project()
    let merge = ShardMerge(blobs)
    guard merge.problems.isEmpty else {
      for problem in merge.problems { Console.error(problem) }
      throw CommandEnd(status: .error)
    }
    try form.show(merge.outcome(in: project, report: report))
  }
}
