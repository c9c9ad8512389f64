import Foundation
import RetakeTestSupport
import Testing

/// `retake query`, and docs/query.md.
@Suite struct QueryTests {
  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.record("yard", frames: 24)
    try workplace.record("gate", frames: 12)
    try workplace.writePipeline("motion-boxes.json")
    for session in ["yard", "gate"] {
      let tested = try workplace.retake(
        "test", session, "--pipeline", "motion-boxes.json", "--mode", "simulate", "--costs",
        "declared")
      try #require(tested.status == 3, "\(tested.stderr)")
      let accepted = try workplace.retake("accept", "\(session)/*", "--reason", "first")
      try #require(accepted.status == 0, "\(accepted.stderr)")
    }
  }

  private func rows(_ sql: String) throws -> JSON {
    let result = try workplace.retake("query", sql, "--json")
    try #require(result.status == 0, "\(result.stderr)")
    return try result.json()
  }

  @Test func `sessions and goldens are tables`() throws {
    let sessions = try rows("select session, frames, tracks from sessions order by session")
    #expect(sessions.count == 2)
    #expect(sessions[0].session.text == "gate" && sessions[0].frames.int == 12)
    #expect(sessions[1].session.text == "yard" && sessions[1].frames.int == 24)
    let frames = try rows("select count(*) n, min(time) first from frames where session = 'yard'")
    #expect(frames[0].n.int == 24 && frames[0].first.number == 0)

    // The same numbers as the golden's own lines.
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/motion-boxes/results-00000.gold"),
      encoding: .utf8
    ).split(separator: "\n")
    let boxes = try rows("select count(*) n from detections where session = 'yard'")
    #expect(boxes[0].n.int == golden.count { $0.hasPrefix("D ") })
    let ended = try rows(
      "select count(*) n from results where session = 'yard' and fate <> 'delivered'")
    #expect(ended[0].n.int == golden.count { $0.hasPrefix("X ") })
    let all = try rows("select session, count(*) n from results group by session order by session")
    #expect(all[0].n.int == 12 && all[1].n.int == 24)
    let decisions = try rows(
      "select session, kind, count(*) n from decisions where kind = 'outcome' group by session")
    let log = try String(
      contentsOf: workplace.folder.file("Goldens/yard/motion-boxes/decisions.gold"), encoding: .utf8
    ).split(separator: "\n").count { $0.contains(" outcome ") }
    let own = (0..<decisions.count).first { decisions[$0].session.text == "yard" }
    #expect(own.flatMap { decisions[$0].n.int } == log && log > 0)
  }

  @Test func `a query that SQLite refuses is an error with its words, and nothing can be written`()
    throws
  {
    for (sql, cause) in [
      ("select drops from frames", "no such column: drops"),
      ("delete from frames", "it is not a query"), ("attach 'x.db' as x", "it is not a query"),
      ("select", "incomplete input"), ("", "it is empty"),
      (" ", "it is empty"),
      ("select 1; select 2", "it has several statements"),
    ] {
      let result = try workplace.retake("query", sql)
      #expect(result.status == 2, "\(sql)")
      #expect(result.stderr.contains("[query.sql]"), "\(result.stderr)")
      #expect(result.stderr.contains(cause), "\(result.stderr)")
    }
    #expect(!FileManager.default.fileExists(atPath: workplace.folder.file("x.db").path))
    #expect(try workplace.retake("query").status == 64)
    #expect(try workplace.retake("query", "select 1", "--tables").status == 64)
  }

  @Test func `the page's queries can be asked, and its tables are those of the command`() throws {
    var asked = 0
    for block in try PageBlock.blocks(of: "docs/query.md") where block.language == "sh" {
      let words = block.text.split(separator: "\"", maxSplits: 1).map(String.init)
      guard words.count == 2 else { continue }
      let sql = words[1].replacing("\"", with: "").replacing("\n", with: " ")
      _ = try rows(sql)
      asked += 1
    }
    #expect(asked >= 4)
    let page = try String(
      contentsOf: packageRoot.appending(path: "docs/query.md"), encoding: .utf8)
    let tables = try workplace.retake("query", "--tables", "--json").json()
    for index in 0..<tables.count {
      let columns = tables[index].columns.list.compactMap { $0 as? String }
      let name = try #require(tables[index].name.text)
      #expect(
        page.contains("| `\(name)` | \(columns.map { "`\($0)`" }.joined(separator: ", ")) |"),
        "\(name)")
    }
  }
}
