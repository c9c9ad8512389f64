import Foundation
import RetakeTestSupport
import Testing

/// docs/own-model.md: its files, its commands in their order, and their output.
@Suite struct OwnModelPageTests {
  private static let hasPython = Judges.has("onnx, numpy")

  private let workplace: Workplace

  init() throws { workplace = try Workplace() }

  /// Runs a command of the page as its reader would, except commands that install something.
  private func run(_ command: String) throws -> String {
    guard !command.hasPrefix("python3 -m venv"), !command.hasPrefix("pip ") else { return "" }
    let folders: [String?] = [
      productsFolder.path, Judges.folder, ProcessInfo.processInfo.environment["PATH"],
    ]
    let result = try runCommand(
      "bash", arguments: ["-c", "\(command) 2>&1"],
      environment: [
        "CI": nil, "RETAKE_PENDING_DIR": nil, "NO_COLOR": nil,
        "RETAKE_CACHE_KEY": Workplace.cacheKey,
        "PATH": folders.compactMap(\.self).joined(separator: ":"),
      ], folder: workplace.folder.url)
    let status = try #require(result.status, "\(command) was ended by a signal")
    // A test says in words how it ends, which the page shows.
    let isTest = command.hasPrefix("retake test") && result.stdout.contains("exit \(status)")
    #expect(status == 0 || isTest, "\(command): \(status)\n\(result.stdout)")
    return result.stdout
  }

  @Test(
    .enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason),
    .enabled(if: hasPython, "python3 has no onnx here"))
  func `the page can be followed from nothing, and prints what it shows`() throws {
    let blocks = try PageBlock.blocks(of: "docs/own-model.md")
    var output = ""
    var commands = 0
    var shownLines = 0
    for block in blocks {
      switch block.language {
      case "sh":
        output = try block.lines.map(run).joined()
        commands += block.lines.count
      case "":
        #expect(PageBlock.missing(block.lines, in: output) == [], "\(output)")
        shownLines += block.lines.count
      default:
        let file = try #require(block.file, "a file that the page does not name: \(block.text)")
        try workplace.folder.write(
          block.text.trimmingCharacters(in: .newlines) + "\n", to: file)
      }
    }
    #expect(Set(blocks.map(\.language)) == ["sh", "", "python", "json", "yaml"])
    #expect(commands > 14 && shownLines > 40)
    #expect(workplace.exists("seen.png") && workplace.exists("boxes.mp4"))
    #expect(workplace.exists("Goldens/clip/own/golden.yml"))
  }

  @Test func `a line that a command does not print is found`() {
    let output = "a  1\nb 2.5 ms\nc\n"
    #expect(PageBlock.missing(["a  1", "b … ms", "c"], in: output) == [])
    #expect(PageBlock.missing(["c", "a  1"], in: output) == ["a  1"])
    #expect(PageBlock.missing(["b …s", "d"], in: output) == ["d"])
  }
}
