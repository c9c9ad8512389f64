import Foundation
import RetakeTestSupport
import Testing

/// Cases whose session has labels: the words about a changed detector, budgets, acceptance, and
/// `retake compare`. The detector is a file of boxes, so each change of it is exact.
@Suite struct LabelledCaseTests {
  private static let frames = 40

  /// One detection or object; classes are 0 `person` and 1 `dog`.
  struct Item {
    var identity: Int
    var x: Double
    var y: Double
    var width: Double
    var height: Double
    var kind = 0

    /// The same center, other sides.
    func scaled(_ factor: Double) -> Item {
      var item = self
      (item.width, item.height) = (width * factor, height * factor)
      item.x -= (item.width - width) / 2
      item.y -= (item.height - height) / 2
      return item
    }
  }

  typealias Boxes = [[Item]]

  /// A change of the detector, and what it should be called.
  struct Change: Sendable {
    var name: String
    var word: String
    var worst: Int?
    var apply: @Sendable (inout Boxes) -> Void

    static func better(_ name: String, _ apply: @escaping @Sendable (inout Boxes) -> Void) -> Self {
      Self(name: name, word: "better", apply: apply)
    }

    static func worse(
      _ name: String, worst: Int, _ apply: @escaping @Sendable (inout Boxes) -> Void
    ) -> Self {
      Self(name: name, word: "worse", worst: worst, apply: apply)
    }
  }

  /// Three objects that never touch.
  static let truth: Boxes = (0..<frames).map { frame in
    let step = Double(frame)
    return [
      Item(identity: 1, x: 4 + step, y: 6, width: 30, height: 20),
      Item(identity: 2, x: 120 - step, y: 80, width: 24, height: 24, kind: 1),
      Item(identity: 3, x: 60, y: 36 + step / 2, width: 20, height: 18),
    ]
  }

  private static let noise = Item(identity: 9, x: 130, y: 4, width: 20, height: 20)

  /// A detector with one fault of each kind.
  static let detector: Boxes = {
    var boxes = truth
    for frame in 5...9 { boxes[frame].removeFirst() }
    for frame in 12...15 { boxes[frame][0] = boxes[frame][0].scaled(1.2) }
    for frame in 20...22 { boxes[frame].append(noise) }
    for frame in 25...27 { boxes[frame][1].kind = 0 }
    (boxes[30][0].identity, boxes[30][2].identity) = (3, 1)
    return boxes
  }()

  static let changes: [Change] = [
    .better("threshold: finds the person of all frames") { for f in 5...9 { $0[f] = truth[f] } },
    .better("threshold: finds the person of two frames") { for f in 5...6 { $0[f] = truth[f] } },
    .better("threshold: finds the person of frame 7") { $0[7] = truth[7] },
    .better("threshold: finds the person of frame 9") { $0[9] = truth[9] },
    .better("scale: all boxes fit") { for f in 12...15 { $0[f] = truth[f] } },
    .better("scale: all boxes fit better") {
      for f in 12...15 { $0[f][0] = truth[f][0].scaled(1.1) }
    },
    .better("scale: the box of frame 14 fits") { $0[14] = truth[14] },
    .better("noise: no false box") { for f in 20...22 { $0[f] = truth[f] } },
    .better("noise: no false box in frame 21") { $0[21] = truth[21] },
    .better("class: the dog is a dog") { for f in 25...27 { $0[f] = truth[f] } },
    .better("class: the dog of frame 26 is a dog") { $0[26] = truth[26] },
    .better("identities: not swapped") { $0[30] = truth[30] },
    .worse("threshold: loses the dog of frame 33", worst: 33) { $0[33].remove(at: 1) },
    .worse("threshold: loses more in frame 34", worst: 34) {
      $0[33].remove(at: 1)
      $0[34].removeLast(2)
    },
    .worse("threshold: loses all of frame 36", worst: 36) { $0[36] = [] },
    .worse("scale: the box of frame 17 is larger", worst: 17) { $0[17][1] = $0[17][1].scaled(1.3) },
    .worse("scale: the box of frame 18 fits no more", worst: 18) {
      $0[18][1] = $0[18][1].scaled(1.5)
    },
    .worse("scale: all boxes are larger, most in frame 16", worst: 16) {
      for f in 16...19 { $0[f][2] = $0[f][2].scaled(f == 16 ? 1.25 : 1.1) }
    },
    .worse("noise: a false box", worst: 3) { $0[3].append(noise) },
    .worse("noise: most false boxes in frame 2", worst: 2) {
      $0[1].append(noise)
      $0[2] += [noise, Item(identity: 8, x: 4, y: 90, width: 20, height: 20)]
    },
    .worse("class: an object of frame 23 is a dog", worst: 23) { $0[23][2].kind = 1 },
    .worse("class: no dog is found", worst: 0) {
      for f in $0.indices { $0[f].removeAll { $0.kind == 1 } }
    },
    .worse("identities: swapped in frame 37", worst: 37) {
      ($0[37][1].identity, $0[37][2].identity) = (3, 2)
      ($0[38][1].identity, $0[38][2].identity) = (3, 2)
      ($0[39][1].identity, $0[39][2].identity) = (3, 2)
    },
    .worse("identities: one is new in frame 35", worst: 35) {
      for f in 35..<frames { $0[f][0].identity = 40 }
    },
  ]

