import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// The pages and the data, over real HTTP.
@Suite(.serialized, .onOwnThread) struct ServerTests {
  @Test func `reports, sessions, runs and what is pending are listed`() throws {
    let fixture = try ServeFixture { _ in
    } prepare: { folder in
      var job = ReplayJob(
        project: try Project(reading: folder.url.path),
        definition: CaseDefinition(name: "motion", pipeline: "motion.json"),
        session: folder.file("Recordings/yard").path)
      job.destination = .run("runs/first")
      _ = try job.run()
      try folder.write("{}", to: "broken/report.json")
      try folder.write("", to: "broken/report.html")
    }
    let answer = try fixture.get("state.json")
    #expect(answer.status == 200)
    #expect(answer.headers["content-type"] == "application/json")
    let state = try #require(
      try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
    let reports = try #require(state["reports"] as? [[String: Any]])
    #expect(Set(reports.compactMap { $0["path"] as? String }) == ["broken", "report"])
    let good = try #require(reports.first { $0["path"] as? String == "report" })
    #expect(good["exitCode"] as? Int == 1)
    #expect(good["counts"] as? String == "1 changed")
    let broken = try #require(reports.first { $0["path"] as? String == "broken" })
    #expect((broken["error"] as? String)?.contains("not a report document") == true)
    let sessions = try #require(state["sessions"] as? [[String: Any]])
    #expect(sessions.compactMap { $0["name"] as? String } == ["yard"])
    #expect((sessions[0]["tracks"] as? [[String: Int]])?.first?["frames"] == 24)
    let runs = try #require(state["runs"] as? [[String: Any]])
    #expect(runs.compactMap { $0["path"] as? String } == ["runs/first"])
    #expect(runs[0]["frames"] as? Int == 24)
    #expect(
      state["pending"] as? [[String: String]] == [
        [
          "key": "yard/motion", "report": try #require(good["id"] as? String), "anchor": "case-1",
        ]
      ])
    #expect(state["isCI"] as? Bool == false)
  }

  @Test func `a frame comes straight from the session, the same each time`() throws {
    let fixture = try ServeFixture()
    let first = try fixture.get("frames/yard/0/7.png")
    #expect(first.status == 200)
    #expect(first.headers["content-type"] == "image/png")
    let reader = try SessionReader(opening: fixture.folder.file("Recordings/yard").path)
    let picture = try MediaImage.decode([UInt8](first.body))
    #expect((picture.width, picture.height) == (160, 120))
    let wanted = try FrameImage.png(
      of: try reader.frame(FrameID(track: 0, sequence: 7)), widthMax: 960)
    #expect(first.body == Data(wanted))
    #expect(try fixture.get("frames/yard/0/8.png").body != first.body)
    #expect(try fixture.get("frames/yard/0/7.png").body == first.body)
    let small = try MediaImage.decode([UInt8](fixture.get("frames/yard/0/7.png?width=80").body))
    #expect((small.width, small.height) == (80, 60))
    let facts = try fixture.get("frames/yard/0/7.json")
    #expect(facts.text.contains("\"timeNanoseconds\":"))
  }

  @Test(arguments: [
    ("frames/yard/0/24.png", 404), ("frames/yard/1/0.png", 404), ("frames/yard/0/-1.png", 404),
    ("frames/yard/0/x.png", 404), ("frames/yard/0/7.gif", 404), ("frames/garden/0/7.png", 404),
    ("frames/yard/0/7.png?width=9999999", 400), ("frames/yard/0/7.png?width=x", 400),
    ("frames/yard/0/99999999999999999999.png", 404), ("reports/0000", 404), ("nothing", 404),
    ("accept", 405), ("labels/garden", 404), ("labels/yard/0", 404),
  ])
  func `what is not there is said`(path: String, status: Int) throws {
    let fixture = try ServeFixture(frames: 6)
    let answer = try fixture.get(path)
    #expect(answer.status == status)
    #expect(answer.code?.hasPrefix("serve.") == true)
  }

  @Test func `a report's page is made anew, whatever stands in report.html`() throws {
    let fixture = try ServeFixture { _ in
    } prepare: { folder in
      try folder.write("<script>document.title='owned'</script>", to: "report/report.html")
    }
    let page = try fixture.get("reports/\(fixture.reportID())")
    #expect(page.status == 200)
    #expect(!page.text.contains("owned"))
    #expect(page.text.contains("data-served=\"/\(fixture.token)/\" data-accepts=\"yes\""))
    #expect(page.text.contains("data-program=\"retake\""))
    #expect(page.text.contains("stage <b class=\"stage\">motion</b>"))
    #expect(page.headers["content-security-policy"] == HTMLReport.servedPolicy)
    #expect(page.headers["cross-origin-resource-policy"] == "same-origin")
    #expect(page.headers["referrer-policy"] == "no-referrer")
    #expect(page.headers["cache-control"] == "no-store")
  }

  @Test func `a session that grows is seen to grow`() throws {
    let fixture = try ServeFixture(frames: 6)
    #expect(try fixture.get("frames/yard/0/7.png").status == 404)
    try FileManager.default.removeItem(at: fixture.folder.file("Recordings/yard"))
    try ServeFixture.record("yard", frames: 12, into: fixture.folder)
    #expect(try fixture.get("frames/yard/0/7.png").status == 200)
  }

  @Test func `the first page and its parts are there`() throws {
    let fixture = try ServeFixture(frames: 6)
    #expect(try fixture.get("").headers["content-type"] == "text/html; charset=utf-8")
    for part in ["home.css", "home.js", "page.css", "labels", "labels.css", "labels.js"] {
      #expect(try fixture.get(part).status == 200)
    }
  }

  // MARK: - Accepting

  @Test func `the page accepts what is pending, with the reason`() throws {
    let fixture = try ServeFixture()
    let answer = try fixture.accept(reason: "brighter figures")
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.text.contains("\"key\":\"yard/motion\""))
    let manifest = try fixture.goldens()["yard/motion/golden.yml"]
    #expect(String(decoding: manifest ?? Data(), as: UTF8.self).contains("brighter figures"))
    #expect(try ServeFixture.test(fixture.folder).status == .passed)
    #expect(try fixture.accept().code == "suite.accept.nothingPending")
  }

  @Test func `a result that replaced the one on the page is not accepted from there`() throws {
    let fixture = try ServeFixture(frames: 12)
    let shown = try #require(try fixture.reportedResult())
    let page = try fixture.get("reports/\(fixture.reportID())")
    #expect(page.text.contains("\"pending\":\"\(shown)\""))
    // Another run, without a report, leaves another result pending.
    try fixture.folder.write(
      ServeFixture.pipeline.replacing("\"threshold\": 24", with: "\"threshold\": 90"),
      to: "motion.json")
    try ServeFixture.test(fixture.folder)
    let before = try fixture.goldens()
    let rootCauses = try fixture.waitingRoots()
    for chosen in [nil, [try #require(rootCauses.first)]] {
      let refused = try fixture.accept(pending: shown, rootCauses: chosen)
      #expect(refused.status == 409 && refused.code == "serve.accept.otherResult")
      #expect(refused.text.contains("Reload the page"), "\(refused.text)")
    }
    // A report without pending results, and a page that names no result.
    for other in ["", "00", String(repeating: "0", count: 32)] {
      #expect(try fixture.accept(pending: other).code == "serve.accept.otherResult")
    }
    #expect(try fixture.goldens() == before)

    try ServeFixture.test(fixture.folder, report: "report")
    let now = try #require(try fixture.reportedResult())
    #expect(now != shown)
    #expect(try fixture.accept(pending: now).status == 200)
    #expect(try ServeFixture.test(fixture.folder).status == .passed)
  }

  @Test func `the same result again is still the one on the page`() throws {
    let fixture = try ServeFixture(frames: 12)
    let shown = try #require(try fixture.reportedResult())
    try ServeFixture.test(fixture.folder)
    #expect(try fixture.accept(pending: shown).status == 200)
  }

  @Test func `nothing is accepted without a reason, or by a glob`() throws {
    let fixture = try ServeFixture(frames: 6)
    let before = try fixture.goldens()
    #expect(try fixture.accept(reason: "  ").code == "suite.accept.missingReason")
    #expect(try fixture.accept("*/*").code == "serve.request.malformed")
    #expect(try fixture.accept("yard").code == "serve.request.malformed")
    #expect(try fixture.accept("yard/other").code == "suite.accept.notPending")
    #expect(try fixture.goldens() == before)
  }

  @Test func `one root cause is accepted, the others go on waiting`() throws {
    let fixture = try ServeFixture(pipeline: PipelineText.branches)
    let rootCauses = try fixture.waitingRoots()
    #expect(rootCauses.count == 2)
    let motion = try #require(rootCauses.first { $0.hasPrefix("motion@") })
    let before = try fixture.goldens()
    for bad in [[], ["motion@*"], ["mot?on@0:1"]] {
      #expect(try fixture.accept(rootCauses: bad).code == "serve.request.malformed")
    }
    #expect(try fixture.accept(rootCauses: ["motion@0:99999"]).code == "suite.accept.noRootCause")
    #expect(try fixture.goldens() == before)

    let answer = try fixture.accept(rootCauses: [motion])
    #expect(answer.status == 200, "\(answer.text)")
    #expect(answer.text.contains("\"rootCauses\":[\"\(motion)\"]"))
    #expect(try fixture.waitingRoots() == rootCauses.filter { $0 != motion })
    let manifest = try fixture.goldens()["yard/motion/golden.yml"]
    #expect(String(decoding: manifest ?? Data(), as: UTF8.self).contains(motion))
  }

  @Test func `nothing is accepted in CI`() throws {
    let fixture = try ServeFixture(frames: 6) { $0.isCI = true }
    let before = try fixture.goldens()
    let answer = try fixture.accept()
    #expect(answer.status == 409)
    #expect(answer.code == "suite.accept.inCI")
    #expect(try fixture.goldens() == before)
    let page = try fixture.get("reports/\(fixture.reportID())")
    #expect(page.text.contains("data-accepts=\"no\""))
  }

  // MARK: - The port

  @Test func `a taken port is an error that says so`() throws {
    let fixture = try ServeFixture(frames: 6)
    var options = ReportServer.Options()
    options.port = fixture.server.port
    let error = #expect(throws: ServeError.self) {
      _ = try ReportServer(
        project: try Project(reading: fixture.folder.url.path), options: options)
    }
    #expect(error == .portTaken(fixture.server.port))
    #expect(error?.advice?.contains("retake report serve") == true)
  }

  @Test func `a stopped server has ended, and its port is free`() throws {
    let fixture = try ServeFixture(frames: 6)
    fixture.server.stop()
    fixture.server.wait()
    #expect(throws: RawClient.Failed.self) { try fixture.get("state.json") }
    var options = ReportServer.Options()
    options.port = fixture.server.port
    let second = try ReportServer(
      project: try Project(reading: fixture.folder.url.path), options: options)
    #expect(second.port == fixture.server.port)
    #expect(second.address != fixture.server.address)
    second.stop()
    second.wait()
  }
}
