import Foundation
import RetakeTestSupport
import Testing

/// The contents of packages besides the program, generated from the commands' own help.
@Suite struct ManPageTests {
  private static let hasPython =
    (try? runCommand("python3", arguments: ["-c", "import json"]).status) == 0

  /// Runs Scripts/man-page on the output of `retake --experimental-dump-help`, or on another
  /// document.
  private func page(of help: Data) throws -> CommandResult {
    try runCommand(
      "python3",
      arguments: [
        packageRoot.appending(path: "Scripts/man-page").path, "1.2.3", "2026-01-31",
      ], input: help)
  }

  private func help(_ command: [String: Any] = [:], form: Int = 0) throws -> Data {
    let root: [String: Any] = ["commandName": "retake", "abstract": "Record."]
    return try JSONSerialization.data(withJSONObject: [
      "serializationVersion": form,
      "command": root.merging(["subcommands": [command]]) { $1 },
    ])
  }

  /// The long names of the options that the help of a command and of its subcommands shows.
  private func options(of command: [String: Any]) -> [String] {
    let arguments = (command["arguments"] as? [[String: Any]] ?? [])
      .filter { $0["shouldDisplay"] as? Bool == true }
    let names = arguments.flatMap { $0["names"] as? [[String: String]] ?? [] }
    let commands = command["subcommands"] as? [[String: Any]] ?? []
    return names.filter { $0["kind"] == "long" }.compactMap { $0["name"] }
      + commands.filter { $0["commandName"] as? String != "help" }.flatMap(options)
  }

  @Test(.enabled(if: hasPython, "python3 is not here"))
  func `the man page has every command and every option`() throws {
    let help = try Workplace().retake(words: ["--experimental-dump-help"])
    #expect(help.status == 0)
    let result = try page(of: help.stdoutBytes)
    #expect(result.status == 0)
    let text = result.stdout
    #expect(text.contains(".TH RETAKE 1 \"2026-01-31\" \"retake 1.2.3\""))
    for command in HelpTests.commands where !command.isEmpty {
      let spelt = command.replacing("-", with: "\\-")
      #expect(text.contains("\n.SS \"retake \(spelt)\"\n"), "\(command)")
    }
    let document = try JSONSerialization.jsonObject(with: help.stdoutBytes) as? [String: Any]
    let names = options(of: try #require(document?["command"] as? [String: Any]))
    #expect(names.count > 100)
    for name in Set(names) {
      let spelt = "\\fB\\-\\-" + name.replacing("-", with: "\\-") + "\\fR"
      #expect(text.contains(spelt), "\(name)")
    }
  }

  @Test(.enabled(if: hasPython, "python3 is not here"))
  func `no text of the help is a request to the formatter`() throws {
    let command: [String: Any] = [
      "commandName": "a\"b", "abstract": ".so page",
      "discussion": "'br\n  .pso date\n\nC:\\new",
      "arguments": [
        [
          "kind": "positional", "valueName": ".x", "isOptional": false, "isRepeating": false,
          "abstract": "x\n.ds y",
        ]
      ],
    ]
    let lines = try page(of: help(command)).stdout.split(separator: "\n")
    let requests = Set(
      lines.filter { $0.hasPrefix(".") || $0.hasPrefix("'") }.compactMap {
        $0.split(separator: " ").first
      })
    #expect(
      requests == [
        ".\\\"", ".TH", ".SH", ".SS", ".br", ".PP", ".TP", ".RS", ".RE", ".EX", ".EE",
      ])
    #expect(lines.contains(".SS \"retake a\\(dqb\""))
    #expect(lines.contains("C:\\enew"))
  }

  @Test(.enabled(if: hasPython, "python3 is not here"))
  func `help of another form is refused`() throws {
    let result = try page(of: help(form: 1))
    #expect(result.status == 1)
    #expect(result.stdout == "")
    #expect(result.stderr.contains("a form that this script does not know"))
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `the completions have every command`(shell: String) throws {
    let result = try Workplace().retake(words: ["--generate-completion-script", shell])
    #expect(result.status == 0)
    #expect(result.stderr == "")
    for command in HelpTests.commands.flatMap({ $0.split(separator: " ") }) {
      #expect(result.stdout.contains(command), "\(command)")
    }
  }
}
