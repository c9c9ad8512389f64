import ArgumentParser
import Foundation
import Retake
import RetakeBench

struct ProfileCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "profile",
    abstract: "Measure this machine as a device profile, or print a built-in profile.",
    discussion: """
      Examples:
        retake profile measure > desk.json
        retake profile example
        retake profile example vm-x86-2 > vm.json
        retake replay clip --pipeline motion-boxes --costs profile:vm.json

      In a profile with heat, the executors in its `busy` (`*`: all others) and copied bytes heat the
      device.
      """,
    subcommands: [ProfileMeasureCommand.self, ProfileExampleCommand.self])
}

struct ProfileMeasureCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "measure",
    abstract: "Measure copies and, where the machine has sensors, heat and power of this machine.",
    discussion: """
      Prints a device profile, which marks each number as measured or assumed. A machine without
      thermal zones or energy counters, such as most virtual machines, gets the assumed numbers of
      docs/heat.md.

      Example:
        retake profile measure --name desk --seconds 30 > desk.json
      """)

  @Option(help: "The profile's name.")
  var name = "this-machine"

  @Option(help: "Seconds of pause, and then of copies, 1 to 600.")
  var seconds: Int = 5

  // The profile is JSON with and without --json.
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (1...600).contains(seconds) else {
      throw ValidationError("--seconds is 1 to 600, not \(seconds)")
    }
    guard name.isSafeName else {
      throw ValidationError("--name has up to 64 letters, digits, '-', '_' and '.'")
    }
  }

  func run() throws {
    let measurement = MachineMeasurement(seconds: seconds)
    for gap in measurement.gaps { output.note(gap) }
    Console.data(measurement.document(name: name, machine: MachineMeasurement.machineText))
  }
}

struct ProfileExampleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "example",
    abstract: "Print a built-in profile; without a name, list them.",
    discussion: """
      Example:
        retake profile example vm-x86-2 > vm.json
      """)

  @Argument(help: "The profile's name.")
  var name: String?

  // A profile is JSON with and without --json.
  @OptionGroup var output: OutputOptions

  func run() throws {
    guard let name else {
      if output.json {
        return try Console.json(
          ExampleProfile.all.map { ["name": $0.name, "summary": $0.summary] })
      }
      for profile in ExampleProfile.all { Console.result("\(profile.name)  \(profile.summary)") }
      return
    }
    guard let profile = ExampleProfile.all.first(where: { $0.name == name }) else {
      throw BenchError(
        "suite.bench.noProfile", "there is no profile '\(name)'",
        advice: Suggestion.advice(for: name, among: ExampleProfile.all.map(\.name)))
    }
    Console.data(profile.document)
  }
}
