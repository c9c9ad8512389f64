import ArgumentParser
import Foundation
import Retake

struct StressCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stress",
    abstract: "Replay a case with worse and worse frames, and compare each replay with its golden.",
    discussion: """
      Pixels: brightness in percent, noise and blur as standard deviations in levels and pixels, jpeg
      as a quality. Times: drop in percent of the frames; freeze and jitter in milliseconds. A range
      has --steps strengths. The same seed makes the same frames, with any number of workers.

      Examples:
        retake stress yard/motion --with 'brightness=-40%..40%,noise=0..20'
        retake stress yard/motion --with 'jpeg=90|50|20,drop=0..20%' --budget changed=10 --report stress
        retake stress yard/motion --with 'blur=0..3' --steps 7 --output Pipelines/stress

      Exit codes: 0 done, 2 error.
      """)

  @Argument(help: "SESSION/CASE: a case of retake.yml with an accepted golden.")
  var name: String

  @Option(
    name: .customLong("with"),
    help: "Perturbations with strengths: brightness, noise, blur, jpeg, drop, freeze, jitter.")
  var perturbations: String

  @Option(
    parsing: .unconditional, help: "The number of strengths of a range.",
    transform: Bounded.whole(2...StressAxis.stepsMax))
  var steps = 5

  @Option(
    parsing: .unconditional, help: "Seeds noise and the faults of the camera.",
    transform: Bounded.seed)
  var seed: UInt64 = 1

  @Option(
    help: "COLUMN=NUMBER: report the first strength that is over it; for a score, below it.")
  var budget: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Option(help: "Write the perturbed pipelines into this folder, as documents for cases.")
  var output: String?

  @Option(help: "Write stress.html, with a curve for each perturbation, into this folder.")
  var report: String?

  @Option(
    parsing: .unconditional, help: "Worker threads. Affects speed only.",
    transform: Bounded.workers)
  var workers: Int?

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var cache: CacheOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var form: OutputOptions

  func validate() throws {
    do {
      _ = try StressAxis.all(parsing: perturbations, steps: steps)
    } catch let error as SuiteError {
      throw ValidationError("'--with \(perturbations)': \(error.message). \(error.advice ?? "")")
    }
    _ = try budgets()
    guard seed >> 53 == 0 else { throw ValidationError("'--seed \(seed)' is 2^53 or more") }
  }

  private func budgets() throws -> [StressReport.Budget] {
    try budget.map { text in
      guard let budget = StressReport.Budget(parsing: text) else {
        throw ValidationError(
          "'--budget \(text)' is not COLUMN=NUMBER; columns: "
            + StressColumn.all.map(\.name).joined(separator: ", "))
      }
      return budget
    }
  }

  func run() throws {
    Interruption.listen()
    let line = ProgressLine(isQuiet: form.quiet)
    defer { line.finish() }
    let project = try programs.project(watchdog)
    var stress = StressRun(
      project: project, name: name,
      axes: try StressAxis.all(parsing: perturbations, steps: steps))
    stress.seed = seed
    stress.options = watchdog.options(workers: workers)
    stress.goldens = goldens.map { project.path($0) }
    stress.documents = output
    stress.budgets = try budgets()
    stress.openCache = { try cache.folder(in: project, standard: .automatic, note: $0) }
    stress.progress = { line.update("replaying", done: $0, total: $1) }
    stress.note = { form.note("note: \($0)", replacing: line) }
    let result = try stress.run()
    line.finish()
    if form.json {
      try Console.json(result)
    } else {
      Console.result(StressText.of(result))
    }
    guard let report else { return }
    let file = URL(fileURLWithPath: project.path(report)).appending(path: "stress.html")
    try StressPage.write(result, to: file)
    form.note("report: \(file.path)")
  }
}
