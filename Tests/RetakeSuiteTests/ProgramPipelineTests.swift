import Foundation
import Retake
import RetakeStages
import RetakeTestSupport
import Testing

@testable import RetakeSuite

/// Programs as pipelines: their commands, and cases of retake.yml.
@Suite struct ProgramPipelineTests {
  @Test(arguments: [
    ("python3 app.py", ["python3", "app.py"]),
    ("  ./app\t--fast \n", ["./app", "--fast"]),
    ("app 'a b' \"c 'd'\" e\\ f", ["app", "a b", "c 'd'", "e f"]),
    ("app '' \"\"", ["app", "", ""]),
    ("a\"b c\"d'e'", ["ab cde"]),
    (#"app "a\"b\\c\d" 'a\b'"#, ["app", #"a"b\c\d"#, #"a\b"#]),
  ])
  func `a command has the words that a shell reads`(command: String, words: [String]) throws {
    #expect(try ProgramPipeline.words(of: command) == words)
  }

  @Test(arguments: [
    ("", "it names no program"), ("  ", "it names no program"), ("'' a", "it names no program"),
    ("app 'a", "a quote has no end"), ("app \"a", "a quote has no end"),
    ("app \\", "a quote has no end"),
  ])
  func `a command that is none is refused`(command: String, problem: String) {
    let error = #expect(throws: SuiteError.self) { try ProgramPipeline.words(of: command) }
    #expect(error?.message.contains(problem) == true)
    #expect(error?.advice?.contains("--program 'python3 app.py'") == true)
  }

  @Test func `the name of such a pipeline has its options`() throws {
    var program = try ProgramPipeline(command: "./app 'a b'")
    program.options["transport"] = .string("stdio")
    #expect(program.program == "./app")
    #expect(program.name == #"program:{"command":["./app","a b"],"transport":"stdio"}"#)
    #expect(try ProgramPipeline(name: program.name) == program)
    #expect(try ProgramPipeline(name: "program:./app x").options.count == 1)
    #expect(throws: SuiteError.self) { try ProgramPipeline(name: "program:{") }
  }

  private func read(_ definition: String) throws -> Project {
    let folder = try TemporaryFolder("retake-program")
    try folder.write(
      "v: 1\nallow: {processes: [./app]}\ncases:\n  watch: \(definition)\n", to: "retake.yml")
    var project = try Project(reading: folder.url.path)
    project.registry = .builtIn
    return project
  }

  @Test func `a case has a program as a command, or as the options of a node`() throws {
    let command = try read("{program: ./app --fast, mode: simulate}")
    #expect(command.cases.first?.pipeline == #"program:{"command":["./app","--fast"]}"#)
    let object = try read(
      "{program: {command: [./app], timeoutSeconds: 5, clock: preload, options: {a: 1}}}")
    #expect(
      object.cases.first?.pipeline
        == #"program:{"clock":"preload","command":["./app"],"options":{"a":1},"timeoutSeconds":5}"#)
    #expect(object.pipelineFile(of: "watch") == nil)
  }

  @Test(arguments: [
    ("{program: ./app, pipeline: a.json}", "a pipeline or a program"),
    ("{program: \"'\"}", "a quote has no end"),
    ("{program: {}}", "'command' is missing"),
    ("{program: {command: []}}", "names no program"),
    ("{program: {command: [./app], output: program}}", "unknown key 'output'"),
    ("{mode: every-frame}", "'pipeline' is missing"),
  ])
  func `a program that cannot be one is an error of the case`(definition: String, text: String) {
    let error = #expect(throws: SuiteError.self) { try read(definition) }
    #expect(error.map { "\($0)" }?.contains(text) == true, "\(error.map { "\($0)" } ?? "")")
    #expect(error.map { "\($0)" }?.contains("/cases/watch") == true)
  }

  @Test func `the case of a program by itself is known without a start of the program`() throws {
    let project = try read("{program: ./other}")
    let definition = try project.definition(ofPipeline: "program:./missing --fast")
    #expect(definition.name == "program" && definition.pipeline == "program:./missing --fast")
    #expect(throws: SuiteError.self) { try project.definition(ofPipeline: "program:./a 'b") }
  }

  @Test func `a program is started only if that is allowed`() throws {
    var project = try read("{program: ./other}")
    let refused = #expect(throws: (any Error).self) { try project.pipeline("watch") }
    #expect(refused.map { "\($0)" }?.contains("'./other' may not be started") == true)
    project.programs = project.programs.adding("./other")
    let missing = #expect(throws: (any Error).self) { try project.pipeline("watch") }
    #expect(missing.map { "\($0)" }?.contains("there is no program './other'") == true)
    #expect(ProgramPermission.never.adding("a") == .never)
  }
}
