import ArgumentParser
import Foundation
import Retake

struct FleetCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fleet",
    abstract: "Print the job file of an engine that runs the shards of a plan.",
    discussion: """
      slurm is a script for sbatch, kubernetes an Indexed Job for kubectl, parallel a line for GNU
      parallel. Each starts 'retake run-shard' once per shard and starts a shard again after a failed
      disk or a killed process. All machines need the project, the program and the store at the same
      paths.

      Examples:
        retake fleet slurm plan.json --store results --submit
        retake fleet kubernetes plan.json --store results --image registry/yard:7 > job.yml
        retake fleet parallel plan.json --store results | sh
        retake merge plan.json --store results --report report
      """)

  @Argument(help: "slurm, kubernetes or parallel.")
  var engine: FleetFile

  @Argument(help: "The file of 'retake plan --json'.")
  var plan: String

  @Option(help: ArgumentHelp("The folder of the results.", valueName: "dir"))
  var store: String

  @Option(help: "kubernetes: the image with Retake.")
  var image: String?

  @Option(help: "kubernetes: the volume claim with the project, mounted at /project.")
  var claim = "project"

  @Flag(help: "slurm: start the jobs with sbatch.")
  var submit = false

  @OptionGroup var form: OutputOptions

  func validate() throws {
    guard (image == nil) == (engine != .kubernetes) else {
      throw ValidationError(
        engine == .kubernetes
          ? "name the image with Retake: --image IMAGE" : "--image goes with kubernetes")
    }
    guard engine == .slurm || !submit else { throw ValidationError("--submit goes with slurm") }
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let content = try ShardPlan(reading: project.path(plan))
    let job = FleetFile.Job(
      program: CommandEnvironment.current.program, plan: plan, shards: content.shards,
      store: store, image: image ?? "", claim: claim)
    try engine.check(job)
    let text = engine.text(job)
    if submit { return Console.result(try FleetFile.submit(text)) }
    if form.json { return try Console.json(["text": text]) }
    Console.data(text)
  }
}

extension FleetFile: ExpressibleByArgument {}
