import ArgumentParser
import Foundation
import Retake
import RetakeBench

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Benchmark pool and preview policies in virtual time, and a window in real time.",
    discussion: """
      Pools and previews give the same numbers on every machine, whatever else it does; memory and
      a window do not.

      Examples:
        retake bench pools
        retake bench pools --plot pools.svg
        retake bench memory
        retake bench preview
        retake bench window --seconds 10
      """,
    subcommands: [
      BenchPoolsCommand.self, BenchMemoryCommand.self, BenchPreviewCommand.self,
      BenchWindowCommand.self,
    ])
}

struct BenchPoolsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pools",
    abstract: "Compare fixed and adaptive pools of camera buffers under the same loads.",
    discussion: """
      stalls: frames that found no buffer. mean, sizes: buffers over time, fewest to most. used: how
      much of them was held; most: at once. resizes: changes of size, and whether the breaker made a
      fixed pool of it.

      Examples:
        retake bench pools
        retake bench pools --load mine.json --json
        retake bench pools --plot pools.svg
        retake bench pools --tune
      """)

  @Option(
    name: .long,
    help: ArgumentHelp("A load of your own instead of the seven standard ones.", valueName: "file"))
  var load: [String] = []

  @Option(
    help: ArgumentHelp("Draw the sizes over time, as SVG, into this file.", valueName: "file"))
  var plot: String?

  @Flag(help: "Search for options: tune on all kinds of load but one, and judge on that one.")
  var tune = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if tune, plot != nil { throw ValidationError("--tune draws nothing: no --plot") }
    if let plot { try Drawing.check(plot) }
  }

  func run() throws {
    Interruption.listen()
    let loads = try self.loads()
    if tune { return try tell(PoolTuning(loads) { Interruption.isRequested }) }
    if let plot { try RunOutputs.check(file: plot, pipeline: nil) }
    let table = try PoolTable(loads, PoolContender.standard) { Interruption.isRequested }
    if let plot { try WholeFile.write(PoolPlot(table).svg, to: plot, output: .drawing) }
    if output.json { return try Console.json(table.rows) }
    Console.result(table.text)
  }

  private func tell(_ tuning: PoolTuning) throws {
    if output.json { return try Console.json(tuning.folds) }
    Console.result(tuning.text)
  }

  private func loads() throws -> [PoolLoad] {
    guard !load.isEmpty else { return try PoolLoad.standard() }
    return try load.map { path in
      guard let data = FileManager.default.contents(atPath: path) else {
        throw SuiteError.noFile(path: path)
      }
      return try PoolLoad(reading: data, file: path)
    }
  }
}

struct BenchPreviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview",
    abstract: "Compare preview policies with slow vision, late rendering and heat.",
    discussion: """
      Ten seconds of a camera at 60 frames a second before a screen of 60 hertz. lost: no buffer was
      left. dropped: two frames were behind. repeats: refreshes without a new frame. Times are in
      milliseconds: jitter of the time between frames at most; latency from arrival to screen, median
      and most; age of what the overlay shows, median and most.

      Examples:
        retake bench preview
        retake bench preview --json
      """)

  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let table = try PreviewTable(PreviewTrial.standard) { Interruption.isRequested }
    if output.json { return try Console.json(table.rows) }
    Console.result(table.text)
  }
}
