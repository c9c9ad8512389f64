import Foundation
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeTestSupport
import Testing

@Suite struct LabelFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private let footage = LabelFootage(
    session: "yard", track: 0, frames: 10, width: 200, height: 100,
    times: (0..<10).map { 40_000_000 * $0 })

  private func read(
    _ text: String, as name: String = "labels.txt", _ change: (inout LabelImport) -> Void = { _ in }
  ) throws -> LabelDocument {
    var labels = LabelImport(try folder.write(text, to: name).path)
    change(&labels)
    return try labels.document(for: footage)
  }

  private func frame(_ sequence: Int) -> FrameID { FrameID(track: 0, sequence: sequence) }

  /// `label identity [x, y, width, height]`, with `!` for an ignored region, by frame.
  private func boxes(_ document: LabelDocument) -> [Int: [String]] {
    Dictionary(
      uniqueKeysWithValues: document.frames.map { id, frame in
        (
          id.sequence,
          frame.labels.boxes.map {
            ($0.isIgnored ? "!" : "") + $0.label + ($0.identity.map { " \($0)" } ?? "")
              + ($0.text.map { " '\($0)'" } ?? "")
              + " \([$0.box.x, $0.box.y, $0.box.width, $0.box.height].map { Int($0.rounded()) })"
          }
        )
      })
  }

  // MARK: The stored form

  @Test func `a document is written with a line for each box, and read again`() throws {
    var document = LabelDocument()
    document.classes = ["car", "plate"]
    document.recordings = [0: Digest128(of: "a")]
    var seen = LabelDocument.Frame(
      FrameLabels(
        boxes: [
          LabelBox(box: Box(x: 1.5, y: 2, width: 3, height: 4), label: "plate", text: "AÄ\"1"),
          LabelBox(box: Box(x: 0, y: 0, width: 9, height: 9), label: "ignore", isIgnored: true),
          LabelBox(box: Box(x: 5, y: 6, width: 7, height: 8), label: "car", identity: 3),
        ], scalars: ["bpm": 72.5]))
    seen.imageName = "frame_000012.png"
    document.frames[frame(12)] = seen
    document.frames[frame(3)] = LabelDocument.Frame()
    document.frames[frame(4)] = LabelDocument.Frame(FrameLabels(hasBoxes: false))
    document.frames[frame(5)] = LabelDocument.Frame(isDraft: true)
    let text = document.text
    #expect(
      text == """
        {
        "annotations":[
        {"area":12,"bbox":[1.5,2,3,4],"category_id":2,"id":120001,"image_id":12,"iscrowd":0,\
        "utf8_string":"AÄ\\"1"},
        {"area":81,"bbox":[0,0,9,9],"category_id":3,"id":120002,"image_id":12,"iscrowd":1},
        {"area":56,"bbox":[5,6,7,8],"category_id":1,"id":120003,"image_id":12,"iscrowd":0,\
        "track_id":3}
        ],
        "categories":[
        {"id":1,"name":"car"},
        {"id":2,"name":"plate"},
        {"id":3,"name":"ignore"}
        ],
        "images":[
        {"frame":"0:3","id":3},
        {"boxes":false,"frame":"0:4","id":4},
        {"draft":true,"frame":"0:5","id":5},
        {"file_name":"frame_000012.png","frame":"0:12","id":12,"scalars":{"bpm":72.5}}
        ],
        "info":{"recordings":{"0":"\(Digest128(of: "a"))"}}
        }

        """)
    #expect(try LabelDocument(Array(text.utf8), file: "yard.json") == document)
    #expect(document.labels.drafts == 1)
    #expect(document.labels.frames.keys.sorted() == [3, 4, 12].map(frame))
    let labels = LabelFolder(root: folder.file("Labels"))
    #expect(try labels.document(of: "yard") == nil)
    try labels.write(document, of: "yard")
    #expect(try labels.document(of: "yard") == document)
  }

  @Test func `tracks have images of their own`() throws {
    var document = LabelDocument()
    for track in [0, 2] {
      for sequence in 0..<3 {
        document.frames[FrameID(track: track, sequence: sequence)] = LabelDocument.Frame(
          FrameLabels(boxes: [
            LabelBox(box: Box(x: 1, y: 2, width: 3, height: Double(4 + track)), label: "car")
          ]))
      }
    }
    document.note("car")
    #expect(try LabelDocument(Array(document.text.utf8), file: "yard.json") == document)
  }

  // MARK: Formats

  @Test func `MOT labels the frames from its first to its last line`() throws {
    let text = """
      2,4,10,20,30,40,1,1,0.9
      4,4,12,20,30,40,1,1,1
      4,5,90,20,30,40,0,8,1

      """
    let document = try read(text) { $0.classes = [1: "person"] }
    #expect(
      boxes(document) == [
        1: ["person 4 [10, 20, 30, 40]"], 2: [],
        3: ["person 4 [12, 20, 30, 40]", "!ignore [90, 20, 30, 40]"],
      ])
    #expect(document.classes == ["person"])
    #expect(error { _ = try read(text) }.hasPrefix("labels.unclear the class 1 has no name"))
  }

  @Test func `COCO labels the images that it lists`() throws {
    let text = """
      {"images": [
        {"id": 7, "file_name": "b.png", "width": 200, "height": 100}, {"id": 9, "file_name": "c.png"}],
       "categories": [{"id": 4, "name": "plate"}],
       "annotations": [
        {"id": 1, "image_id": 7, "category_id": 4, "bbox": [1, 2, 3, 4], "utf8_string": "AB"},
        {"id": 2, "image_id": 7, "category_id": 4, "bbox": [5, 6, 7, 8], "iscrowd": 1}]}
      """
    let document = try read(text) { $0.firstFrame = 5 }
    #expect(boxes(document) == [2: ["plate 'AB' [1, 2, 3, 4]", "!plate [5, 6, 7, 8]"], 4: []])
    #expect(error { _ = try read(text) }.hasPrefix("labels.session the file has 2 images"))
  }

  @Test func `CVAT for images has boxes with attributes`() throws {
    let text = """
      <?xml version="1.0" encoding="utf-8"?>
      <annotations><version>1.1</version>
        <!-- <box> --><meta><task><name>a &amp; b</name></task></meta>
        <image id="3" name="f_000003.png" width="200" height="100">
          <box label="plate" source="manual" occluded="0" xtl="10.00" ytl="20.00" xbr="40.00"
            ybr="30.00" z_order="0">
            <attribute name="text">A&lt;&#66;&#x43;</attribute>
            <attribute name="track_id">6</attribute>
          </box>
          <box label="ignore" xtl="0" ytl="0" xbr="9" ybr="9"/>
          <box label="car" xtl="0" ytl="0" xbr="5" ybr="5"><attribute name="ignore">true</attribute></box>
        </image>
        <image id="4" name="f_000004.png" width="200" height="100"/>
      </annotations>
      """
    let document = try read(text)
    #expect(
      boxes(document) == [
        3: [
          "plate 6 'A<BC' [10, 20, 30, 10]", "!ignore [0, 0, 9, 9]", "!car [0, 0, 5, 5]",
        ], 4: [],
      ])
    #expect(document.classes == ["plate", "car"])
  }

  private let video = """
    <annotations><meta><job><start_frame>0</start_frame><stop_frame>6</stop_frame>
      <frame_filter>step=2</frame_filter><mode>interpolation</mode>
      <original_size><width>200</width><height>100</height></original_size></job></meta>
      <track id="1" label="car" source="manual">
        <box frame="0" outside="0" keyframe="1" xtl="1" ytl="2" xbr="4" ybr="6"/>
        <box frame="2" outside="0" keyframe="0" xtl="2" ytl="2" xbr="5" ybr="6"/>
        <box frame="4" outside="1" keyframe="1" xtl="2" ytl="2" xbr="5" ybr="6"/>
      </track>
    </annotations>
    """

  @Test func `CVAT for video labels the frames of its task`() throws {
    #expect(
      boxes(try read(video)) == [
        0: ["car 1 [1, 2, 3, 4]"], 2: ["car 1 [2, 2, 3, 4]"], 4: [], 6: [],
      ])
    // A track of keyframes alone has gaps.
    let gap = error { _ = try read(video.replacing("step=2", with: "")) }
    #expect(gap.contains("line 6: the track 1 has no box in the frame 1"))
    #expect(
      error { _ = try read(video.replacing("<width>200", with: "<width>100")) }
        .contains("original_size: the labels are for images of 100x100"))
  }

  @Test func `YOLO has a file for each labelled frame`() throws {
    try folder.write("names:\n  0: car\n  1: person\n", to: "data/data.yaml")
    try folder.write("1 0.5 0.5 0.1 0.2\n", to: "data/labels/f_000005.txt")
    try folder.write("", to: "data/labels/f_000008.txt")
    var labels = LabelImport(folder.file("data/labels").path)
    #expect(
      error { _ = try labels.document(for: footage) }.contains("2 text files for 10 frames"))
    labels.firstFrame = 1
    #expect(
      boxes(try labels.document(for: footage)) == [4: ["person [90, 40, 20, 20]"], 7: []])
    labels.classes = [1: "cat"]
    #expect(try labels.document(for: footage).classes == ["cat"])
  }

  @Test func `a table has numbers of frames, or of the nearest times`() throws {
    let frames = try read("frame,bpm,spo2\n3,72.5,\n4,73,98\n")
    #expect(
      frames.frames.mapValues(\.labels.scalars) == [
        frame(3): ["bpm": 72.5], frame(4): ["bpm": 73, "spo2": 98],
      ])
    #expect(frames.frames.values.allSatisfy { !$0.labels.hasBoxes })
    // 95 ms is nearer to the frame at 80 ms than 110 ms, which comes to the frame at 120 ms.
    let times = try read("time_ms,bpm\n0,70\n95,71\n99.9,72\n110,73\n379,74\n")
    #expect(
      times.frames.mapValues { $0.labels.scalars["bpm"] } == [
        frame(0): 70, frame(2): 71, frame(3): 73, frame(9): 74,
      ])
    #expect(error { _ = try read("time_ms,bpm\n400,70\n") }.contains("no frame is at 400ms"))
    #expect(error { _ = try read("time,bpm\n1,70\n") }.contains("Name the unit"))
  }

  private func error(_ body: () throws -> Void) -> String {
    do {
      try body()
    } catch let error as any CodedError {
      return "\(error.code) \(error.message) \(error.advice ?? "")"
    } catch {}
    return ""
  }

  @Test(arguments: [
    ("11,1,1,1,5,5,1,1,1", "the session 'yard' has no frame 0:10"),
    ("1,1,200,1,5,5,1,1,1", "line 1: no pixel of the frame 0:0"),
    ("1,1,20,1,0,5,1,1,1", "line 1: the box has no area"),
    ("1,1,1,1,5,5,1,1,1\n1,1,1,1,6,6,1,1,1", "line 2: the identity 1 is there twice"),
    ("hello", "begins like none of the formats"), ("<svg/>", "it begins with <svg>"),
    ("<annotations><image id=\"1\" width=\"200\" height=\"100\">", "the file ends inside <image>"),
    (
      "<annotations><image id=\"1\" width=\"9\" height=\"9\"></image></annotations>",
      "line 1: the labels are for images of 9x9"
    ),
    (
      "<annotations><image id=\"1\" width=\"200\" height=\"100\"><polygon/></image></annotations>",
      "a polygon is not a box"
    ),
  ])
  func `what does not fit is named`(text: String, message: String) {
    let found = error { _ = try read(text) { $0.classes = text.first == "1" ? [1: "a"] : [:] } }
    #expect(found.contains(message), "\(found)")
  }

  // MARK: Correcting

  @Test func `a corrected frame passes the checks of an import, and the others stay`() throws {
    var document = LabelDocument()
    document.classes = ["car"]
    var draft = LabelDocument.Frame(isDraft: true)
    draft.imageName = "3.png"
    document.frames = [frame(3): draft, frame(4): draft, frame(5): draft]
    func box(_ x: Double, _ label: String = "bus", _ identity: Int? = nil) -> LabelBox {
      LabelBox(box: Box(x: x, y: 1, width: 5, height: 5), label: label, identity: identity)
    }
    func correct(_ boxes: [LabelBox], _ id: FrameID? = nil) throws -> LabelDocument {
      var result = document
      let corrected = LabelDocument.Frame(FrameLabels(boxes: boxes))
      try result.correct([id ?? frame(3): corrected, frame(4): nil], footage: [footage], file: "f")
      return result
    }
    let result = try correct([box(1, "bus", 7), box(9)])
    #expect(result.classes == ["car", "bus"])
    #expect(result.frames.keys.sorted() == [frame(3), frame(5)])
    #expect(result.frames[frame(3)]?.isDraft == false)
    #expect(result.frames[frame(3)]?.imageName == "3.png")
    #expect(try LabelDocument(Array(result.text.utf8), file: "f") == result)
    let wrong: [([LabelBox], String)] = [
      ([box(1), box(200)], "box 2: no pixel of the frame 0:3"),
      ([box(1), box(1)], "box 2: the same"),
      ([box(1, "a", 7), box(9, "b", 7)], "box 2: the identity 7 is there twice"),
      ([box(1, "")], "box 1: the box has no class"), ([box(.nan)], "is not finite"),
    ]
    for (boxes, message) in wrong {
      let found = error { _ = try correct(boxes) }
      #expect(found.contains(message), "\(found)")
    }
    for id in [frame(10), FrameID(track: 1, sequence: 0)] {
      #expect(error { _ = try correct([], id) }.contains("has no frame \(id)"))
    }
  }

  @Test func `labels are changed only if they are as they were seen`() throws {
    let labels = LabelFolder(root: folder.file("Labels"))
    let empty = LabelDocument().digest
    let first = try labels.change("yard", seen: empty) { $0.frames[frame(1)] = .init() }
    #expect(try labels.document(of: "yard") == first)
    #expect(
      error { _ = try labels.change("yard", seen: empty) { $0.frames = [:] } }
        .hasPrefix("labels.changed"))
    #expect(try labels.document(of: "yard") == first)
    _ = try labels.change("yard", seen: first.digest) { $0.frames[frame(2)] = .init() }
    #expect(try labels.document(of: "yard")?.frames.count == 2)
  }

  // MARK: Merging

  @Test func `boxes and numbers are added to each other, and replaced on demand`() throws {
    let boxes = try read("1,1,1,1,5,5,1,1,1\n3,1,1,1,5,5,1,1,1") { $0.classes = [1: "car"] }
    let numbers = try read("frame,bpm\n2,70\n5,71\n")
    var old = LabelDocument()
    old.frames[frame(0)] = LabelDocument.Frame(isDraft: true)
    old.frames[frame(8)] = LabelDocument.Frame(isDraft: true)
    func adding(
      _ other: LabelDocument, to document: LabelDocument, replaces: Bool = false
    ) throws -> LabelDocument {
      try document.adding(other, track: 0, replaces: replaces, file: "yard.json")
    }
    let both = try adding(numbers, to: try adding(boxes, to: old))
    #expect(both.labels.frames.keys.sorted() == [0, 1, 2, 5].map(frame))
    #expect(both.labels.drafts == 1)
    #expect(both.frames[frame(2)]?.labels.boxes.count == 1)
    #expect(both.frames[frame(2)]?.labels.scalars == ["bpm": 70])
    #expect(error { _ = try adding(boxes, to: both) }.hasPrefix("labels.exists"))
    #expect(error { _ = try adding(numbers, to: both) }.contains("numbers named 'bpm'"))
    let others = try read("2,1,1,1,5,5,1,1,1") { $0.classes = [1: "bus"] }
    let replaced = try adding(others, to: both, replaces: true)
    #expect(replaced.classes == ["bus"])
    #expect(replaced.labels.frames.keys.sorted() == [1, 2, 5].map(frame))
    #expect(replaced.frames[frame(2)]?.labels == FrameLabels(hasBoxes: false, scalars: ["bpm": 70]))
  }
}