  private let workplace: Workplace

  init() throws {
    workplace = try Workplace()
    try workplace.record("yard", frames: Self.frames)
    try workplace.folder.write(
      """
      {"v": 1, "name": "watch",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "found", "kind": "detections",
         "options": {"file": "boxes.txt", "classNames": ["person", "dog"]}},
        {"id": "boxes", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "found"}, {"from": "found", "to": "boxes"}]}
      """, to: "watch.json")
    try workplace.folder.write(Self.labels(), to: "Labels/yard.json")
    try write(Self.detector)
  }

  /// - Parameter step: Only every `step`-th frame is labelled.
  private static func labels(step: Int = 1) -> String {
    let labelled = truth.indices.filter { $0 % step == 0 }
    let images = labelled.map { #"{"id": \#($0), "frame": "0:\#($0)"}"# }
    let items = labelled.flatMap { frame in
      truth[frame].map { item in
        """
        {"id": \(frame * 10 + item.identity), "image_id": \(frame), "category_id": \(item.kind + 1), \
        "track_id": \(item.identity), "bbox": [\(item.x), \(item.y), \(item.width), \(item.height)]}
        """
      }
    }
    return """
      {"images": [\(images.joined(separator: ",\n"))],
       "annotations": [\(items.joined(separator: ",\n"))],
       "categories": [{"id": 1, "name": "person"}, {"id": 2, "name": "dog"}]}
      """
  }

  private func write(_ boxes: Boxes, to file: String = "boxes.txt") throws {
    let lines = boxes.enumerated().flatMap { frame, items in
      items.map { item in
        "\(frame + 1),\(item.identity),\(item.x),\(item.y),\(item.width),\(item.height),1,"
          + "\(item.kind),1"
      }
    }
    try workplace.folder.write(lines.joined(separator: "\n") + "\n", to: file)
  }

  private func test(_ options: String...) throws -> CommandResult {
    try workplace.retake(words: ["test", "yard", "--pipeline", "watch.json"] + options)
  }

  private func accept() throws {
    try #require(test().status == 3)
    let accepted = try workplace.retake("accept", "--reason", "first")
    try #require(accepted.status == 0, "\(accepted.stderr)")
  }

  @Test func `each planted change of a detector is called by its name, with its worst frame`()
    throws
  {
    try accept()
    for change in Self.changes {
      var boxes = Self.detector
      change.apply(&boxes)
      try write(boxes)
      let tested = try test()
      #expect(tested.status == 1, "\(change.name): \(tested.stderr)")
      let line = tested.stdout.split(separator: "\n").first { $0.contains("labels: ") }
      let words = String(try #require(line, "\(change.name): \(tested.stdout)"))
      #expect(words.contains("labels: \(change.word): "), "\(change.name): \(words)")
      if let worst = change.worst {
        #expect(words.hasSuffix("worst: frame 0:\(worst)"), "\(change.name): \(words)")
      } else {
        #expect(!words.contains("worst: "), "\(change.name): \(words)")
      }
    }
  }

  @Test func `a golden without a change has metrics, and frames without labels do not count`()
    throws
  {
    try accept()
    let full = try test()
    #expect(full.status == 0, "\(full.stdout)")
    #expect(
      full.stdout.contains("labels  yard/watch  no labelled frame became better or worse; ap50 "),
      "\(full.stdout)")
    // Of the faults, only those of frames 5, 15, 20, 25, 30 and 35 are seen then.
    try workplace.folder.write(Self.labels(step: 5), to: "Labels/yard.json")
    let some = try test("--json").json()
    let labels = some.cases[0].labels
    #expect(labels.labelled.int == 8)
    #expect(labels.frames.items.count == 6)
    let notes = some.cases[0].notes.list.compactMap { $0 as? String }
    #expect(notes.contains { $0.contains("the labels changed") }, "\(notes)")
  }

  @Test func `a budget of a metric fails a case, by its least value and by its loss`() throws {
    try workplace.folder.write(
      """
      v: 1
      cases:
        watch: {pipeline: watch.json}
      suites:
        default:
          - {sessions: ["yard"], cases: [watch]}
      budgets: {ap50: {min: 0.5, dropMax: 0.01}, idSwitches: {max: 4}}
      """, to: "retake.yml")
    try #require(workplace.retake("test").status == 3)
    try #require(workplace.retake("accept", "--reason", "first").status == 0)
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/watch/golden.yml"), encoding: .utf8)
    #expect(
      golden.contains("budgets: {ap50: {min: 0.5, dropMax: 0.01}, idSwitches: {max: 4}}"),
      "\(golden)")
    #expect(golden.contains(#/labels: [0-9a-f]{32}/#), "\(golden)")
    #expect(try workplace.retake("test").status == 0)

    var boxes = Self.detector
    for frame in 31...38 { boxes[frame].removeFirst() }
    try write(boxes)
    let tested = try workplace.retake("test")
    #expect(tested.status == 1)
    #expect(tested.stdout.contains("under budget: ap50.dropMax"), "\(tested.stdout)")
    #expect(!tested.stdout.contains("under budget: ap50.min"), "\(tested.stdout)")

    // A golden that had labels does not pass when they are gone.
    try write(Self.detector)
    try FileManager.default.removeItem(at: workplace.folder.file("Labels/yard.json"))
    let lost = try workplace.retake("test")
    #expect(lost.status == 1)
    #expect(lost.stdout.contains("no labels any more"), "\(lost.stdout)")
  }

