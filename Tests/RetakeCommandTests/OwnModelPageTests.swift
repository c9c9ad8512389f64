import Foundation
import RetakeTestSupport
import Testing

/// docs/own-model.md: its files, its commands in their order, and their output.
@Suite struct OwnModelPageTests {
  private struct Block {
    var language: String
    /// The file that the line before it names.
    var file: String?
    var text: String

    var lines: [String] { text.split(separator: "\n").map(String.init) }
  }

  private static let hasPython = Judges.has("onnx, numpy")

  private let workplace: Workplace

  init() throws { workplace = try Workplace() }

  private func blocks() throws -> [Block] {
    let page = try String(
      contentsOf: packageRoot.appending(path: "docs/own-model.md"), encoding: .utf8)
    // Text and code alternate.
    let parts = page.components(separatedBy: "```")
    return stride(from: 1, to: parts.count, by: 2).map { index in
      let end = parts[index].firstIndex(of: "\n") ?? parts[index].endIndex
      let before = parts[index - 1].split(separator: "\n").last ?? ""
      let name = before.firstMatch(of: #/^`([^`]+)`:$/#).map { String($0.1) }
      return Block(
        language: String(parts[index][..<end]), file: name, text: String(parts[index][end...]))
    }
  }

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

  /// The shown lines that a command did not print, or not in this order. `…` is anything.
  private func missing(_ shown: [String], in output: String) -> [String] {
    var rest = output[...]
    return shown.filter { line in
      let pieces = line.components(separatedBy: "…").filter { !$0.isEmpty }
      var place = rest
      for piece in pieces {
        guard let range = place.range(of: piece) else { return true }
        place = place[range.upperBound...]
      }
      rest = place
      return false
    }
  }

  @Test(
    .enabled(if: ModelCommandTests.hasLibrary, ModelCommandTests.reason),
    .enabled(if: hasPython, "python3 has no onnx here"))
  func `the page can be followed from nothing, and prints what it shows`() throws {
    let blocks = try blocks()
    var output = ""
    var commands = 0
    var shownLines = 0
    for block in blocks {
      switch block.language {
      case "sh":
        output = try block.lines.map(run).joined()
        commands += block.lines.count
      case "":
        #expect(missing(block.lines, in: output) == [], "\(output)")
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
    #expect(missing(["a  1", "b … ms", "c"], in: output) == [])
    #expect(missing(["c", "a  1"], in: output) == ["a  1"])
    #expect(missing(["b …s", "d"], in: output) == ["d"])
  }
}
