package import RetakeCore

/// An error of a sensor's file, or of the telemetry that a camera stores with its frames.
package enum SensorError: RetakeError, Equatable {
  /// `--sensor` cannot be parsed, because of `problem`.
  case badOption(text: String, problem: String)
  /// The same of `--times`.
  case badTimes(text: String, problem: String)
  case missing(file: String)
  case unreadable(file: String, cause: String)
  /// The file's name does not say which format it has.
  case unknownFormat(file: String)
  /// The file has times and no values: the times of a video's frames.
  case onlyTimes(file: String)
  /// The file has no sample.
  case noSamples(file: String)
  case noColumn(file: String, name: String, known: [String])
  /// Two columns, or two members of a line, have one name.
  case sameColumns(file: String, name: String)
  /// A line of a table, a list or a sentence cannot be read, because of `problem`.
  case badLine(file: String, line: Int, problem: String)
  /// The time of a line.
  case badTime(file: String, line: Int, text: String, unit: SensorTimeUnit)
  /// Positions without a date.
  case undated(file: String)
  /// The same where a line has no columns that could be left out.
  case badPoint(file: String, line: Int, problem: String)
  /// Subtitles that are text for people; the line is the first with text.
  case notTelemetry(file: String, line: Int, text: String)
  case longLine(file: String, line: Int, bytesMax: Int)
  /// Telemetry in a media file: the packet of its stream, and the byte in it.
  case telemetry(file: String, packet: Int, byte: Int, problem: String)
  /// A sample cannot be stored, or a sensor cannot be made; the place is a line, or a packet.
  case sample(file: String, place: String?, ErrorFacts)
  case interrupted

  package var facts: ErrorFacts {
    switch self {
    case .badOption(let text, let problem):
      ErrorFacts(
        "sensor.option", "'\(text)' does not describe a sensor: \(problem)",
        advice: "Write for example: --sensor imu.csv:time=t,unit=us", kind: .usage)
    case .badTimes(let text, let problem):
      ErrorFacts(
        "sensor.option", "'\(text)' does not describe the times of the frames: \(problem)",
        advice: "Write for example: --times frames.csv:time=t,unit=us", kind: .usage)
    case .missing(let file):
      ErrorFacts(
        "sensor.file.missing", "there is no such file", at: file,
        advice: "Write the path as it is from this folder")
    case .unreadable(let file, let cause):
      ErrorFacts("sensor.file.read", "the file cannot be read", cause: cause, at: file)
    case .unknownFormat(let file):
      ErrorFacts(
        "sensor.format.unknown", "the file's name does not say which format it has", at: file,
        advice: "Name it .csv, .jsonl, .gpx, .nmea or .srt, or add format=csv", kind: .usage)
    case .onlyTimes(let file):
      ErrorFacts(
        "sensor.onlyTimes", "the file has times but no values, so it is not a sensor", at: file,
        advice: "If these are the times of the frames: retake import VIDEO --times "
          + file.shellWord, kind: .usage)
    case .noSamples(let file):
      ErrorFacts(
        "sensor.empty", "the file has no sample", at: file,
        advice: "Check that it is complete, and that it is the right one")
    case .noColumn(let file, let name, let known):
      ErrorFacts(
        "sensor.column.unknown", "the file has no column '\(name)'", at: file,
        advice: Suggestion.advice(for: name, among: known), kind: .usage)
    case .sameColumns(let file, let name):
      ErrorFacts(
        "sensor.column.twice", "two of the values are called '\(name)'", at: file,
        advice: "Choose a different name for each, or other values with columns=A+B")
    case .badLine(let file, let line, let problem):
      ErrorFacts("sensor.line", "line \(line): \(problem)", at: file, advice: Self.check)
    case .badTime(let file, let line, let text, let unit):
      ErrorFacts(
        "sensor.line", "line \(line): '\(text)' is not a time in \(unit.rawValue)", at: file,
        advice: "Correct the line, or name the unit of the times: unit=s, ms, us, ns or date")
    case .undated(let file):
      ErrorFacts(
        "sensor.undated", "the positions have no date", at: file,
        advice: "Let the receiver write RMC sentences, which have it, or bring the values as CSV")
    case .badPoint(let file, let line, let problem):
      ErrorFacts(
        "sensor.line", "line \(line): \(problem)", at: file,
        advice: "Correct the line, or remove it from the file")
    case .notTelemetry(let file, let line, let text):
      ErrorFacts(
        "sensor.subtitles", "line \(line): '\(text.prefix(40))' is not telemetry", at: file,
        advice: "Name a file whose entries have measurements, such as [iso: 100] [latitude: 55.6] "
          + "or GPS(12.5,55.6,21) BAROMETER:30.1")
    case .longLine(let file, let line, let most):
      ErrorFacts(
        "sensor.line.long", "line \(line) has more than \(most) bytes", at: file,
        advice: "Check that this is a text file with one sample a line")
    case .telemetry(let file, let packet, let byte, let problem):
      ErrorFacts(
        "sensor.telemetry", "packet \(packet) of the telemetry, byte \(byte): \(problem)",
        at: file, advice: "Import the file without it: --no-telemetry")
    case .sample(let file, let place, let facts):
      ErrorFacts(
        facts.code, (place.map { "\($0): " } ?? "") + facts.message, cause: facts.cause, at: file,
        advice: facts.advice, kind: facts.kind)
    case .interrupted:
      ErrorFacts("sensor.interrupted", "the import was stopped", kind: .interrupted)
    }
  }

  private static let check = "Correct the line, or leave out its column with columns=A+B"
}
