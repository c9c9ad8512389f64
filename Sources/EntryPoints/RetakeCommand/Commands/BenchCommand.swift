import ArgumentParser
import Foundation
import Retake
import RetakeBench

struct BenchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Benchmark pools, previews and heat in virtual time, and a window in real time.",
    discussion: """
      The numbers of pools, preview and heat are the same on every machine, under any load; the
      numbers of memory and window are not.

      Examples:
        retake bench pools
        retake bench pools --plot pools.svg
        retake bench memory
        retake bench preview
        retake bench heat
        retake bench window --seconds 10
      """,
    subcommands: Annexes.commands(
      of: Self.self,
      among: [
        BenchPoolsCommand.self, BenchMemoryCommand.self, BenchPreviewCommand.self,
        BenchHeatCommand.self,
      ]))
}

struct BenchPoolsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pools",
    abstract: "Compare fixed and adaptive pools of camera buffers under the same loads.",
    discussion: """
      stalls: frames that found no buffer. mean, sizes: buffers over time, fewest to most. used: the
      share of buffers in use over time; busiest: the share in the busiest second; most: buffers in
      use at once. resizes: changes of size, and whether the breaker fixed the size.

      --wait lets the camera wait for a buffer: lost are frames that waited to the limit, or arrived
      while another frame waited; times are the waits of the other frames.

      Examples:
        retake bench pools
        retake bench pools --load mine.json --json
        retake bench pools --plot pools.svg
        retake bench pools --wait 1s
        retake bench pools --tune
      """)

  @Option(
    name: .long,
    help: ArgumentHelp("Use this load instead of the seven built-in loads.", valueName: "file"))
  var load: [String] = []

  @Option(
    help: ArgumentHelp("Draw the sizes over time, as SVG, into this file.", valueName: "file"))
  var plot: String?

  @Flag(help: "Search for options: tune on all kinds of load but one, and judge on that one.")
  var tune = false

  @Option(
    help: ArgumentHelp(
      "The camera waits this long for a buffer. Without --load also on ocr-scan.",
      valueName: "time"))
  var wait: String?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let wait {
      guard let time = Duration(parsing: wait), time > .zero, time <= .seconds(3_600) else {
        throw ValidationError(
          "'--wait \(wait)' is not a time above 0s and up to 3600s; use for example 1s")
      }
      if tune || plot != nil { throw ValidationError("--wait makes a table: no --plot or --tune") }
    }
    if tune, plot != nil { throw ValidationError("--tune draws no plot: leave out --plot") }
    if let plot { try Drawing.check(plot) }
  }

  func run() throws {
    Interruption.listen()
    let loads = try self.loads()
    if let wait { return try tellWaits(loads, wait) }
    // Loads whose own cameras wait have the table of waits, also next to loads that lose frames.
    if !tune, let waiting = loads.first(where: { $0.wait != nil }) {
      guard plot == nil else {
        throw ValidationError(
          "the load '\(waiting.name)' has a 'wait', which makes a table: no --plot")
      }
      return try tellWaits(loads)
    }
    if tune { return try tell(PoolTuning(loads) { Interruption.isRequested }) }
    if let plot { try RunOutputs.check(file: plot, pipeline: nil) }
    let table = try PoolTable(loads, PoolContender.standard) { Interruption.isRequested }
    if let plot { try WholeFile.write(PoolPlot(table).svg, to: plot, output: .drawing) }
    if output.json { return try Console.json(table.rows) }
    Console.result(table.text)
  }

  private func tellWaits(_ loads: [PoolLoad], _ wait: String) throws {
    var loads = load.isEmpty ? try loads + [PoolLoad.scan()] : loads
    for index in loads.indices { loads[index].wait = Duration(parsing: wait) }
    try tellWaits(loads)
  }

  private func tellWaits(_ loads: [PoolLoad]) throws {
    let table = try PoolTable(loads, PoolContender.waiting) { Interruption.isRequested }
    if output.json { return try Console.json(table.rows) }
    Console.result(table.waitsText)
  }

  private func tell(_ tuning: PoolTuning) throws {
    if output.json { return try Console.json(tuning.folds) }
    Console.result(tuning.text)
  }

  private func loads() throws -> [PoolLoad] {
    guard !load.isEmpty else { return try PoolLoad.standard() }
    return try PoolLoad.loads(reading: load)
  }
}

struct BenchPreviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preview",
    abstract: "Compare preview policies with slow vision, late rendering and heat.",
    discussion: """
      Ten seconds of a camera at 60 frames a second, shown on a screen of 60 hertz. lost: frames for
      which no buffer was free. dropped: frames that arrived while two earlier frames were not
      finished. repeats: refreshes without a new frame. Times are in milliseconds: maximum jitter of
      the time between frames; median and maximum latency from arrival to screen; median and maximum
      age of the overlay.

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

struct BenchHeatCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "heat",
    abstract: "Show how copies, previews and pools heat a phone model, and how much policies save.",
    discussion: """
      Twenty minutes of a camera on two phone models, which are not measured: 'derived' from size,
      weight and published powers, and 'calibrated', whose energy per copied byte makes it serious in
      90 seconds with three copies. serious, critical: seconds until this state. events: rises to one
      of these states. hot s: seconds in these states. docs/heat.md has the formulas.

      Examples:
        retake bench heat
        retake bench heat --json
      """)

  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let table = try HeatTable { Interruption.isRequested }
    if output.json { return try Console.json(table) }
    Console.result(table.text)
  }
}
