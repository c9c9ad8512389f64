import Testing

@testable import Retake
@testable import RetakeCommand

/// The advice of a program with its own stages.
@Suite struct ProgramNameTests {
  private func shown(_ text: String, by program: String) -> String {
    let environment = CommandEnvironment(registry: .builtIn, pipelines: [], program: program)
    return CommandEnvironment.$current.withValue(environment) { Console.ownCommands(text) }
  }

  @Test func `advice names the program that runs`() {
    let text = "next: retake replay yard\n  retake session doctor yard; retake.yml, a retake today"
    #expect(shown(text, by: "retake") == text)
    #expect(shown("next: ./my-retake test", by: "./my-retake") == "next: ./my-retake test")
    #expect(
      shown(text, by: ".build/release/first")
        == "next: .build/release/first replay yard\n  .build/release/first session doctor yard; "
        + "retake.yml, a retake today")
  }
}
