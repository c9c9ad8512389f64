import ArgumentParser
import Foundation
import Retake

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Divide the cases of a suite among several machines.",
    discussion: """
      The longest case goes first, each to the shard with the least to do. Without --timings a case is
      as long as its frames. The plan depends on the files of the cases, the goldens, retake.yml and
      the program alone, so 'retake test --shard I/N' makes the same plan on each machine. With
      --timings, store the plan in a file and name it in each shard: retake test --plan.

      Examples:
        retake plan --shards 4
        retake plan --shards 10 --timings report/report.json --json > plan.json
      """)

  @Argument(help: "SESSION or SESSION/CASE: names in Recordings, folders, or globs in quotes.")
  var sessions: [String] = []

  @Option(name: .customLong("case"), help: "A case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(help: "A suite of retake.yml; 'default' if not given.")
  var suite: String?

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Option(
    parsing: .unconditional, help: "The number of shards.",
    transform: Bounded.whole(1...ShardPlan.shardsMax))
  var shards = 1

  @Option(
    help: ArgumentHelp(
      "Predict durations from this report.json of an earlier test.", valueName: "file"))
  var timings: String?

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var form: OutputOptions

  /// A report has at most some megabytes.
  private static let reportBytesMax: Int64 = 256 << 20

  func run() throws {
    Interruption.listen()
    let project = try programs.project()
    var selection = Selection(sessions: sessions, cases: cases)
    selection.suite = suite
    var run = SuiteRun(project: project, selection: selection)
    run.goldens = goldens.map { project.path($0) }
    let plan = try run.makePlan(shards: shards, timings: try timings.map(report)) {
      form.note("note: \($0)")
    }
    if form.json {
      return Console.data(String(decoding: try plan.encoded(), as: UTF8.self))
    }
    let unit = plan.hasSeconds ? "s" : "frames"
    for (index, load) in plan.loads.enumerated() {
      let items = plan.items(of: index + 1)
      let size = plan.hasSeconds ? String(format: "%.1f", load) : "\(Int(load))"
      Console.result(
        "shard \(index + 1)/\(plan.shards)  \(items.count) of \(plan.items.count) cases, "
          + "\(size) \(unit)")
      for item in items { Console.result("  \(visible(item.key))") }
    }
    form.note("plan \(plan.digest)")
  }

  private func report(_ path: String) throws -> ReportDocument {
    let data: Data
    do {
      data = try RegularFile.contents(path, links: .followed, bytesMax: Self.reportBytesMax)
    } catch let refusal as RegularFile.Refusal {
      throw ReportError.unreadable(reason: "\(path): \(refusal)")
    }
    do {
      return try ReportDocument(parsing: data)
    } catch let error as ReportError where error.code == "report.document.unreadable" {
      throw ReportError(
        "report.document.unreadable", "this is not a report", at: path,
        advice: "Name the report.json of an earlier test: retake test --report report")
    }
  }
}