  @Test func `a budget names its keys`() throws {
    try workplace.folder.write(
      """
      v: 1
      cases:
        watch: {pipeline: watch.json}
      budgets: {idSwitches: {min: 4}}
      """, to: "retake.yml")
    let tested = try workplace.retake("test", "yard")
    #expect(tested.status == 2)
    #expect(
      tested.stderr.contains("max") && tested.stderr.contains("idSwitches"), "\(tested.stderr)")
  }

  @Test func `only a better result is accepted because it is better`() throws {
    try accept()
    var worse = Self.detector
    worse[33].removeFirst()
    try write(worse)
    try #require(test().status == 1)
    let refused = try workplace.retake("accept", "--if-better")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("[suite.accept.notBetter]"), "\(refused.stderr)")
    #expect(refused.stderr.contains("worse: 0 frames better, 1 worse"), "\(refused.stderr)")

    try write(Self.truth)
    try #require(test().status == 1)
    let accepted = try workplace.retake("accept", "--if-better")
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(
      accepted.stdout.contains("labels: better: 17 frames better, 0 worse"), "\(accepted.stdout)")
    let golden = try String(
      contentsOf: workplace.folder.file("Goldens/yard/watch/golden.yml"), encoding: .utf8)
    #expect(golden.contains("labels: better: 17 frames better"), "\(golden)")
    #expect(try test().status == 0)
  }

  @Test func `a detector that finds no object is not better, though it has no false box`() throws {
    let noise = (0..<6).map {
      Item(identity: 50 + $0, x: Double($0) * 25, y: 100, width: 9, height: 9)
    }
    try write(Self.detector.map { $0 + noise })
    try accept()
    try write([[Item(identity: 1, x: 0, y: 110, width: 4, height: 4)]])
    let tested = try test()
    #expect(tested.stdout.contains("labels: mixed: "), "\(tested.stdout)")
    let refused = try workplace.retake("accept", "--if-better")
    #expect(refused.stderr.contains("[suite.accept.notBetter]"), "\(refused.stderr)")
  }

  @Test func `two pipelines are compared over the sessions that have labels`() throws {
    let old = try String(contentsOf: workplace.folder.file("watch.json"), encoding: .utf8)
    try workplace.folder.write(old.replacing("boxes.txt", with: "new.txt"), to: "new.json")
    try write(Self.truth, to: "new.txt")
    let one = try workplace.retake("compare", "watch.json", "new.json")
    #expect(one.status == 0, "\(one.stderr)")
    #expect(one.stdout.contains("on one session; label more sessions"), "\(one.stdout)")

    for (name, more) in [("gate", 1), ("roof", 2)] {
      try workplace.record(name, frames: Self.frames + more)
      try workplace.folder.write(Self.labels(), to: "Labels/\(name).json")
    }
    let words = ["compare", "watch.json", "new.json", "--json"]
    let outcomes = try [["--workers", "1"], ["--workers", "4"]].map {
      try workplace.retake(words: words + $0).stdout
    }
    #expect(outcomes[0] == outcomes[1])
    let text = try workplace.retake("compare", "watch.json", "new.json").stdout
    #expect(text.contains("new.json is better: ap50 +"), "\(text)")
    let back = try workplace.retake("compare", "new.json", "watch.json").stdout
    #expect(back.contains("watch.json is worse: ap50 -"), "\(back)")
    let same = try workplace.retake("compare", "new.json", "new.json").stdout
    #expect(same.contains("not clearly better or worse"), "\(same)")
    let none = try workplace.retake("compare", "watch.json", "new.json", "garden")
    #expect(none.status == 2 && none.stderr.contains("[suite.compare.noLabels]"), "\(none.stderr)")
  }

  @Test func `a copy of a recording counts once, and labels without a session are named`() throws {
    let recordings = workplace.folder.file("Recordings")
    try FileManager.default.copyItem(
      at: recordings.appending(path: "yard"), to: recordings.appending(path: "twin"))
    for name in ["twin", "ghost"] {
      try workplace.folder.write(Self.labels(), to: "Labels/\(name).json")
    }
    let outcome = try workplace.retake("compare", "watch.json", "watch.json", "--json").json()
    #expect(outcome.sessions.count == 2)
    #expect(outcome.metrics[0].sessions.int == 1)
    let notes = outcome.notes.list.compactMap { $0 as? String }
    #expect(notes.contains { $0.contains("there is no session 'ghost'") }, "\(notes)")
    #expect(notes.contains { $0.contains("yard has the frames of twin") }, "\(notes)")

    try FileManager.default.removeItem(at: workplace.folder.file("Labels/twin.json"))
    try workplace.folder.write(
      Self.labels().replacing(#""frame":"#, with: #""draft": true, "frame":"#),
      to: "Labels/yard.json")
    let drafts = try workplace.retake("compare", "watch.json", "watch.json")
    #expect(drafts.status == 2)
    #expect(drafts.stderr.contains("are drafts, which are not scored"), "\(drafts.stderr)")
  }

  @Test func `a budget that no run can have is refused`() throws {
    let project = """
      v: 1
      cases:
        watch: {pipeline: watch.json}
      suites:
        default:
          - {sessions: ["yard"], cases: [watch]}

      """
    for (budget, words) in [
      ("{ap50: {min: 2}}", "ap50 is at most 1"), ("{idSwitches: {max: -1}}", "is at least 0"),
      ("{ap50: {min: -1}}", "ap50 is at least 0"),
    ] {
      try workplace.folder.write(project + "budgets: \(budget)\n", to: "retake.yml")
      let refused = try workplace.retake("test")
      #expect(refused.status == 2)
      #expect(refused.stderr.contains(words), "\(refused.stderr)")
    }
    try workplace.folder.write(project + "budgets: {textError: {max: 0.1}}\n", to: "retake.yml")
    try #require(workplace.retake("test").status == 3)
    try #require(workplace.retake("accept", "--reason", "first").status == 0)
    let tested = try workplace.retake("test")
    #expect(tested.status == 1)
    #expect(tested.stdout.contains("textError has a budget, and cannot be computed"))
    #expect(tested.stdout.contains("Or remove 'budgets' in retake.yml"), "\(tested.stdout)")
  }

  @Test func `the frames about which two pipelines disagree are found, the largest first`() throws {
    let old = try String(contentsOf: workplace.folder.file("watch.json"), encoding: .utf8)
    try workplace.folder.write(old.replacing("boxes.txt", with: "new.txt"), to: "new.json")
    var boxes = Self.detector
    boxes[33] = []
    boxes[17][0] = boxes[17][0].scaled(1.1)
    try write(boxes, to: "new.txt")
    let found = try workplace.retake("find", "--disagree", "watch.json", "new.json")
    #expect(found.status == 0, "\(found.stderr)")
    let lines = found.stdout.split(separator: "\n").map(String.init)
    #expect(lines.count == 4, "\(lines)")
    #expect(lines[1].hasPrefix("yard") && lines[1].contains(" 0:33 "), "\(lines)")
    #expect(lines[2].contains(" 0:17 "), "\(lines)")
    #expect(lines[3] == "2 of 40 frames differ between watch.json and new.json")
    let same = try workplace.retake("find", "--disagree", "watch.json", "watch.json").stdout
    #expect(same.hasPrefix("0 of 40 frames differ"), "\(same)")
    #expect(try workplace.retake("find", "watch.json", "new.json").status == 64)
  }

  @Test func `a report draws the objects of the labels, and lists frames by their errors`() throws {
    try accept()
    var worse = Self.detector
    worse[33].removeFirst()
    try write(worse)
    _ = try test("--report", "report")
    let page = try String(
      contentsOf: workplace.folder.file("report/report.html"), encoding: .utf8)
    #expect(page.contains(#"data-frame="0:33""#))
    #expect(page.contains("Frames by their errors"))
    let document = try JSON(Data(contentsOf: workplace.folder.file("report/report.json")))
    let pictures = document.cases[0].pictures
    let place = try #require(
      (0..<pictures.count).first { pictures[$0].frame.sequence.int == 33 })
    let boxes = pictures[place].boxes
    let truths = (0..<boxes.count).count { boxes[$0].side.text == "truth" }
    #expect(truths == 3)
  }
}
