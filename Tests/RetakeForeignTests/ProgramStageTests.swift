import Retake
import RetakeCore
import RetakeGraph
import RetakeStages
import Testing

@testable import RetakeForeign

/// The options of a program that a document may have. RetakeForeignTests run programs.
@Suite struct ProgramStageTests {
  private func problem(
    _ options: [String: JSONValue], _ permission: ProgramPermission = .all
  ) -> OptionProblem? {
    #expect(throws: OptionProblem.self) {
      try StageRegistry.builtIn.allowing(permission).make(
        kind: "process", options: .object(options))
    }
  }

  private let missing: [String: JSONValue] = [
    "command": .array([.string("no-such-program")]), "output": .string("scalars"),
  ]

  @Test func `an option out of its bounds is named with its pointer`() {
    for (key, value) in [
      ("command", JSONValue.array([])), ("command", .array([.string("")])),
      ("command", .array([.string("a\u{0}")])), ("output", .string("boxes")),
      ("instances", .integer(0)), ("instances", .integer(65)), ("timeoutSeconds", .integer(0)),
      ("transport", .string("pipe")), ("clock", .string("fake")),
    ] {
      let found = problem(missing.merging([key: value]) { $1 })
      #expect(found?.pointer == "/\(key)", "\(key)")
      #expect(found?.message.contains("'\(key)'") == true, "\(found?.message ?? "")")
    }
  }

  @Test func `a program that is not allowed is not even looked for`() {
    let refused = problem(missing, .named(["python3", "./no-such-program"]))
    #expect(refused?.message.contains("'no-such-program' may not be started") == true)
    #expect(refused?.advice?.contains("--allow-processes") == true)
    #expect(refused?.advice?.contains("retake.yml") == true)
    let never = problem(missing, .never)
    #expect(never?.message.contains("a pipeline in a session starts no programs") == true)
    for permission in [ProgramPermission.all, .named(["no-such-program"])] {
      #expect(problem(missing, permission)?.message == "there is no program 'no-such-program'")
    }
  }

  @Test func `a registry starts no programs until that is allowed`() {
    let found = #expect(throws: OptionProblem.self) {
      try StageRegistry.builtIn.make(kind: "process", options: .object(missing))
    }
    #expect(found?.message.contains("may not be started") == true)
    let empty = StageRegistry().allowing(.all)
    #expect(empty.kinds == [])
  }
}
