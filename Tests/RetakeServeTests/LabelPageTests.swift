import Foundation
import Retake
import RetakeTestSupport
import Testing

@testable import RetakeServe

/// Labels that are corrected in the served page: over HTTP, and in a real browser.
@Suite(.serialized, .onOwnThread) struct LabelPageTests {
  /// A labelled frame, two drafts, and a frame with a number only.
  static let text = """
    {
    "annotations":[
    {"area":1200,"bbox":[10.5,20,40,30],"category_id":1,"id":20001,"image_id":2,"iscrowd":0,"track_id":3},
    {"area":100,"bbox":[80,60,10,10],"category_id":1,"id":30001,"image_id":3,"iscrowd":1}
    ],
    "categories":[
    {"id":1,"name":"car"}
    ],
    "images":[
    {"frame":"0:1","id":1},
    {"draft":true,"file_name":"2.png","frame":"0:2","id":2,"scalars":{"bpm":72.5}},
    {"draft":true,"frame":"0:3","id":3},
    {"boxes":false,"frame":"0:4","id":4,"scalars":{"bpm":70}}
    ]
    }

    """

  private func fixture(
    _ text: String = text, change: (inout ReportServer.Options) -> Void = { _ in }
  ) throws -> ServeFixture {
    try ServeFixture(frames: 6, change: change) { try $0.write(text, to: "Labels/yard.json") }
  }

  private func stored(_ fixture: ServeFixture) throws -> String {
    try String(contentsOf: fixture.folder.file("Labels/yard.json"), encoding: .utf8)
  }

