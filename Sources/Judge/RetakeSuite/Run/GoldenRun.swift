import Foundation
import RetakeCore
import RetakeGolden
import RetakeReplay
import RetakeRuntime
import RetakeSession

/// Runs a replay into the files of a golden.
enum GoldenRun {
  /// - Parameters:
  ///   - withRun: Also writes run.json, for the folder of a run.
  ///   - golden: The golden that the run will be compared with.
  /// - Throws: `SuiteError.halted` for an incomplete run that would become a golden.
  static func write(
    _ replay: Replay, definition: CaseDefinition, project: Project, reader: SessionReader?,
    to folder: GoldenFolder, observers: [any RunObserver], withRun: Bool = false,
    comparedWith golden: GoldenManifest? = nil
  ) throws -> RunSummary {
    let plan = try GoldenWriter.Plan(
      replay, definition: definition, project: project, reader: reader, comparedWith: golden)
    // Noted before the writer makes the missing folders.
    let made = NewFolders(upTo: folder.url)
    let writer = try GoldenWriter(folder, plan: plan)
    let programs = plan.manifest.programs.filter { name, digest in
      Acceptance.digest(ofProgramFile: name, in: project) == digest
    }
    do {
      let golden = GoldenObserver(writer)
      let summary = try replay.run(observers: [golden] + observers)
      // A golden of a halted run would pass in every run that is halted at the same place.
      if let halt = summary.halt, !withRun { throw SuiteError.halted(halt) }
      let written = programs.filter { name, digest in
        Acceptance.digest(ofProgramFile: name, in: project) != digest
      }
      try writer.finish(run: withRun ? summary : nil, leavingOut: Array(written.keys))
      return summary
    } catch {
      writer.discard()
      made.removeEmpty()
      throw error
    }
  }
}
