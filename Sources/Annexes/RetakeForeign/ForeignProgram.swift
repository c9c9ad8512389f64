package import RetakeCore
package import RetakeGraph

/// A program that computes a stage or a pipeline in another process, and the settings to run it.
package struct ForeignProgram: Hashable, Sendable {
  /// How many copies of a pure program compute at once.
  package static let instancesRange = 1...64
  package static let timeoutRange = 0.1...3_600

  /// The program, then its arguments. A name without a slash is searched for in PATH; a path is
  /// relative to the working folder.
  package var command: [String]
  /// The values that the program returns.
  package var output: ForeignOutput
  /// Given to the program as it is.
  package var options: JSONValue
  package var instances: Int
  /// The longest time for a frame.
  package var timeoutSeconds: Double
  /// The longest time for the start, in which a program may load a model.
  package var startSeconds: Double
  /// How messages and pixels reach the program.
  package var transport = ForeignTransport.files
  /// The time of the program's clocks.
  package var clock = ForeignClock.real
  /// The sensors whose samples are sent to the program with each frame.
  package var sensors: [SensorRead] = []
  /// The folder in which the program runs, and to which the paths of its command are relative;
  /// `nil` for the folder of this process.
  package var folder: String?
  /// Receives the program's output, in addition to the last lines in errors.
  package var listener: ProgramListener?

  /// The minimum of `startSeconds`, because the start may need longer than a frame.
  private static let startSecondsMin = 30.0

  /// The first element of `command` must not be empty, and the numbers are in their ranges.
  package init(
    command: [String], output: ForeignOutput, options: JSONValue = .object([:]),
    instances: Int = 1, timeoutSeconds: Double = 30
  ) {
    (self.command, self.output, self.options) = (command, output, options)
    (self.instances, self.timeoutSeconds) = (instances, timeoutSeconds)
    startSeconds = max(timeoutSeconds, Self.startSecondsMin)
  }

  /// Sets the limits for the start and for each frame to a day.
  package mutating func liftLimits() {
    timeoutSeconds = Self.liftedSeconds
    startSeconds = Self.liftedSeconds
  }

  private static let liftedSeconds = 86_400.0

  /// Where a file is that the command names.
  func place(of path: String) -> String {
    guard let folder, !path.hasPrefix("/") else { return path }
    return "\(folder)/\(path)"
  }

  /// The program as the user named it.
  package var name: String { command.first ?? "" }
  /// The command, for messages.
  var title: String { command.joined(separator: " ").shortened }
}

/// The time of the system's clocks in a program.
package enum ForeignClock: String, CaseIterable, Hashable, Sendable {
  /// Real time.
  case real
  /// Virtual time, by a library that is loaded into the program: libfaketime.
  case preload
}
