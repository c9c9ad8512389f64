import ArgumentParser
import Retake

struct CIInitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "init",
    abstract: "Write a job file that tests the project in shards and merges their results.",
    discussion: """
      github writes .github/workflows/retake.yml, gitlab writes .gitlab-ci.yml, both in the top folder
      of the git repository. The jobs install the package in tools, restore the cache, test the shards
      in parallel, and merge them into one report. docs/shards.md of Retake explains each part.

      Examples:
        retake ci init github
        retake ci init gitlab --shards 10
        retake ci init gitlab --file ci/retake.yml   # for 'include: {local: ci/retake.yml}'
      """)

  @Argument(help: "github or gitlab.")
  var service: CIJobFile

  @Option(
    parsing: .unconditional, help: "The number of shards.",
    transform: Bounded.whole(1...CIJobFile.shardsMax))
  var shards = 4

  @Option(help: "Write this file, relative to the project.")
  var file: String?

  @Flag(help: "Replace a file that exists.")
  var force = false

  @OptionGroup var form: OutputOptions

  func run() throws {
    let project = try CommandEnvironment.current.project()
    let path = try service.write(to: file, in: project, shards: shards, replacing: force)
    if form.json { return try Console.json(["written": path]) }
    Console.result("wrote \(visible(path))")
    form.note("next: put the package into tools (retake_*.deb of 'make package'), and commit both")
    form.note(
      "next: set the secret RETAKE_CACHE_KEY in the settings of the service; without it a job does "
        + "not use the cache of another job")
    if project.usesRclone {
      form.note("next: set the variables of the store in the jobs: docs/stores.md of Retake")
    }
  }
}

extension CIJobFile: ExpressibleByArgument {}
