import ArgumentParser
import Foundation
import Retake

struct BuildCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "build", abstract: "Compile stages in Swift into a retake of your own.",
    discussion: """
      Compiles the Swift files of a folder, in Sources if it is there, and writes the program
      'retake' into the folder: a complete retake with these stages. It uses the compiled modules of
      the package retake-dev, and needs exactly the compiler of these modules: see 'retake doctor'.
      With --source, SwiftPM compiles Retake, too, with any compiler of Swift 6.2 or newer.

      Examples:
        retake init --swift mycam
        retake build mycam
        cd mycam && retake build && ./retake test
        retake build --source ../retake

      Exit codes: 0 built, 2 not built, 64 wrong arguments, 130 interrupted.
      """)

  @Argument(help: "The folder with the stages.")
  var folder = "."

  @Option(help: "A folder with Retake's source; takes minutes at first.")
  var source: String?

  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    let build = StageBuild(
      folder: folder,
      isInterrupted: {
        line.show("compiling \(folder)  \(Self.seconds(line)) s")
        return Interruption.isRequested
      }, show: { Console.passOn($0, after: line.eraser) })
    let result: StageBuild.Result
    if let source {
      result = try build.run(source: source)
    } else {
      result = try build.run(Console.isInteractive ? ["-color-diagnostics"] : [])
    }
    line.finish()
    if output.json { return try Console.json(result) }
    Console.result(
      "wrote \(result.program): \(counted(result.files, "Swift file")), \(Self.seconds(line)) s")
    if !output.quiet { Console.result("next: \(Self.next(in: build.folder))") }
  }

  private static func seconds(_ line: ProgressLine) -> Int64 { line.nanoseconds / 1_000_000_000 }

  /// What to type next, in the folder of the program.
  private static func next(in folder: String) -> String {
    let program = "./\(StageBuild.programName)"
    let way = folder == "." ? "" : "cd \(folder.shellWord), then: "
    guard let project = try? CommandEnvironment.current.project(in: folder), project.hasFile else {
      return "\(way)\(program) init"
    }
    let test = "\(program) test"
    return way
      + (project.sessionNames.isEmpty ? "\(program) import clip.mp4, then: \(test)" : test)
  }
}
