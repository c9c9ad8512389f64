import ArgumentParser
import Foundation
import Retake

struct StoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "store",
    abstract: "Keep sessions in a folder, on a disk or in a bucket, and pointers to them in git.",
    discussion: """
      A pointer, Recordings/NAME.session.yml, has the digest of each file of a session. 'retake
      test' and all commands that take a session's name fetch it into .retake/sessions, check the
      digests, and remove the least recently used sessions beyond the limit of retake.yml.

      A store is a folder, s3://BUCKET/PATH, gs://BUCKET/PATH, or rclone:REMOTE:PATH. Buckets need
      the program rclone, with access in environment variables.

      Examples:
        retake store push yard --remote /mnt/footage
        retake store push 'yard-*' --remote s3://footage/sessions
        retake store pull
        retake store verify
        retake store gc --remote /mnt/footage
      """,
    subcommands: [
      StorePushCommand.self, StorePullCommand.self, StoreVerifyCommand.self, StoreGCCommand.self,
    ])
}

/// The option of the commands that write or check a store.
struct StoreOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A folder, s3://BUCKET/PATH, gs://BUCKET/PATH or rclone:REMOTE:PATH.",
      valueName: "store"))
  var remote: String?

  func validate() throws {
    if let remote, StoreAddress(remote) == nil {
      throw ValidationError(StoreAddress.rule(remote))
    }
  }
}

/// The project of a command that moves many bytes. Ctrl-C ends its work.
private func storeProject(_ output: OutputOptions) throws -> Project {
  Interruption.listen()
  var project = try CommandEnvironment.current.project()
  if output.quiet { project.store.progress = { _, _, _ in } }
  return project
}

struct StorePushCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "push", abstract: "Send sessions to a store, and write their pointers.",
    discussion: """
      Files that the store has are not sent, so a push that was interrupted continues when it is
      repeated. Commit the pointers; 'git rm -r --cached Recordings/NAME' removes a folder from git
      that was committed before.

      Examples:
        retake store push yard --remote /mnt/footage
        retake store push '*' --remote s3://footage/sessions
        retake store push yard                    # to the remote of store in retake.yml
      """)

  @Argument(help: "Sessions: names in Recordings, folders, or globs in quotes.")
  var sessions: [String]

  @OptionGroup var store: StoreOption
  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try storeProject(output)
    let items = try StorePush(project: project, remote: store.remote).run(sessions)
    if output.json { return try Console.json(items) }
    for item in items {
      Console.result(
        "\(visible(item.session))  \(ByteText.of(item.bytes)), \(ByteText.of(item.sentBytes)) sent  "
          + visible(item.pointer))
    }
  }
}

struct StorePullCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pull", abstract: "Fetch sessions into the local cache, and check their digests.",
    discussion: """
      'retake test' fetches the sessions that it needs by itself. Files that were fetched before and
      have their digest are not fetched again.

      Examples:
        retake store pull                         # every pointer in Recordings
        retake store pull 'yard-*' --json
      """)

  @Argument(
    help: "Sessions with pointers: names in Recordings, or globs in quotes; all if omitted.")
  var sessions: [String] = []

  @OptionGroup var output: OutputOptions

  func run() throws {
    let items = try StorePull(project: storeProject(output)).run(sessions)
    if output.json { return try Console.json(items) }
    for item in items {
      Console.result(
        "\(visible(item.session))  \(ByteText.of(item.bytes)), "
          + "\(ByteText.of(item.fetchedBytes)) fetched  \(visible(item.path))")
    }
  }
}

struct StoreVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Read the objects of sessions in their stores, and check them.",
    discussion: """
      Exit code 1 if an object is missing or does not have its digest. A bucket is downloaded for
      this, but not kept.

      Examples:
        retake store verify
        retake store verify yard --remote /mnt/footage --json
      """)

  @Argument(
    help: "Sessions with pointers: names in Recordings, or globs in quotes; all if omitted.")
  var sessions: [String] = []

  @OptionGroup var store: StoreOption
  @OptionGroup var output: OutputOptions

  func run() throws {
    let project = try storeProject(output)
    let report = try StoreCheck(project: project, remote: store.remote).run(sessions)
    if output.json {
      try Console.json(report)
    } else {
      for item in report.findings {
        Console.result(
          "\(visible(item.session)): \(item.problem.rawValue) in \(visible(item.remote)): "
            + item.object)
      }
      Console.result(
        "\(counted(report.objects, "object is", "objects are")) as named, "
          + ByteText.of(report.bytes))
    }
    if !report.findings.isEmpty { throw CommandEnd(status: .regression) }
  }
}

struct StoreGCCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "gc", abstract: "List or remove the objects of a folder that no pointer names.",
    discussion: """
      Name the pointers of every project and branch that uses the store: a folder that is not named
      does not protect its sessions. Objects that were sent or found by a push within the last days
      stay, because a push writes its pointers at its end.

      Examples:
        retake store gc --remote /mnt/footage     # list them
        retake store gc . ../yard-main ../lab --remote /mnt/footage --delete
        retake store gc --remote /mnt/footage --grace-days 30 --delete --json
      """)

  @Argument(help: "Pointers, folders with pointers, or projects; this project if omitted.")
  var places: [String] = []

  @OptionGroup var store: StoreOption

  @Flag(help: "Remove the objects.")
  var delete = false

  @Option(
    parsing: .unconditional,
    help: "Days for which an object without a pointer stays.", transform: Bounded.whole(1...3_650))
  var graceDays = 7

  @OptionGroup var output: OutputOptions

  func run() throws {
    var sweep = StoreSweep(project: try storeProject(output), remote: store.remote)
    sweep.graceSeconds = Int64(graceDays) * 86_400
    sweep.deletes = delete
    let report = try sweep.run(places)
    if output.json { return try Console.json(report) }
    if !delete { report.unnamed.forEach { Console.result(visible($0)) } }
    let unnamed = "\(counted(report.unnamed.count, "object")), \(ByteText.of(report.unnamedBytes))"
    Console.result(
      delete ? "\(unnamed): removed \(report.removed)" : "\(unnamed) without a pointer")
    output.note(
      "\(report.named) with a pointer; \(report.young) without, younger than "
        + counted(graceDays, "day"))
    if !delete, !report.unnamed.isEmpty { output.note("remove them: --delete") }
  }
}
