package import RetakeCore
package import RetakeGraph
import RetakeStages

/// The program of a `process` node, and how it is run.
package struct ProcessOptions: StageOptions, Hashable {
  @OptionValue("the program, then its arguments; required") package var command: [String] = []
  @OptionValue(
    "values that the program returns: 'detections', 'classes', 'scalars' or 'observations', or "
      + "'program' if it is a complete pipeline; required")
  package var output = ""
  @OptionValue("an object that the program gets as it is")
  package var options = JSONValue.object([:])
  @OptionValue(
    "copies of a pure program that compute at once, {range}", in: ForeignProgram.instancesRange)
  package var instances = 1
  @OptionValue(
    "longest time for a frame in seconds of real time, {range}; a start has at least 30",
    in: ForeignProgram.timeoutRange)
  package var timeoutSeconds = 30.0
  @OptionValue(
    "sensors that the program reads: names, or objects with 'sensor' and the window's "
      + "'milliseconds', 0 to 600000; not for 'program'")
  package var sensors: [ProcessSensor] = []
  @OptionValue(
    "how the program gets frames: 'files' 3 and 4, or 'stdio' for its standard streams")
  package var transport = ForeignTransport.files.rawValue
  @OptionValue(
    "the program's own clock: 'real', or 'preload' for virtual time with libfaketime")
  package var clock = ForeignClock.real.rawValue

  package init() {}

  /// - Throws: `OptionError` for an option that cannot be used.
  func program() throws -> ForeignProgram {
    guard let name = command.first, !name.isEmpty else {
      throw OptionError(
        key: "command",
        message: "must name a program and its arguments, such as [\"python3\", \"faces.py\"]")
    }
    // The system would read such an argument only up to the NUL byte.
    guard !command.contains(where: { $0.utf8.contains(0) }) else {
      throw OptionError(key: "command", message: "must have no NUL bytes")
    }
    let output: ForeignOutput = try Self.choice(output, "output")
    try checkRanges()
    var program = ForeignProgram(
      command: command, output: output, options: options, instances: instances,
      timeoutSeconds: timeoutSeconds)
    program.transport = try Self.choice(transport, "transport")
    program.clock = try Self.choice(clock, "clock")
    program.sensors = try ProcessSensor.reads(sensors)
    // A whole program is called with frames and timers, and a timer has no samples.
    guard output != .program || program.sensors.isEmpty else {
      throw OptionError(key: "sensors", message: "is not supported with the output 'program'")
    }
    return program
  }

  private static func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ word: String, _ key: String
  ) throws -> Choice {
    guard let choice = Choice(rawValue: word) else {
      let names = Choice.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw OptionError(key: key, message: "is one of \(names), not '\(word.shortened)'")
    }
    return choice
  }

  /// The stage, with its program started.
  ///
  /// - Throws: `OptionError`, `ForeignError`.
  func stage(
    _ permission: ProgramPermission, _ limits: ProgramLimits = .declared,
    listener: ProgramListener? = nil, places: InputPlaces = .asNamed
  ) throws -> AnyStage {
    var program = try program()
    try permission.check(program.name)
    program.listener = listener
    program.folder = try places.program(program.files)
    if limits == .lifted { program.liftLimits() }
    return try AnyStage.process(program, options: AnyStage.canonical(self))
  }
}
