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
        retake merge plan.json --store results      # the results of 'retake run-shard'

      Exit codes: as 'retake test'; 2 if the blobs cannot be merged.
      """)

  @Argument(help: "The blobs of all shards, in any order; with --store, the plan.")
  var blobs: [String]

  @Option(help: ArgumentHelp("The folder of the results of 'retake run-shard'.", valueName: "dir"))
  var store: String?

  @Option(help: "Write report.html, report.json, junit.xml, codequality.json and summary.md here.")
  var report: String?

  @OptionGroup var form: OutputOptions

  func validate() throws {
    guard store == nil || blobs.count == 1 else {
      throw ValidationError("--store goes with one plan: retake merge plan.json --store DIR")
    }
  }

  func run() throws {
    Interruption.listen()
    let project = try CommandEnvironment.current.project()
    let merge =
      try store.map { store in
        let plan = try ShardPlan(reading: project.path(blobs[0]))
        return ShardMerge((blobs[0], plan), store: project.path(store))
      } ?? ShardMerge(blobs)
    guard merge.problems.isEmpty else {
      for problem in merge.problems { Console.error(problem) }
      throw CommandEnd(status: .error)
    }
    try form.show(merge.outcome(in: project, report: report))
  }
}
