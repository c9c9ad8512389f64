import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// A program's description of itself before its first frame.
package struct ForeignReady: Hashable {
  /// The version of the protocol that this Retake speaks.
  static let protocolVersion = 1

  enum State: String, CaseIterable {
    /// The output depends on the frame alone.
    case pure
    /// The program remembers earlier frames.
    case stateful
  }

  var name: String
  /// The author increases it when the same frame produces another output.
  var version: Int
  /// Anything else on which the output depends.
  var fingerprint: String
  /// Formats that the program accepts, best first; empty = the formats of 8 bits.
  var formats: [PixelFormat]
  package var classNames: [String]
  var state: State
  /// Whether the program collects the frames of a batch before it answers them.
  var takesBatches: Bool
  /// SHA-256 of further files that it has read, such as modules, by their paths.
  var modules: [String: String]
  /// The sinks of a whole program, in the byte order of their names; empty for a stage.
  var sinks: [Sink]

  /// A sink of a whole program.
  struct Sink: Hashable {
    var name: String
    var output: ForeignOutput
  }

  private static let sinksRange = 1...64

  /// Keys that are not known belong to later versions, and are not read.
  ///
  /// - Throws: `DocumentProblem` with the pointer inside the message.
  package init(_ json: JSONValue, output: ForeignOutput) throws {
    let fields = StrictDecoder<DocumentProblem>(json, at: "/ready")
    let spoken = try fields.required("v")
    guard try spoken.integer() == Self.protocolVersion else {
      throw spoken.wrong(
        "the program speaks version \(try spoken.integer()) of the protocol; "
          + "this Retake speaks \(Self.protocolVersion)")
    }
    name = try fields.required("name").string()
    version = try fields.required("version").integer(
      in: 0...Int.max, "a version is 0 or more")
    let returned: ForeignOutput = try fields.required("output").choice("an output")
    guard returned == output else {
      throw fields.wrong(
        "the program returns \(returned.rawValue), and the stage's output is \(output.rawValue)")
    }
    state = try fields.required("state").choice("a state")
    takesBatches = try fields["batch"]?.bool() ?? false
    if takesBatches, state != .pure, let given = fields["batch"] {
      throw given.wrong("must be false unless the state is pure")
    }
    fingerprint = try fields["fingerprint"]?.string() ?? ""
    formats = try fields.elements("formats").map { element in
      try element.choice("a pixel format")
    }
    classNames = try fields.strings("classNames")
    modules = try Self.modules(fields)
    sinks = output == .program ? try Self.sinks(fields) : []
    if output == .program, state == .pure, let given = fields["state"] {
      throw given.wrong("must be stateful for 'program': frames and timers have one order")
    }
  }

  private static let digestCharacters = 64

  private static func modules(
    _ fields: StrictDecoder<DocumentProblem>
  ) throws -> [String: String] {
    guard let given = fields["modules"] else { return [:] }
    var modules: [String: String] = [:]
    for (path, value) in try given.members() {
      let digest = try value.string()
      guard !path.isEmpty, digest.utf8.count == digestCharacters,
        digest.allSatisfy({ ("0"..."9").contains($0) || ("a"..."f").contains($0) })
      else {
        throw value.wrong("a module has a path, and its SHA-256 in 64 hexadecimal digits")
      }
      modules[path] = digest
    }
    return modules
  }

  private static func sinks(
    _ fields: StrictDecoder<DocumentProblem>
  ) throws -> [Sink] {
    let given = try fields.required("sinks")
    let members = try given.members()
    guard sinksRange.contains(members.count) else {
      throw given.wrong("a program has 1 to \(sinksRange.upperBound) sinks")
    }
    return try members.map { name, output in
      guard PipelineNode.isValidID(name) else {
        throw output.wrong(
          "'\(name.shortened)' cannot be a sink: use a lower-case letter, then letters, digits or -"
        )
      }
      let kind: ForeignOutput = try output.choice("an output")
      guard kind != .program else { throw output.wrong("a sink is given values, not a program") }
      return Sink(name: name, output: kind)
    }
  }

  /// The empty value of each sink of a whole program.
  package var emptyOuts: ProgramOuts {
    ProgramOuts(empty: sinks.map { ($0.name, $0.output.empty(classNames: classNames)) })
  }
}
