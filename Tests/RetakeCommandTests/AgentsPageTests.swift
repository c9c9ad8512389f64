import Foundation
import RetakeTestSupport
import Testing

/// docs/agents.md: its commands in their order, with the statuses and the output that it shows.
@Suite struct AgentsPageTests {
  private let workplace: Workplace

  init() throws { workplace = try Workplace() }

  @Test func `an agent can follow the page, and reads what it shows`() throws {
    try workplace.writeMovingSquare("clip.mp4")
    let blocks = try PageBlock.blocks(of: "docs/agents.md")
    for block in blocks {
      if let file = block.file { try workplace.folder.write(block.text, to: file) }
    }
    var (output, commands, shown) = ("", 0, 0)
    for block in blocks where block.file == nil {
      guard block.language == "sh" else {
        #expect(PageBlock.missing(block.lines, in: output) == [], "\(output)")
        shown += block.lines.count
        continue
      }
      output = ""
      for line in block.lines {
        let expected = line.firstMatch(of: #/# .*exit (\d)/#).flatMap { Int32($0.1) } ?? 0
        let result = try workplace.type(line)
        // The machine of a test may lack a device, which is no fault of the page.
        let isDoctor = line.hasPrefix("retake doctor")
        #expect(result.status == expected || isDoctor, "\(line): \(result.stdout)\(result.stderr)")
        output += result.stdout
        commands += 1
      }
    }
    #expect(commands == 17 && shown == 4)
    #expect(workplace.exists("report/report.html"))
  }

  @Test func `llms.txt names pages that exist`() throws {
    let text = try String(contentsOf: packageRoot.appending(path: "llms.txt"), encoding: .utf8)
    let pages = text.matches(of: #/\]\(([^)]+)\)/#).map { String($0.1) }
    #expect(pages.count > 10)
    for page in pages {
      #expect(
        FileManager.default.fileExists(atPath: packageRoot.appending(path: page).path), "\(page)")
    }
  }
}
