import Foundation
import RetakeCore
import RetakeRuntime
import RetakeTimePlane

extension DeviceProfile {
  /// The largest document that is read, in bytes.
  static let documentBytesMax = 1 << 20

  /// Reads a JSON document.
  ///
  /// - Parameter name: The file's name in messages; its path if `nil`.
  /// - Throws: `ReplayError.profile` with the JSON pointer of the problem.
  package init(reading path: String, named name: String? = nil) throws {
    let bytes: [UInt8]
    do {
      let file = try InputFile(path)
      defer { file.close() }
      // One byte more than allowed shows that the document is too large, without reading all of it.
      bytes = try file.read(upTo: Self.documentBytesMax + 1)
    } catch let error as InputFile.Failure {
      throw ReplayError.profile(.unreadable(cause: error.cause), path: name ?? path)
    }
    do {
      try self.init(ProfileDecoder(parsing: Data(bytes), bytesMax: Self.documentBytesMax))
    } catch let error as DocumentProblem {
      throw ReplayError.profile(
        .malformed(message: error.message, advice: error.advice, pointer: error.pointer),
        path: name ?? path)
    }
  }

  /// The limits of pipelines: see `Pipeline.checkNumbers`.
  private static let serversMax = 1_024
  private static let buffersMax = 4_096

  private init(_ decoder: ProfileDecoder) throws {
    let fields = try decoder.document([
      "name", "scale", "executors", "pools", "copyRate", "thermal", "heat", "basis",
    ])
    let given = try fields.required("name")
    let name = try given.string()
    guard name.isSafeName else {
      throw given.wrong(
        "'\(name)' cannot be a profile's name",
        advice: "Use up to 64 letters, digits, '-', '_' and '.'")
    }
    self.init(name: name)
    for (node, scale) in try fields.members("scale") { self.scale[node] = try scale.ratio() }
    for (id, count) in try fields.members("executors") {
      executors[id] = try count.integer(
        in: 1...Self.serversMax, "the number of servers is 1 to \(Self.serversMax)")
    }
    for (id, count) in try fields.members("pools") {
      pools[id] = try count.integer(
        in: 1...Self.buffersMax, "the number of buffers is 1 to \(Self.buffersMax)")
    }
    for step in try fields.elements("thermal") { try addThermalStep(step) }
    if let rate = fields["copyRate"] {
      copyBytesPerSecond =
        try rate.quantity(
          "GB/s", digits: 6, 1...1_000_000_000, "a copy rate is above 0 and at most 1000GB/s"
        ) * 1_000
    }
    if let heat = fields["heat"] { self.heat = try HeatModel(heat) }
    try readBasis(fields)
  }

  /// A step begins at a time, or with a thermal state.
  private mutating func addThermalStep(_ json: ProfileDecoder) throws {
    let step = try json.object(["after", "state", "scale", "power"])
    let scale = try step.required("scale").ratio()
    switch (step["after"], step["state"]) {
    case (let start?, nil):
      if let power = step["power"] { throw power.wrong("only the steps of states have a power") }
      let after = try start.duration()
      // Two steps at one time would leave open which of them holds.
      guard thermal.last.map({ $0.after < after }) ?? true else {
        throw start.wrong("the steps come in the order of their time")
      }
      thermal.append(.init(after: after, scale: scale))
    case (nil, let begin?):
      let state: ThermalState = try begin.choice("a state")
      guard states.last.map({ $0.state < state }) ?? true else {
        throw begin.wrong("the steps come in the order of their states")
      }
      states.append(
        StateScale(state: state, scale: scale, power: try step["power"]?.ratio() ?? .one))
    case (nil, nil): throw step.failure(.missingKey("after"))
    case (.some, .some): throw step.wrong("a step has either 'after' or 'state'")
    }
  }

  /// `{"heat.idle": "measured", "heat": "assumed: no sensor"}`: a path names a value of the document,
  /// or a group of values.
  private mutating func readBasis(_ fields: ProfileDecoder) throws {
    for (path, given) in try fields.members("basis") {
      let text = try given.string()
      let word = text.prefix { $0 != ":" }
      guard ["measured", "assumed", "derived"].contains(word) else {
        throw given.wrong(
          "a basis begins with 'measured', 'assumed' or 'derived'",
          advice: "Write it like \"assumed: the machine has no power sensor\"")
      }
      guard fields.json.value(at: path) != nil else {
        throw given.wrong("the profile has no '\(path.shortened)'")
      }
      basis[path] = text
    }
  }
}

private typealias ProfileDecoder = StrictDecoder<DocumentProblem>

extension ProfileDecoder {
  fileprivate func ratio() throws -> DecimalRatio {
    guard let ratio = DecimalRatio(json) else {
      throw wrong(
        "a scale is \(DecimalRatio.rangeText)", advice: "2 is twice as slow, 0.5 twice as fast")
    }
    return ratio
  }
}

extension JSONValue {
  /// The value of a path of keys, `heat.idle`.
  fileprivate func value(at path: String) -> JSONValue? {
    path.split(separator: ".", omittingEmptySubsequences: false)
      .reduce(JSONValue?.some(self)) { $0?[String($1)] }
  }
}
