import RetakeCore
import RetakeGraph

/// The inputs of a join, and the values that its output needs.
struct JoinOptions: StageOptions {
  @OptionValue(
    "'all': a frame that lacks a value ends here; 'any': it continues with the values that there "
      + "are")
  var mode = JoinMode.all
  @OptionValue("2 to 16 names of inputs, in the order in which the values are joined; required")
  var ports: [String] = []
}

/// The inputs of a latest join.
struct LatestOptions: StageOptions {
  @OptionValue(
    "2 to 16 names of inputs; a frame on the first input makes an output, with the newest value of "
      + "each other; required")
  var ports: [String] = []
}

/// Joins in documents: their ports are an option.
enum Joins {
  static func join(reading given: JSONValue) throws -> AnyStage {
    let options = try OptionReader.read(JoinOptions.self, from: given, kind: "join")
    try check(options.ports, such: "[\"frame\", \"detections\"]")
    return .join(options.ports, mode: options.mode)
  }

  static func latest(reading given: JSONValue) throws -> AnyStage {
    let options = try OptionReader.read(LatestOptions.self, from: given, kind: "latest")
    try check(options.ports, such: "[\"frame\", \"overlay\"]")
    return .latest(options.ports)
  }

  private static func check(_ ports: [String], such example: String) throws {
    guard (2...AnyStage.portsMax).contains(ports.count) else {
      throw OptionProblem(
        pointer: "/ports", message: "'ports' names 2 to \(AnyStage.portsMax) inputs",
        advice: "For example \(example)")
    }
    for (index, port) in ports.enumerated() {
      // An edge names a port after a dot (`pairs.frame`), so a port has the form of an ID.
      guard PipelineNode.isValidID(port) else {
        throw OptionProblem(
          pointer: "/ports/\(index)", message: "'\(port)' is not a port's name",
          advice: "Use a lower-case letter, then letters, digits or -")
      }
      guard !ports[..<index].contains(port) else {
        throw OptionProblem(
          pointer: "/ports/\(index)", message: "the port '\(port)' is named twice",
          advice: "Choose a different port for each input")
      }
    }
  }
}
