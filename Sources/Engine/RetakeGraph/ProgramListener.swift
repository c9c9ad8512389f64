/// Receives every line that programs write to their standard output and standard error, and every
/// message that they log.
package final class ProgramListener: Sendable {
  private let tell: @Sendable (_ program: String, _ line: String) -> Void

  /// - Parameter tell: Called on the thread that reads the program's output. A line has no control
  ///   characters; a very long one comes in pieces.
  package init(_ tell: @escaping @Sendable (_ program: String, _ line: String) -> Void) {
    self.tell = tell
  }

  package func hear(_ line: String, of program: String) { tell(program, line) }
}

extension ProgramListener: Hashable {
  package static func == (one: ProgramListener, other: ProgramListener) -> Bool { one === other }

  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension AnyStage {
  /// The kind of a stage that a program of the user's computes.
  package static let processKind = "process"

  /// Whether the command runs a script under `python3 -m retake.loop`.
  package var isLoop: Bool {
    guard signature.kind == Self.processKind, case .array(let command)? = options["command"] else {
      return false
    }
    return command.contains(.string("retake.loop"))
  }
}