  private func json(_ answer: RawClient.Answer) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: answer.body) as? [String: Any])
  }

  /// Saves frames as the page does, by default with the digest of the labels as they are.
  private func save(
    _ fixture: ServeFixture, _ frames: String, digest: String? = nil,
    _ changes: [String: String?] = [:]
  ) throws -> RawClient.Answer {
    let known = try json(try fixture.get("labels/yard"))["digest"] as? String
    let body = "{\"digest\":\"\(digest ?? known ?? "")\",\"frames\":{\(frames)}}"
    return try fixture.post("labels/yard", body, changes)
  }

  private static let corrected = """
    "0:2":{"boxes":[{"box":{"x":12,"y":20,"width":40,"height":30},"label":"bus","identity":3},\
    {"box":{"x":0,"y":0,"width":9,"height":9.5},"label":"ignore","text":"A"}],"scalars":{"bpm":71}}
    """

  @Test func `the first page counts the labels, and the page of a session has all of them`() throws
  {
    let fixture = try fixture()
    let state = try json(try fixture.get("state.json"))
    let session = try #require((state["sessions"] as? [[String: Any]])?.first)
    #expect(session["labels"] as? [String: Int] == ["frames": 6, "labelled": 2, "drafts": 2])
    let labels = try json(try fixture.get("labels/yard"))
    #expect(labels["classes"] as? [String] == ["car"])
    #expect(labels["isCI"] as? Bool == false)
    #expect(
      labels["tracks"] as? [[String: Int]]
        == [["track": 0, "width": 160, "height": 120, "frames": 6]])
    let frames = try #require(labels["frames"] as? [String: [String: Any]])
    #expect(frames.keys.sorted() == ["0:1", "0:2", "0:3", "0:4"])
    #expect(frames["0:1"]?["draft"] == nil && frames["0:3"]?["draft"] as? Bool == true)
    #expect((frames["0:1"]?["boxes"] as? [Any])?.isEmpty == true)
    #expect(frames["0:4"]?["boxes"] == nil)
    let box = try #require((frames["0:2"]?["boxes"] as? [[String: Any]])?.first)
    #expect(box["box"] as? [String: Double] == ["x": 10.5, "y": 20, "width": 40, "height": 30])
    #expect(box["identity"] as? Int == 3)
  }

  @Test func `a corrected frame is saved as canonical text, without its draft`() throws {
    let fixture = try fixture()
    let answer = try save(fixture, "\(Self.corrected),\"0:3\":{\"boxes\":[]},\"0:4\":null")
    #expect(answer.status == 200, "\(answer.text)")
    let written = """
      {
      "annotations":[
      {"area":1200,"bbox":[12,20,40,30],"category_id":2,"id":20001,"image_id":2,"iscrowd":0,"track_id":3},
      {"area":85.5,"bbox":[0,0,9,9.5],"category_id":3,"id":20002,"image_id":2,"iscrowd":1,"utf8_string":"A"}
      ],
      "categories":[
      {"id":1,"name":"car"},
      {"id":2,"name":"bus"},
      {"id":3,"name":"ignore"}
      ],
      "images":[
      {"frame":"0:1","id":1},
      {"file_name":"2.png","frame":"0:2","id":2,"scalars":{"bpm":71}},
      {"frame":"0:3","id":3}
      ]
      }

      """
    #expect(try stored(fixture) == written)
    let known = try json(answer)
    #expect(known["classes"] as? [String] == ["car", "bus"])
    let digest = try json(try fixture.get("labels/yard"))["digest"] as? String
    #expect(known["digest"] as? String == digest)
  }

  @Test func `a session without labels is labelled`() throws {
    let fixture = try ServeFixture(frames: 6)
    let answer = try save(fixture, #""0:5":{"draft":true,"boxes":[]}"#)
    #expect(answer.status == 200, "\(answer.text)")
    #expect(try stored(fixture).contains("{\"draft\":true,\"frame\":\"0:5\",\"id\":5}"))
  }

  @Test func `labels of another recording are neither shown nor changed`() throws {
    let other = "],\n\"info\":{\"recordings\":{\"0\":\"\(Digest128(of: "other"))\"}}\n}\n"
    let text = Self.text.replacing("]\n}\n", with: other)
    try #require(text != Self.text)
    let fixture = try fixture(text)
    let page = try fixture.get("labels/yard")
    #expect(page.status == 409 && page.code == "labels.recording", "\(page.text)")
    let document = try LabelDocument([UInt8](text.utf8), file: "yard.json")
    let saved = try save(fixture, #""0:2":{"boxes":[]}"#, digest: "\(document.digest)")
    #expect(saved.status == 409 && saved.code == "labels.recording", "\(saved.text)")
    #expect(try stored(fixture) == text)
    #expect(try fixture.get("state.json").text.contains("were made for another recording"))
  }

  @Test(arguments: [
    ("\"x\":160", "no pixel of the frame 0:2"), ("\"x\":-40", "no pixel of the frame 0:2"),
    ("\"x\":12,\"width\":-1", "no area"), ("\"x\":80", "the identity 3 is there twice"),
  ])
  func `an invalid box is refused, and the file stays`(change: String, message: String) throws {
    let fixture = try fixture()
    let box = #"{"box":{"x":12,"y":20,"width":40,"height":30},"label":"car","identity":3}"#
    var other = box.replacing("\"x\":12", with: change)
    if change.contains("width") { other = other.replacing(",\"width\":40", with: "") }
    let boxes = change == "\"x\":80" ? "\(box),\(other)" : other
    let answer = try save(fixture, "\"0:1\":null,\"0:2\":{\"boxes\":[\(boxes)]}")
    #expect(answer.status == 409 && answer.code == "labels.session", "\(answer.text)")
    #expect(answer.text.contains(message), "\(answer.text)")
    #expect(try stored(fixture) == Self.text)
  }

  @Test(arguments: [#""0:6":{"boxes":[]}"#, #""1:0":{"boxes":[]}"#])
  func `a frame that the session does not have is refused`(frames: String) throws {
    let fixture = try fixture()
    #expect(try save(fixture, frames).text.contains("has no frame"))
    #expect(try save(fixture, "\"x\":null").code == "serve.request.malformed")
    #expect(try stored(fixture) == Self.text)
  }

  @Test func `labels that changed since the page read them are not overwritten`() throws {
    let fixture = try fixture()
    let read = try #require(try json(try fixture.get("labels/yard"))["digest"] as? String)
    let other = Self.text.replacing("\"bpm\":70", with: "\"bpm\":69")
    try fixture.folder.write(other, to: "Labels/yard.json")
    let refused = try save(fixture, Self.corrected, digest: read)
    #expect(refused.status == 409 && refused.code == "labels.changed")
    #expect(refused.text.contains("have changed since they were read"))
    #expect(try stored(fixture) == other)
    // Another order of members is the same content.
    try fixture.folder.write(
      Self.text.replacing(#""boxes":false,"frame":"0:4""#, with: #""frame":"0:4","boxes":false"#),
      to: "Labels/yard.json")
    #expect(try save(fixture, Self.corrected, digest: read).status == 200)
  }

  @Test func `another site cannot correct labels, and CI does not`() throws {
    let fixture = try fixture()
    let tries: [[String: String?]] = [
      ["Host": "evil.example"], ["Origin": "http://evil.example"], ["Origin": nil],
      ["X-Retake-Token": nil], ["X-Retake-Token": "0000"], ["Content-Type": "text/plain"],
      ["Sec-Fetch-Site": "cross-site"],
    ]
    for changes in tries {
      let answer = try save(fixture, Self.corrected, changes)
      #expect([400, 403, 421].contains(answer.status), "\(changes)")
    }
    #expect(try fixture.post("labels/..%2fyard", "{}").status == 400)
    #expect(try fixture.client.ask("GET", "/labels/yard").status == 403)
    #expect(try stored(fixture) == Self.text)
    let ci = try self.fixture { $0.isCI = true }
    #expect(try json(try ci.get("labels/yard"))["isCI"] as? Bool == true)
    #expect(try save(ci, Self.corrected).code == "suite.accept.inCI")
    #expect(try stored(ci) == Self.text)
  }

  @Test func `labels that lead out of the project are neither shown nor written`() throws {
    let outside = try TemporaryFolder("retake-outside")
    try outside.write(Self.text, to: "Labels/yard.json")
    let fixture = try ServeFixture(frames: 6) { _ in
    } prepare: { folder in
      try FileManager.default.createSymbolicLink(
        atPath: folder.file("Labels").path, withDestinationPath: outside.file("Labels").path)
    }
    #expect(try fixture.get("labels/yard").code == "serve.request.outside")
    let state = try json(try fixture.get("state.json"))
    let labels = (state["sessions"] as? [[String: Any]])?.first?["labels"] as? [String: Any]
    #expect(labels?["labelled"] as? Int == 0)
    #expect((labels?["error"] as? String)?.contains("lead out of the project") == true)
    let digest = try LabelDocument([UInt8](Self.text.utf8), file: "yard.json").digest
    let refused = try save(fixture, Self.corrected, digest: "\(digest)")
    #expect(refused.code == "serve.request.outside")
    let left = try String(contentsOf: outside.file("Labels/yard.json"), encoding: .utf8)
    #expect(left == Self.text)
  }

  @Test func `a session of two tracks is labelled on both`() throws {
    let fixture = try ServeFixture(frames: 6) { _ in
    } prepare: { folder in
      let made = try runFFmpeg(
        arguments: [
          "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10:duration=0.5", "-f",
          "lavfi", "-i", "testsrc2=size=64x48:rate=10:duration=0.3", "-map", "0", "-map", "1",
          "-c:v", "ffv1", "two.mkv",
        ], folder: folder.url)
      try #require(made.status == 0, "\(made.stderr)")
      _ = try SessionImporter(
        ImportOptions(
          file: folder.file("two.mkv").path, name: "two", into: folder.file("Recordings").path)
      ).run()
    }
    let labels = try json(try fixture.get("labels/two"))
    #expect(
      labels["tracks"] as? [[String: Int]] == [
        ["track": 0, "width": 96, "height": 64, "frames": 5],
        ["track": 1, "width": 64, "height": 48, "frames": 3],
      ])
    let box = #"{"boxes":[{"box":{"x":70,"y":1,"width":9,"height":9},"label":"car"}]}"#
    let digest = try #require(labels["digest"] as? String)
    func save(_ frames: String) throws -> RawClient.Answer {
      try fixture.post("labels/two", "{\"digest\":\"\(digest)\",\"frames\":{\(frames)}}")
    }
    // The second track has fewer columns and fewer frames.
    #expect(try save("\"1:0\":\(box)").text.contains("of 64x48 is in the box"))
    #expect(try save(#""1:3":{"boxes":[]}"#).text.contains("has no frame 1:3"))
    #expect(try save("\"0:0\":\(box),\"1:2\":{\"boxes\":[]}").status == 200)
    let document = try #require(
      try LabelFolder(root: fixture.folder.file("Labels")).document(of: "two"))
    #expect(document.frames.keys.sorted().map(\.description) == ["0:0", "1:2"])
    let state = try json(try fixture.get("state.json"))
    let sessions = try #require(state["sessions"] as? [[String: Any]])
    let two = try #require(sessions.first { $0["name"] as? String == "two" })
    #expect(two["labels"] as? [String: Int] == ["frames": 8, "labelled": 2, "drafts": 0])
  }

  @Test(
    .oneAtATime(.displays),
    .enabled(
      if: Chromium.command != nil, "chromium is not on this machine: Scripts/setup --with-browser"))
  func `a person corrects drafts by mouse and keys`() throws {
    let fixture = try fixture()
    let browser = try Chromium()
    func text(_ id: String) throws -> String {
      try browser.text("document.getElementById('\(id)').textContent")
    }
    try browser.open(fixture.server.address)
    try browser.wait(for: "document.documentElement.classList.contains('ready')")
    #expect(
      try browser.text("document.querySelector('#sessions a').textContent")
        == "Labels: 2 of 6 frames, 2 drafts")
    try browser.click("#sessions a")
    // The first draft.
    try browser.wait(for: "document.getElementById('picture')?.dataset.frame === '0:2'")
    #expect(try text("title") == "Frame 0:2 draft")
    #expect(try text("boxes") == "car #3: 10.5, 20, 40×30")
    try browser.keepScreenshot("labels")

    // A box is drawn over the frame of 160x120, named, and moved; another is moved by ten pixels.
    try browser.drag("#picture", from: (0.5, 0.5), to: (0.75, 0.75))
    #expect(try text("boxes") == "car #3: 10.5, 20, 40×30car: 80, 60, 40×30")
    try browser.click("#label")
    try browser.evaluate("document.getElementById('label').select()")
    try browser.type("bus")
    try browser.evaluate("document.getElementById('picture').focus()")
    try browser.press("ArrowLeft")
    try browser.press("i")
    #expect(try text("boxes") == "car #3: 10.5, 20, 40×30bus, ignored: 79, 60, 40×30")
    try browser.press("a")
    #expect(try text("boxes").hasSuffix("bus: 60, 45, 40×30"))
    try browser.press("u")
    try browser.press("n")
    #expect(try text("title") == "Frame 0:3 draft")
    try browser.press("p")
    #expect(try text("title") == "Frame 0:2 draft, not saved")
    #expect(try stored(fixture) == Self.text)
    try browser.press("Enter")
    try browser.wait(for: "location.hash === '#0:3'")
    #expect(try text("outcome") == "Saved frame 0:2.")
    #expect(try text("summary") == "3 of 6 frames labelled, 1 draft")

    // Without objects, and the file changes meanwhile: no change is lost.
    try fixture.folder.write(
      try stored(fixture).replacing("\"bpm\":70", with: "\"bpm\":69"), to: "Labels/yard.json")
    try browser.press("o")
    try browser.wait(for: "!document.getElementById('reload').hidden")
    #expect(try text("outcome").contains("the labels in the file have changed"))
    try browser.keepScreenshot("labels-changed")
    try browser.click("#reload")
    try browser.wait(for: "document.getElementById('reload').hidden")
    try browser.click("#save")
    try browser.wait(for: "document.getElementById('save').disabled")
    let document = try LabelDocument([UInt8](try stored(fixture).utf8), file: "yard.json")
    #expect(document.labels.drafts == 0)
    #expect(document.frames[FrameID(track: 0, sequence: 3)]?.labels.boxes.isEmpty == true)
    #expect(document.frames[FrameID(track: 0, sequence: 4)]?.labels.scalars == ["bpm": 69])
    let boxes = document.frames[FrameID(track: 0, sequence: 2)]?.labels.boxes
    #expect(
      boxes == [
        LabelBox(
          box: Box(x: 10.5, y: 20, width: 40, height: 30), label: "car", identity: 3),
        LabelBox(
          box: Box(x: 79, y: 60, width: 40, height: 30), label: "bus", isIgnored: true),
      ])

    try browser.resize(390, 844)
    #expect(
      try browser.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth") as? Bool
        == true)
    // Only the refused request, which the browser reports, too.
    #expect(browser.complaints.allSatisfy { $0.contains("409") }, "\(browser.complaints)")
  }
}
