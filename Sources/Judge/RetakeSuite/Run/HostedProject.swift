import Foundation
package import RetakeBuffers
package import RetakeCore
package import RetakeGraph
import RetakeReplay
package import RetakeReport
package import RetakeRuntime
package import RetakeSession
import RetakeStages

/// A project whose cases another test runner runs, each by itself. Its retake.yml is read once, and
/// all cases share one cache and the memory of the machine.
package final class HostedProject: Sendable {
  package let project: Project
  /// The name of the program in commands to type.
  package let program: String
  package let surroundings: EnvironmentVariables
  private let cache: CacheFolder?
  private let notes: [String]
  private let memory = MemoryShare.ofMachine

  /// - Parameters:
  ///   - folder: The project's folder.
  ///   - stages: The stages that its pipelines can use.
  ///   - pipelines: Pipelines that are named `example:NAME`.
  /// - Throws: `SuiteError` if retake.yml is missing or cannot be read.
  package init(
    _ folder: String, program: String = Tool.name, stages: StageRegistry = .core,
    pipelines: [Pipeline] = [], surroundings: EnvironmentVariables = EnvironmentVariables()
  ) throws {
    var project = try Project(reading: folder)
    guard project.hasFile else { throw SuiteError.noProjectFound(name: folder, near: nil) }
    (project.registry, project.pipelines) = (stages, pipelines)
    self.project = project
    self.program = program
    self.surroundings = surroundings
    var notes: [String] = []
    cache = project.openCache { notes.append($0) }
    self.notes = notes
  }

  /// The project of a file of tests: the nearest folder above it in which `name` has a retake.yml.
  ///
  /// - Parameters:
  ///   - name: A path from one of the folders above the file, such as `.`; or an absolute path.
  ///   - file: The file's path. If this is not a file of this machine, as after a test was copied,
  ///     the search begins in the working folder.
  /// - Throws: `SuiteError.noProjectFound`.
  package static func folder(named name: String, near file: String) throws -> String {
    func hasProject(_ folder: URL) -> Bool {
      FileManager.default.fileExists(atPath: folder.appending(path: Project.fileName).path)
    }
    guard !name.hasPrefix("/") else {
      guard hasProject(URL(fileURLWithPath: name)) else {
        throw SuiteError.noProjectFound(name: name, near: nil)
      }
      return name
    }
    let isHere = FileManager.default.fileExists(atPath: file)
    var folder =
      isHere
      ? URL(fileURLWithPath: file).deletingLastPathComponent()
      : URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    folder = folder.standardizedFileURL
    // Ends at the root folder, because each round goes to the folder above.
    while true {
      let found = folder.appending(path: name).standardizedFileURL
      if hasProject(found) { return found.path }
      guard folder.path != "/" else { throw SuiteError.noProjectFound(name: name, near: file) }
      folder.deleteLastPathComponent()
    }
  }

  /// Runs chosen cases and compares them with their goldens, as `retake test` does.
  ///
  /// - Parameters:
  ///   - jobs: The most sessions whose cases run at once. Several share all processors.
  ///   - report: Where the report is written, if anywhere.
  /// - Throws: As `SuiteRun.run`. An error of one case becomes its verdict.
  package func run(
    _ chosen: [SelectedCase], jobs: Int = 1, report: String? = nil,
    options: RunOptions = RunOptions()
  ) throws -> SuiteRun.Outcome {
    var run = SuiteRun(project: project, selection: Selection())
    run.chosen = chosen
    run.follow(surroundings)
    (run.jobs, run.reportFolder, run.program) = (jobs, report, program)
    run.memory = memory
    (run.options, run.sharesProcessors) = (options, jobs > 1)
    run.openCache = { [cache, notes] note in
      notes.forEach(note)
      return cache
    }
    let outcome = try run.run()
    if let error = outcome.reportError { throw error }
    return outcome
  }

  /// The message about a case that fails: the text of the terminal's report, and the folder in
  /// which to type its commands.
  package func attention(to item: ReportCase, in document: ReportDocument) -> String {
    let text = TerminalReport.attention(to: item, in: document)
    return item.commands.isEmpty ? text : text + place
  }

  /// The message about a golden that no case produces any more.
  package func staleText(_ key: String) -> String {
    "stale  \(key)  no session and case produces this golden any more\n"
      + "    Look at it  \(ProgramName(program).word) golden list --stale" + place
  }

  /// A line that names the project's folder, because commands look for no retake.yml elsewhere;
  /// empty if it is the working folder.
  private var place: String {
    let folder = URL(fileURLWithPath: project.folder).resolvingSymlinksInPath().path
    let here = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    guard folder != here.resolvingSymlinksInPath().path else { return "" }
    return "\n    in the folder \(project.folder)"
  }

  /// The combined report of several runs; `nil` if there was no run.
  ///
  /// - Parameter seconds: The duration of all runs together.
  package static func report(
    _ runs: [SuiteRun.Outcome], title: String, seconds: Double
  ) -> ReportDocument? {
    guard let status = ExitStatus.strongest(runs.map(\.status)) else { return nil }
    return ReportDocument(
      merging: runs.map(\.document), tool: ReportTool(version: Tool.version), title: title,
      exit: ReportExit(code: Int(status.rawValue)), frames: runs.reduce(0) { $0 + $1.frames },
      seconds: seconds)
  }

  /// Replays a session through a pipeline, without a comparison.
  ///
  /// - Parameter session: A session of the project, by its name or its path.
  /// - Throws: `SuiteError.noSession`, and errors of the session, the pipeline and the run.
  package func replay(
    _ session: String, _ pipeline: Pipeline, options: RunOptions, observers: [any RunObserver]
  ) throws -> RunSummary {
    let reader = try SessionReader(opening: project.sessionPath(session))
    let request = Replay.Request(
      sessionName: reader.folder.name, caseName: pipeline.name, options: options)
    var replay = try Replay(
      pipeline, reader: reader, catalog: project.catalog, request: request)
    if let cache {
      replay.cache = try RunCache(cache, reader: reader, tracks: Set(replay.tracks.values))
    }
    return try replay.run(observers: observers)
  }

  /// The frames of a session's track, and when they reached the recorder, in nanoseconds from the
  /// track's first frame.
  ///
  /// - Parameter session: A session of the project, by its name or its path.
  /// - Throws: `SuiteError.noSession`, `suite.select.noTrack`, and what the session throws.
  package func arrivals(
    of session: String, track: Int
  ) throws -> (reader: SessionReader, frames: [(entry: FrameEntry, nanoseconds: Int64)]) {
    let reader = try SessionReader(opening: project.sessionPath(session))
    guard reader.tracks.contains(where: { $0.track == track }) else {
      throw SuiteError(
        "suite.select.noTrack", "the session '\(session)' has no track \(track)",
        advice: "It has \(reader.tracks.map { "track \($0.track)" }.joined(separator: ", "))")
    }
    var schedule = try ArrivalSchedule(
      reader: reader, track: track, mode: .simulate,
      originNanoseconds: try ArrivalSchedule.start(of: track, in: reader) ?? 0)
    var frames: [(entry: FrameEntry, nanoseconds: Int64)] = []
    while let (entry, time) = try schedule.nextFrame() { frames.append((entry, time)) }
    return (reader, frames)
  }
}

extension Project {
  /// The cases that `retake test` would run, and in CI also the stale goldens, because they fail
  /// only there. No case is run, and no stage is made.
  ///
  /// - Parameters:
  ///   - sessions: `SESSION`, `SESSION/CASE`, paths, or globs; all if empty.
  ///   - suite: A suite of retake.yml; `default` if `nil`.
  /// - Throws: `SuiteError` for a selection that cannot be made, or that is empty.
  package func hostedCases(
    _ sessions: [String], suite: String?, isCI: Bool = EnvironmentVariables().isCI
  ) throws -> [HostedCase] {
    var selection = Selection(sessions: sessions)
    selection.suite = suite
    let (selected, stale) = try SuiteRun(project: self, selection: selection).cases()
    return selected.map { HostedCase(key: $0.key.description, selected: $0) }
      + (isCI ? stale : []).map { HostedCase(key: $0.description, selected: nil) }
  }
}

/// A case that another test runner names and runs.
package struct HostedCase: Hashable, Sendable {
  /// `session/case`.
  package var key: String
  /// `nil` for a golden that no case produces any more.
  package var selected: SelectedCase?
}
