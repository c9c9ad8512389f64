import RetakeBuffers
package import RetakeCore
import RetakeGraph

/// A frame or a timer that is sent to a whole program. The program ends it with `done`.
enum ProgramCall {
  case frame(Frame)
  case timer(ProgramTimers.Due)

  func name(_ context: StageContext) -> ProgramCallName {
    switch self {
    case .frame: .frame(context.frame.sequence)
    case .timer(let due): .timer(due)
    }
  }
}

/// Identifies a call in the `done` that ends it.
package enum ProgramCallName: Hashable, CustomStringConvertible {
  case frame(Int)
  case timer(ProgramTimers.Due)

  /// - Throws: `DocumentProblem` if the value does not identify a call.
  package init(done: JSONValue) throws {
    let decoder = StrictDecoder<DocumentProblem>(done, at: "/done")
    guard case .object = done else {
      self = .frame(try decoder.integer())
      return
    }
    let fields = try decoder.object(["timer", "nowNs"])
    self = .timer(
      ProgramTimers.Due(
        id: Int64(try fields.required("timer").integer()),
        nanoseconds: Int64(try fields.required("nowNs").integer())))
  }

  package var description: String {
    switch self {
    case .frame(let sequence): "frame \(sequence)"
    case .timer(let due) where due.nanoseconds == .max: "the end of the session"
    case .timer(let due): "timer \(due.id) of \(due.nanoseconds) ns"
    }
  }
}

/// A message of a whole program before `done`.
package enum ProgramWord {
  /// A value for a sink.
  case out(sink: String, sequence: Int, value: JSONValue)
  case timer(id: Int64, nanoseconds: Int64)
  case cancel(id: Int64)

  /// - Returns: `nil` for another message.
  /// - Throws: `DocumentProblem` for a message that cannot be used.
  package init?(_ message: JSONValue) throws {
    if let out = message["out"] {
      let fields = try StrictDecoder<DocumentProblem>(out, at: "/out")
        .object(["sink", "sequence", "value"])
      self = .out(
        sink: try fields.required("sink").string(),
        sequence: try fields.required("sequence").integer(),
        value: try fields.required("value").json)
    } else if let timer = message["timer"] {
      let fields = try StrictDecoder<DocumentProblem>(timer, at: "/timer").object(["id", "atNs"])
      self = .timer(
        id: Int64(try fields.required("id").integer()),
        nanoseconds: Int64(try fields.required("atNs").integer()))
    } else if let cancel = message["cancel"] {
      self = .cancel(
        id: Int64(try StrictDecoder<DocumentProblem>(cancel, at: "/cancel").integer()))
    } else {
      return nil
    }
  }
}
