import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeSuite
import RetakeTestProjects
import Testing

/// An invalid retake.yml: where the error is, and its message.
struct WrongProject: Sendable, CustomTestStringConvertible {
  var text: String
  var pointer: String
  var says: String

  init(_ text: String, at pointer: String, _ says: String) {
    self.text = text
    self.pointer = pointer
    self.says = says
  }

  /// With a valid beginning.
  init(body: String, at pointer: String, _ says: String) {
    self.init("v: 1\n\(body)", at: pointer, says)
  }

  /// With an error in a case.
  init(case text: String, at pointer: String, _ says: String) {
    self.init(
      body: "cases: {motion: {pipeline: motion.json, \(text)}}",
      at: "/cases/motion\(pointer)", says)
  }

  /// With an error in an entry of a suite.
  init(entry text: String, at pointer: String, _ says: String) {
    self.init(
      body: "cases: {motion: {pipeline: motion.json}}\nsuites: {default: [\(text)]}",
      at: "/suites/default\(pointer)", says)
  }

  var testDescription: String { text.replacing("\n", with: " ⏎ ") }

  static let all = heads + cases + suites + rules

  private static func zeros(_ count: Int) -> String { String(repeating: "/0", count: count) }

  private static let heads = [
    Self("", at: "", "'v' is missing"),
    Self("cases: {}", at: "", "v: 1"),
    Self("v: 2", at: "/v", "version 2; this Retake reads version 1"),
    Self("v: 2\nmatrix: {}", at: "/v", "version 2; this Retake reads version 1"),
    Self("v: \"1\"", at: "/v", "an integer"),
    Self("- 1", at: "", "an object"),
    Self("hello", at: "", "an object"),
    Self(body: "case: {}", at: "/case", "Did you mean 'cases'?"),
    Self(body: "cases: [1]", at: "/cases", "an object"),
    Self(body: "suites: 3", at: "/suites", "an object"),
    Self(body: "v: 1", at: "", "'v' comes twice"),
    Self(body: "cases: {", at: "", "not YAML"),
    Self(body: "cases: {a: {? [b] : c}}", at: "/cases/a", "a key is not a string"),
    Self(body: "cases: {a: &x {pipeline: p}, b: *x}", at: "/cases/a", "aliases"),
    Self(body: "cases: {a: {pipeline: *x}}", at: "/cases/a/pipeline", "in line 2"),
    Self(
      body: "cases:\n  ? [&a [&b [x, x], *b], *a]\n  : 1", at: "/cases", "a key is not a string"),
    Self(
      body: "cases: " + String(repeating: "[", count: 40), at: "/cases" + zeros(16),
      "nests too deeply"),
    Self(body: "cases: {a: {<<: {pipeline: p}}}", at: "/cases/a/<<", "unknown key"),
    Self(body: "minimumFramesPerSecond: fast", at: "/minimumFramesPerSecond", "a number"),
    Self(body: "minimumFramesPerSecond: -1", at: "/minimumFramesPerSecond", "0 or more"),
    Self(
      body: "compare: {boxes: {iou: 0.5, psnrMin: 38}}", at: "/compare/boxes/psnrMin",
      "no effect in the mode boxes"),
    Self(
      body: "compare: {view: {mode: exact, psnrMin: 38}}", at: "/compare/view/psnrMin",
      "no effect in the mode exact"),
    Self(
      body: "compare: {pulse: {mode: numeric, pictureEvery: 3}}", at: "/compare/pulse/pictureEvery",
      "no effect in the mode numeric"),
    Self(
      body: "compare: {boxes: {iou: 0.9, maskIoUMin: 0.8}}", at: "/compare/boxes/maskIoUMin",
      "maskIoUMin 0.8 is below iou 0.9"),
    Self(body: "allow: {programs: [a]}", at: "/allow/programs", "processes"),
    Self(body: "allow: {processes: python3}", at: "/allow/processes", "an array"),
  ]

