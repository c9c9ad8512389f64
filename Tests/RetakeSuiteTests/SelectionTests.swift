import RetakeGolden
import RetakeTestProjects
import Testing

@testable import RetakeSuite

@Suite struct SelectionTests {
  private func keys(
    _ fixture: ProjectFixture, _ change: (inout Selection) -> Void = { _ in }
  ) throws -> [String] {
    var selection = Selection()
    change(&selection)
    return try selection.resolve(in: fixture.project()).map(\.key.description)
  }

  private func failure(
    _ fixture: ProjectFixture, _ change: (inout Selection) -> Void
  ) -> SuiteError? {
    #expect(throws: SuiteError.self) { try keys(fixture, change) }
  }

  private func yard(_ document: String? = ProjectFixture.document) throws -> ProjectFixture {
    let fixture = try ProjectFixture(document)
    try fixture.pretend("lane", "yard-1", "yard-2")
    return fixture
  }

  @Test func `without a choice the default suite runs`() throws {
    #expect(try keys(yard()) == ["lane/motion", "yard-1/motion", "yard-2/motion"])
  }

  @Test func `without a default suite every case runs on every session`() throws {
    let fixture = try yard("v: 1\ncases: {b: {pipeline: p}, a: {pipeline: p}}")
    #expect(
      try keys(fixture)
        == ["lane/a", "lane/b", "yard-1/a", "yard-1/b", "yard-2/a", "yard-2/b"])
  }

  @Test func `a suite narrows to its own sessions and cases`() throws {
    #expect(
      try keys(yard()) { $0.suite = "slow" }
        == ["yard-1/motion", "yard-1/slow", "yard-2/motion", "yard-2/slow"])
  }

  @Test func `globs, names and cases narrow further`() throws {
    let fixture = try yard()
    #expect(try keys(fixture) { $0.sessions = ["*-2"] } == ["yard-2/motion"])
    #expect(try keys(fixture) { $0.sessions = ["yard-?"] } == ["yard-1/motion", "yard-2/motion"])
    #expect(try keys(fixture) { $0.sessions = ["lane", "l*"] } == ["lane/motion"])
    #expect(
      try keys(fixture) {
        $0.suite = "slow"
        $0.cases = ["slow"]
        $0.sessions = ["yard-1"]
      } == ["yard-1/slow"])
  }

  @Test func `a case with frames of its own runs once, whatever sessions there are`() throws {
    let fixture = try yard(
      """
      v: 1
      cases: {stills: {pipeline: stills.json}, motion: {pipeline: motion.json}}
      suites:
        default: [{sessions: ["*"], cases: [motion, stills]}]
        lane: [{sessions: [lane], cases: [stills]}]
      """)
    try fixture.folder.write(
      """
      {"v": 1, "name": "stills",
       "nodes": [{"id": "camera", "kind": "images", "options": {"path": "Stills"}},
        {"id": "values", "kind": "results"}], "edges": [{"from": "camera", "to": "values"}]}
      """, to: "stills.json")
    let all = ["lane/motion", "own/stills", "yard-1/motion", "yard-2/motion"]
    #expect(try keys(fixture).sorted() == all)
    #expect(try keys(fixture) { $0.sessions = ["lane"] } == ["lane/motion"])
    for name in ["own", "own/stills", "o*"] {
      #expect(try keys(fixture) { $0.sessions = [name] } == ["own/stills"])
    }
    #expect(try keys(fixture) { $0.suite = "lane" } == ["own/stills"])
    #expect(try keys(fixture) { $0.cases = ["stills"] } == ["own/stills"])
    let project = try fixture.project()
    let expected = ExpectedCases(of: Selection(), in: project)
    #expect(expected.includes(.init(session: "own", testCase: "stills")))
    #expect(!expected.includes(.init(session: "lane", testCase: "stills")))
  }

  @Test func `a golden is expected by the session and the case that a suite names`() throws {
    let sessions = (0..<2_000).map { "yard-\($0)" }
    let fixture = try ProjectFixture(
      """
      v: 1
      cases: {motion: {pipeline: motion.json}, slow: {pipeline: motion.json}}
      suites:
        default: [{sessions: [\(sessions.joined(separator: ", "))], cases: [motion]}]
        slow: [{sessions: ["lane-*"], cases: [slow]}]
      """)
    let project = try fixture.project()
    func expected(
      _ key: String, _ change: (inout Selection) -> Void = { _ in }
    ) -> [Bool] {
      var selection = Selection()
      change(&selection)
      let parts = key.split(separator: "/").map(String.init)
      let key = GoldenLibrary.Key(session: parts[0], testCase: parts[1])
      let cases = ExpectedCases(of: selection, in: project)
      return [cases.includes(key), cases.definition(of: key) != nil]
    }
    let all = ExpectedCases(of: Selection(), in: project)
    #expect(
      sessions.allSatisfy { all.definition(of: .init(session: $0, testCase: "motion")) != nil })
    // Without a suite the golden of any session is selected, and is then stale.
    #expect(expected("gone/motion") == [true, false])
    #expect(expected("yard-1/slow") == [true, false])
    #expect(expected("lane-1/slow") { $0.suite = "slow" } == [true, true])
    #expect(expected("yard-1/slow") { $0.suite = "slow" } == [false, false])
    #expect(expected("yard-1/motion") { $0.suite = "none" } == [false, false])
    #expect(expected("yard-1/motion") { $0.cases = ["slow"] } == [false, false])
    for name in ["yard-1", "yard-?", "yard-1/motion", "*/motion"] {
      #expect(expected("yard-1/motion") { $0.sessions = [name] } == [true, true], "\(name)")
    }
    for name in ["yard-2", "yard-1/slow", "lane-*"] {
      #expect(expected("yard-1/motion") { $0.sessions = [name] } == [false, false], "\(name)")
    }
    let own = CaseDefinition(name: "own", pipeline: "motion.json")
    #expect(expected("yard-1/own") { $0.definition = own } == [true, true])
    #expect(expected("yard-1/motion") { $0.definition = own } == [false, false])
    #expect(
      expected("yard-1/own") { ($0.definition, $0.sessions) = (own, ["lane-*"]) } == [false, false])
  }

  @Test func `a session may be named by its folder`() throws {
    let fixture = try yard()
    let path = fixture.folder.file("Recordings/lane").path
    #expect(try keys(fixture) { $0.sessions = [path] } == ["lane/motion"])
    #expect(try keys(fixture) { $0.sessions = ["Recordings/lane"] } == ["lane/motion"])
  }

  @Test func `a case of its own runs on the named sessions`() throws {
    let fixture = try yard(nil)
    let definition = CaseDefinition(name: "own", pipeline: "motion.json")
    #expect(
      try keys(fixture) {
        $0.definition = definition
        $0.sessions = ["yard-*"]
      } == ["yard-1/own", "yard-2/own"])
  }

  @Test func `names that are not there are errors that suggest`() throws {
    let fixture = try yard()
    let session = failure(fixture) { $0.sessions = ["yard-3"] }
    #expect(session?.code == "suite.select.noSession")
    #expect(session?.advice == "Did you mean 'yard-1'?")
    let path = failure(fixture) { $0.sessions = ["/nowhere/yard-1"] }
    #expect(path?.code == "suite.select.noSession" && path?.place?.file == "/nowhere/yard-1")
    #expect(path?.advice?.contains("yard-1") == true)
    let named = failure(fixture) { $0.cases = ["moton"] }
    #expect(named?.code == "suite.select.noCase")
    #expect(named?.advice == "Did you mean 'motion'?")
    let ofSession = failure(fixture) { $0.sessions = ["yard-1/moton"] }
    #expect(ofSession?.code == "suite.select.noCase")
    #expect(ofSession?.advice == "Did you mean 'motion'?")
    let suite = failure(fixture) { $0.suite = "slwo" }
    #expect(suite?.code == "suite.select.noSuite")
    #expect(suite?.advice == "Did you mean 'slow'?")
  }

  @Test func `a glob that fits nothing selects nothing`() throws {
    let fixture = try yard()
    let error = failure(fixture) { $0.sessions = ["attic-*"] }
    #expect(error?.code == "suite.select.nothing")
    #expect(error?.message.contains("attic-*") == true)
  }

  @Test func `a session outside the suite selects nothing`() throws {
    let fixture = try yard()
    let error = failure(fixture) {
      $0.suite = "slow"
      $0.sessions = ["lane"]
    }
    #expect(error?.code == "suite.select.nothing")
  }

  @Test func `nothing recorded and nothing configured selects nothing`() throws {
    let empty = try ProjectFixture()
    #expect(failure(empty) { _ in }?.code == "suite.select.nothing")
    let bare = try ProjectFixture(nil)
    #expect(failure(bare) { _ in }?.message.contains("no retake.yml") == true)
    let caseless = try ProjectFixture("v: 1")
    #expect(failure(caseless) { _ in }?.message.contains("names no cases") == true)
  }

  @Test func `a folder without a session's database is none`() throws {
    let fixture = try yard()
    try fixture.folder.write("", to: "Recordings/notes/README.md")
    #expect(try keys(fixture).count == 3)
  }

  @Test func `a session in the suite's sessions without the named case says so`() throws {
    let fixture = try yard()
    let error = failure(fixture) {
      $0.suite = "slow"
      $0.sessions = ["lane"]
      $0.cases = ["slow"]
    }
    #expect(error?.message.hasSuffix("the suite 'slow' runs none of slow on lane") == true)
  }

  @Test func `two sessions of one name are an error, not one session`() throws {
    let fixture = try yard(nil)
    try fixture.folder.write("", to: "other/lane/session.sqlite")
    let error = failure(fixture) {
      $0.definition = CaseDefinition(name: "own", pipeline: "motion.json")
      $0.sessions = ["lane", "other/lane"]
    }
    #expect(error?.code == "suite.select.sameName")
    let once = try keys(fixture) {
      $0.definition = CaseDefinition(name: "own", pipeline: "motion.json")
      $0.sessions = ["lane", "l*", "Recordings/lane"]
    }
    #expect(once == ["lane/own"])
  }

  @Test(arguments: ["a b", "né", "-x", "a'b"])
  func `a session whose name no golden can have is named, never left out`(name: String) throws {
    let fixture = try yard()
    try fixture.pretend(name)
    let problems = try Selection().resolve(in: fixture.project()).map(\.problem?.code)
    #expect(problems.compactMap(\.self) == ["suite.select.badSessionName"])
    #expect(problems.count == 4)
    #expect(failure(fixture) { $0.sessions = [name] }?.code == "suite.select.badSessionName")
  }

  @Test func `a pattern of many stars ends soon`() throws {
    let fixture = try yard()
    try fixture.pretend(String(repeating: "a", count: 200))
    let pattern = String(repeating: "*a", count: 40) + "b"
    #expect(failure(fixture) { $0.sessions = [pattern] }?.code == "suite.select.nothing")
  }

  @Test(arguments: [
    ("*", "", true), ("*", "abc", true), ("a*c", "abc", true), ("a*c", "abd", false),
    ("*b*", "abc", true), ("a?c", "abc", true), ("a?c", "ac", false), ("", "a", false),
    ("**a**", "cab", true), ("*ab", "aab", true), ("a*b*c", "axbxbxc", true), ("?*", "", false),
  ])
  func `a glob fits as in a shell`(pattern: String, text: String, fits: Bool) throws {
    let fixture = try ProjectFixture("v: 1\ncases: {motion: {pipeline: p}}")
    try fixture.pretend("s-\(text)-e")
    let found = try? keys(fixture) { $0.sessions = ["s-\(pattern)-e"] }
    // Without a star or a question mark it is a name, and a name must exist.
    #expect((found == ["s-\(text)-e/motion"]) == fits)
  }
}
