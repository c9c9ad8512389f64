import ArgumentParser
import Retake

/// Flags that every command has.
struct OutputOptions: ParsableArguments {
  @Flag(name: .long, help: "Print the result as JSON.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Print only results and errors.")
  var quiet = false

  /// Prints a message that is not a result, unless `--quiet` is given.
  ///
  /// - Parameter line: A progress line that may be drawn meanwhile.
  func note(_ text: String, replacing line: ProgressLine? = nil) {
    if !quiet { Console.note(text, after: line?.eraser ?? "") }
  }
}