  private static let cases = [
    Self(body: "cases: {motion: {}}", at: "/cases/motion", "'pipeline' is missing"),
    Self(body: "cases: {motion: 3}", at: "/cases/motion", "an object"),
    Self(body: "cases: {motion: {pipeline: 3}}", at: "/cases/motion/pipeline", "a string"),
    Self(body: "cases: {../x: {pipeline: p}}", at: "/cases/..~1x", "a case's name"),
    Self(case: "pipelin: x", at: "/pipelin", "Did you mean 'pipeline'?"),
    Self(case: "mode: every-fram", at: "/mode", "Did you mean 'every-frame'?"),
    Self(case: "mode: 3", at: "/mode", "a string"),
    Self(case: "costs: tap", at: "/costs", "timings:FILE"),
    Self(case: "costs: 3", at: "/costs", "a string"),
    Self(case: "mode: simulate, costs: none", at: "/costs", "Write one of: declared"),
    Self(case: "mode: every-frame, costs: timings", at: "/costs", "mode: simulate"),
    Self(case: "costs: declared, strictCosts: true", at: "/strictCosts", "costs: timings"),
    Self(case: "costs: timings, strictCosts: 1", at: "/strictCosts", "true or false"),
    Self(case: "seed: -1", at: "/seed", "0 or more"),
    Self(case: "seed: 1.5", at: "/seed", "an integer"),
    Self(case: "seed: 99999999999999999999", at: "/seed", "is too large"),
    Self(case: "tracks: 0", at: "/tracks", "an object"),
    Self(case: "tracks: {camera: -1}", at: "/tracks/camera", "whole number"),
    Self(case: "tracks: {a/b: 1.5}", at: "/tracks/a~1b", "an integer"),
    Self(case: "tracks: {camera: 1e300}", at: "/tracks/camera", "is too large"),
    Self(case: "precision: {boxes: 3}", at: "/precision/boxes", "an object"),
    Self(case: "overrides: thermal=fair@1s", at: "/overrides", "an array"),
    Self(case: "overrides: []", at: "", "'overrides' is missing or empty"),
    Self(case: "overrides: [3]", at: "/overrides/0", "a string"),
    Self(
      case: "overrides: [thermal=fair@1s, thermal=hot@2s]", at: "/overrides/1",
      "'hot' is not a state"),
    Self(
      case: "overrides: [thermal=fair@1s, thermal=serious@1000ms]", at: "/overrides/1",
      "two for thermal@1s"),
    Self(
      case: "precision: {boxes: {bx: 1}}", at: "/precision/boxes/bx",
      "Did you mean 'box'?"),
    Self(
      case: "precision: {boxes: {box: 0.3}}", at: "/precision/boxes/box", "power of ten"),
    Self(
      case: "precision: {boxes: {score: no}}", at: "/precision/boxes/score", "a number"),
  ]

  private static let suites = [
    Self(
      body: "cases: {}\nsuites: {default: {sessions: [a]}}", at: "/suites/default", "an array"),
    Self(entry: "3", at: "/0", "an object"),
    Self(entry: "{session: [a], cases: [motion]}", at: "/0/session", "Did you mean 'sessions'?"),
    Self(entry: "{cases: [motion]}", at: "/0", "'sessions' is missing"),
    Self(entry: "{sessions: [], cases: [motion]}", at: "/0", "'sessions' is missing"),
    Self(entry: "{sessions: [1], cases: [motion]}", at: "/0/sessions/0", "a string"),
    Self(entry: "{sessions: a, cases: [motion]}", at: "/0/sessions", "an array"),
    Self(
      entry: "{sessions: [a], cases: [motion, moton]}", at: "/0/cases/1", "Did you mean 'motion'?"),
  ]

  private static let rules = [
    Self(body: "compare: 3", at: "/compare", "an object"),
    Self(body: "compare: {boxes: 3}", at: "/compare/boxes", "an object"),
    Self(body: "compare: {boxes: {ioo: 1}}", at: "/compare/boxes/ioo", "Did you mean 'iou'?"),
    Self(body: "compare: {boxes: {iou: -1}}", at: "/compare/boxes/iou", "0 or more"),
    Self(body: "compare: {boxes: {iou: 2}}", at: "/compare/boxes/iou", "0 to 1"),
    Self(body: "compare: {boxes: {iou: .nan}}", at: "/compare/boxes/iou", "a number"),
    Self(body: "compare: {boxes: {score: 1e999}}", at: "/compare/boxes/score", "a finite number"),
    Self(body: "compare: {boxes: {order: some}}", at: "/compare/boxes/order", "not an order"),
    Self(body: "compare: {boxes: {mode: exakt}}", at: "/compare/boxes/mode", "'exact'"),
    Self(body: "compare: {boxes: {unmatchedMax: -1}}", at: "/compare/boxes/unmatchedMax", "whole"),
    Self(body: "compare: {a~/b: {iou: x}}", at: "/compare/a~0~1b/iou", "a number"),
    Self(body: "budgets: {dropedMax: 3}", at: "/budgets/dropedMax", "'droppedMax'"),
    Self(body: "budgets: {droppedMax: 1e300}", at: "/budgets/droppedMax", "is too large"),
    Self(body: "budgets: {droppedMax: 1.5}", at: "/budgets/droppedMax", "an integer"),
  ]
}

@Suite struct ProjectTests {
  private func failure(_ text: String) throws -> SuiteError? {
    let fixture = try ProjectFixture(text)
    return #expect(throws: SuiteError.self) { try fixture.project() }
  }

  @Test(arguments: WrongProject.all)
  func `what is wrong in retake.yml is named with its place and what to do`(
    wrong: WrongProject
  ) throws {
    let error = try #require(try failure(wrong.text))
    #expect(error.code == "suite.project.malformed")
    #expect(error.place?.file == "retake.yml")
    #expect(error.place?.pointer == wrong.pointer)
    #expect(error.description.contains(wrong.says), "\(error.description)")
    #expect(error.advice?.isEmpty == false)
    #expect(error.description.utf8.count < 400)
  }

