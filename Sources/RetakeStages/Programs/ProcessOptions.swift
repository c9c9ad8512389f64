package import RetakeCore
import RetakeForeign
import RetakeGraph

/// The program of a `process` node, and how it is run.
package struct ProcessOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "command": "the program, then its arguments; required",
    "instances": "copies of a pure program that compute at once, 1 to 64",
    "options": "an object that the program gets as it is",
    "output": "what the program gives: 'detections', 'classes' or 'scalars'; required",
    "timeoutSeconds":
      "longest time for a frame in seconds of real time, 0.1 to 3600; a start has at least "
      + "30",
  ]

  /// The program, then its arguments. Required.
  package var command: [String] = []
  /// `detections`, `classes` or `scalars`. Required.
  package var output = ""
  /// Given to the program as it is.
  package var options = JSONValue.object([:])
  /// How many copies of a pure program compute at once.
  package var instances = 1
  /// The longest time for each frame; for the start, at least 30 s.
  package var timeoutSeconds = 30.0

  package init() {}

  /// - Throws: `OptionError` for an option that cannot be used.
  func program() throws(OptionError) -> ForeignProgram {
    guard let name = command.first, !name.isEmpty else {
      throw OptionError(
        key: "command",
        message: "must name a program and its arguments, such as [\"python3\", \"faces.py\"]")
    }
    // The system would read such an argument only up to the NUL byte.
    guard !command.contains(where: { $0.utf8.contains(0) }) else {
      throw OptionError(key: "command", message: "must have no NUL bytes")
    }
    guard let output = ForeignOutput(rawValue: output) else {
      let names = ForeignOutput.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw OptionError(key: "output", message: "is one of \(names), not '\(output.shortened)'")
    }
    try OptionError.require(instances, "instances", in: ForeignProgram.instancesRange)
    try OptionError.require(timeoutSeconds, "timeoutSeconds", in: ForeignProgram.timeoutRange)
    return ForeignProgram(
      command: command, output: output, options: options, instances: instances,
      timeoutSeconds: timeoutSeconds)
  }

  /// The stage, with its program started.
  ///
  /// - Throws: `OptionError`, `ForeignError`.
  func stage(
    _ permission: ProgramPermission, _ limits: ProgramLimits = .declared,
    listener: ProgramListener? = nil
  ) throws -> AnyStage {
    var program = try program()
    try permission.check(program.name)
    program.listener = listener
    if limits == .lifted { program.liftLimits() }
    return try AnyStage.process(program, options: AnyStage.canonical(self))
  }
}
