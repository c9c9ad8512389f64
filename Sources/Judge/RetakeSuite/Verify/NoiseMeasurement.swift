import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
package import RetakeRuntime

/// Measures how far the runs of a case on this machine's devices differ from each other, and from
/// runs of other devices. Implements `retake verify --device-noise`.
package struct NoiseMeasurement {
  package var project: Project
  package var definition: CaseDefinition
  /// The session's folder; `nil` for pipelines whose sources have their own frames.
  package var session: String?
  /// How often the case runs on this machine.
  package var runs: Int
  /// Folders of runs on other devices, or of goldens.
  package var given: [String] = []
  package var options = RunOptions()
  /// Called with the number of finished runs and the number of all runs.
  package var progress: (Int, Int) -> Void = { _, _ in }

  package init(project: Project, definition: CaseDefinition, session: String?, runs: Int) {
    (self.project, self.definition, self.session) = (project, definition, session)
    self.runs = runs
  }

  /// Compares each run with the first one.
  ///
  /// - Throws: Errors of a run; `SuiteError.halted`; `SuiteError.noGolden` for a folder without
  ///   results; `SuiteError.notFitted` for runs that differ in more than numbers.
  package func run() throws -> NoiseReport {
    let scratch = try ScratchFolder.ofRun()
    defer { scratch.remove() }
    var made: [GoldenFit.Run] = try given.map { path in
      let folder = GoldenFolder(URL(fileURLWithPath: project.path(path)))
      guard folder.exists else { throw SuiteError.noGolden(path: folder.url.path) }
      return (path, folder)
    }
    for number in 1...runs {
      progress(number - 1, runs)
      let folder = GoldenFolder(scratch.url.appending(path: "\(number)"))
      // Without a cache: a stored value would hide that a device computes another one.
      var job = ReplayJob(project: project, definition: definition, session: session)
      job.options = options
      job.destination = .run(folder.url.path)
      _ = try job.runToEnd()
      made.insert(("run \(number)", folder), at: number - 1)
    }
    let first = made.removeFirst().folder
    let manifest = try first.manifest()
    for (name, folder) in made where try folder.manifest().input != manifest.input {
      throw SuiteError.notFitted(manifest.key, cause: "\(name) is of another session")
    }
    var report = NoiseReport(key: manifest.key, frames: manifest.summary.captured, items: [])
    for (noise, runs) in try GoldenFit.groups(made, by: manifest) {
      report.items.append(try item(first, manifest, noise, runs))
    }
    return report
  }

  private func item(
    _ first: GoldenFolder, _ manifest: GoldenManifest, _ noise: DeviceNoise, _ runs: [GoldenFit.Run]
  ) throws -> NoiseReport.Item {
    let (_, fitted) = try GoldenFit.fit(first, manifest, runs)
    var rules = manifest.compare
    // With a relative tolerance the curves would be shares of it.
    for sink in rules.bySink.keys { rules.bySink[sink]?.relative = 0 }
    var errors: [[String]: [Double]] = [:]
    var compared = 0
    for (_, folder) in runs {
      let comparison = try GoldenFit.comparison(first, folder, rules)
      compared += comparison.counts.compared
      for curve in comparison.errorCurves {
        // The curves are 32-bit floats, and their shortest text is the decimal that was measured.
        errors[[curve.sink, curve.quantity], default: []] += curve.largest.filter { $0 > 0 }
          .map { Double(Float($0).description) ?? $0 }
      }
    }
    let rows = fitted.filter { $0.largest > 0 }.map { row in
      NoiseReport.Row(
        sink: row.sink, quantity: row.quantity, stages: manifest.pipeline.sinks[row.sink] ?? [],
        errors: errors[[row.sink, row.quantity]] ?? [], frames: compared, largest: row.largest,
        tolerance: row.allowed)
    }
    return NoiseReport.Item(place: noise.place, runs: runs.map(\.name), rows: rows)
  }
}
