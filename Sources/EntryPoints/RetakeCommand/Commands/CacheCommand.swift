import ArgumentParser
import Foundation
import Retake

struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache",
    abstract: "Manage the cache: pixels and outputs of pure stages, kept for later runs.",
    discussion: """
      A cache only makes runs faster: its files can be removed at any time.

      Examples:
        retake cache warm yard --pipeline motion.json
        retake cache info
        retake cache prune --limit 1GB
        retake cache verify
      """,
    subcommands: [
      CacheInfoCommand.self, CacheWarmCommand.self, CachePruneCommand.self,
      CacheVerifyCommand.self,
    ])
}

/// An existing cache.
struct CachePlace: ParsableArguments {
  @Option(help: ArgumentHelp("The cache; the project's own if not given.", valueName: "dir"))
  var cache: String?

  func validate() throws {
    guard cache != "none", cache != "" else {
      throw ValidationError("'--cache \(cache ?? "")' names no cache: write a folder, or auto")
    }
    if let cache, CacheOptions.isOtherWord(cache) {
      throw ValidationError(
        "'--cache \(cache)' is not accepted: write auto, or ./\(cache) for a folder")
    }
  }

  func path(in project: Project) -> String {
    guard let cache, cache != "auto" else { return project.cache }
    return project.path(cache)
  }

  func open() throws -> CacheFolder {
    let project = try CommandEnvironment.current.project()
    let path = path(in: project)
    try CacheFolder.check(path, in: project.folder)
    // Never made here: looking after a cache that does not exist would leave one.
    return try CacheFolder(existing: path, key: .ofUser())
  }
}

struct CacheInfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Show the content of a cache, by session and track.",
    discussion: """
      A CI cache carries values alone well: kept without the pixels, an unchanged case is decoded no
      more; a changed stage decodes again.

      Examples:
        retake cache info
        retake cache info --cache /var/cache/retake --json
      """)

  @OptionGroup var place: CachePlace
  @OptionGroup var output: OutputOptions

  func run() throws {
    let scopes = try place.open().scopes()
    if output.json { return try Console.json(scopes) }
    guard !scopes.isEmpty else { return output.note("the cache is empty") }
    for scope in scopes {
      CacheText.lines(of: scope).forEach { Console.result(visible($0)) }
    }
    let total = scopes.reduce(0) { $0 + $1.pixelBytes + $1.valueBytes }
    output.note("\(ByteText.of(total)) in all")
    let left = scopes.flatMap(\.leftovers).filter { !$0.isBeingWritten }
    guard !left.isEmpty else { return }
    output.note(
      "\(counted(left.count, "unfinished file")) of ended runs, "
        + "\(ByteText.of(left.reduce(0) { $0 + $1.bytes })): retake cache prune removes them")
  }
}

struct CacheWarmCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "warm", abstract: "Compute a pipeline's values for a session and keep them.",
    discussion: """
      Examples:
        retake cache warm yard --pipeline motion.json
        retake cache warm yard --pipeline motion.json --cache /var/cache/retake

      Exit code 2 if not all values could be kept.
      """)

  @OptionGroup var session: SessionArgument
  @OptionGroup var selection: CaseOptions
  @OptionGroup var place: CachePlace
  @Option(
    parsing: .unconditional, help: "Threads that compute.",
    transform: Bounded.workers)
  var workers = RunOptions.workersDefault
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var programs: ProgramBan
  @OptionGroup var output: OutputOptions

  func validate() throws { try selection.checkMode() }

  func run() throws {
    Interruption.listen()
    let project = try programs.project()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    var job = ReplayJob(
      project: project, definition: try selection.definition(in: project),
      session: try session.path(in: project))
    job.options = watchdog.options(workers: workers)
    job.openCache = { _ in try CacheFolder(ofUser: place.path(in: project), in: project) }
    job.progress = { line.update("warming", done: $0, total: $1) }
    let summary = try job.runToEnd()
    line.finish()
    if output.json {
      try Console.json(summary)
    } else {
      Console.result(SummaryText.of(summary))
    }
    guard let use = summary.cache else { return }
    // A run without its cache is a good run; a warming is not.
    if let failure = use.failure {
      throw CacheError.unwritable(path: place.path(in: project), cause: failure)
    }
    if use.known + use.computed == 0 {
      output.note("note: the cache keeps no value of this pipeline: none of its stages is pure")
    }
  }
}

struct CachePruneCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune", abstract: "Remove the least recently used files.",
    discussion: """
      Examples:
        retake cache prune                  # down to 4 GiB, as runs do by themselves
        retake cache prune --limit 500MB
        retake cache prune --all

      Unfinished files of killed runs are removed too; files that a run is writing stay. Exit code
      2 if a file could not be removed: the cache is not writable.
      """)

  @OptionGroup var place: CachePlace

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("The size that the cache may keep, such as 500MB.", valueName: "size"))
  var limit: String?

  @Flag(help: "Remove everything.")
  var all = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let limit, ByteCount.parse(limit) == nil {
      throw ValidationError(
        "'--limit \(limit)' is not a size such as 500MB or 2GiB: a whole number with its unit "
          + "(KB, MB, GB, TB, KiB, MiB, GiB or TiB), or 0")
    }
    guard limit == nil || !all else {
      throw ValidationError("--all removes every file: leave out --limit")
    }
  }

  func run() throws {
    let chosen = limit.flatMap(ByteCount.parse).map { Int($0) }
    let gone = try place.open().prune(to: all ? 0 : chosen ?? CacheFolder.defaultLimit)
    if output.json { return try Console.json(["bytes": gone]) }
    Console.result("\(ByteText.of(gone)) removed")
  }
}

struct CacheVerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Check every record against its checksum.",
    discussion: """
      A file with a damaged record is removed, and the next run computes its results again. Runs
      detect damaged records by themselves. A file that cannot be read stays. Exit code 1 if a file
      is damaged or cannot be read.

      Examples:
        retake cache verify
      """)

  @OptionGroup var place: CachePlace
  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let cache = try place.open()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    let check = cache.verify(isInterrupted: { Interruption.isRequested }) {
      line.update("verifying", done: $0, total: $1)
    }
    line.finish()
    // Before the result, because it does not cover the files that were not read.
    if Interruption.isRequested { throw CommandEnd(status: .interrupted) }
    if output.json {
      try Console.json(check)
    } else {
      for path in check.damaged {
        let end = check.left.contains(path) ? "; it could not be removed" : ", and removed"
        Console.result("\(visible(path)): damaged\(end)")
      }
      for path in check.unreadable {
        Console.result("\(visible(path)): cannot be read; not removed")
      }
      for path in check.foreign { Console.result("\(visible(path)): made elsewhere, not used") }
      Console.result(counted(check.records, "record is as it was", "records are as they were"))
    }
    // A file that was not checked does not count as correct.
    guard check.damaged.isEmpty, check.unreadable.isEmpty else {
      throw CommandEnd(status: .regression)
    }
  }
}