  @Test func `nesting without end is refused`() throws {
    for depth in [20, 3_000] {
      let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      let error = try #require(try failure("v: 1\ncases: \(nested)"))
      #expect(error.code == "suite.project.malformed")
      #expect(error.description.utf8.count < 400)
      #expect(error.description.contains("nests too deeply"), "\(error.description)")
    }
  }

  @Test func `a small text cannot stand for a huge document`() throws {
    let lines = (1...9).map { level in
      "a\(level): &a\(level) ["
        + [String](repeating: "*a\(level - 1)", count: 9)
        .joined(separator: ", ") + "]"
    }
    let text = "v: 1\na0: &a0 [x]\n" + lines.joined(separator: "\n")
    let error = try #require(try failure(text))
    #expect(error.description.contains("aliases"))
  }

  @Test func `a file that is no text or too large is refused`() throws {
    let fixture = try ProjectFixture(nil)
    let file = fixture.folder.file(Project.fileName)
    try Data([0xff, 0xfe, 0, 0]).write(to: file)
    #expect(throws: SuiteError.self) { try fixture.project() }
    try Data(repeating: UInt8(ascii: " "), count: 2 << 20).write(to: file)
    let error = #expect(throws: SuiteError.self) { try fixture.project() }
    #expect(error?.code == "suite.project.unreadable")
  }

  @Test(arguments: [
    "{mode: boxes, position: 2, psnrMin: 38}", "{position: 2, psnrMin: 38, pictureEvery: 5}",
  ])
  func `a rule of a sink may limit its lines and its images`(rule: String) throws {
    let project = try ProjectFixture("v: 1\ncompare: {road: \(rule)}\n").project()
    let own = try #require(project.compare.bySink["road"])
    #expect(own.mode == .boxes && own.comparesPixels && own.position == 2 && own.psnrMin == 38)
  }

  @Test func `a folder without retake.yml has no cases and all defaults`() throws {
    let project = try ProjectFixture(nil).project()
    #expect(!project.hasFile)
    #expect(project.cases.isEmpty)
    #expect(project.suites.isEmpty)
    #expect(project.goldens.hasSuffix("/Goldens"))
  }

  @Test func `every key reaches the project`() throws {
    let project = try ProjectFixture(
      """
      v: 1
      cases:
        far: {pipeline: p.json, mode: simulate, costs: declared, seed: 7, tracks: {camera: 3},
          precision: {boxes: {box: 0.01, score: 1}},
          overrides: [battery=9@2s, 'swap:motion@frame7,prepare=1ms={"threshold": 30}']}
      suites:
        night: [{sessions: ["a*", b], cases: [far]}]
      compare:
        boxes: {iou: 0.7, position: 0.1, score: 0.01, unmatchedMax: 2, driftPer1000: 0.5,
          order: significant}
        numeric: {scalar: 0.25}
      budgets: {droppedMax: 4}
      minimumFramesPerSecond: 500
      allow: {processes: [python3, ./build/detector]}
      """
    ).project()
    var far = CaseDefinition(name: "far", pipeline: "p.json")
    (far.mode, far.seed, far.tracks) = (.simulate, 7, ["camera": 3])
    far.precision = ["boxes": ["box": 0.01, "score": 1]]
    far.overrides = [
      .event(atNanoseconds: 2_000_000_000, .battery(BatteryState(level: 9))),
      .swap(
        .init(
          at: .frame(track: nil, sequence: 7), node: "motion",
          options: ["threshold": .integer(30)], prepare: .milliseconds(1))),
    ]
    #expect(project.cases == [far])
    #expect(project.suites == ["night": [SuiteEntry(sessions: ["a*", "b"], cases: ["far"])]])
    var boxes = SinkRule(mode: .boxes)
    (boxes.iou, boxes.position, boxes.score) = (0.7, 0.1, 0.01)
    (boxes.unmatchedMax, boxes.driftPer1000, boxes.order) = (2, 0.5, .significant)
    var numeric = SinkRule(mode: .numeric)
    numeric.scalar = 0.25
    #expect(project.compare.bySink == ["boxes": boxes, "numeric": numeric])
    #expect(project.budgets == GoldenManifest.Budgets(droppedMax: 4))
    #expect(project.minimumFramesPerSecond == 500)
    #expect(project.programs == .named(["python3", "./build/detector"]))
  }
}

@Suite struct CaseModeTests {
  @Test(arguments: ["fast", "reproduce"])
  func `a case has no mode of live runs`(mode: String) throws {
    let fixture = try ProjectFixture(
      "v: 1\ncases:\n  motion: {pipeline: motion.json, mode: \(mode)}\n")
    let error = #expect(throws: SuiteError.self) { try fixture.project() }
    #expect(error?.advice == "Known: every-frame, simulate")
  }
}
