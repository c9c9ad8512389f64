import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestFrames
import RetakeTestSupport
import Testing

/// The files that `detections` reads, in each format.
@Suite struct StoredDetectionsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("stored") }

  private func stage(
    _ text: String, _ change: (inout StoredOptions) -> Void = { _ in }
  ) throws -> StoredDetections {
    // A new name for each text: a file that is in use is not read again.
    let url = try folder.write(text, to: "boxes-\(Digest128(of: Array(text.utf8)))")
    var options = StoredOptions(file: url.path)
    change(&options)
    return try StoredDetections(options: options)
  }

  private func found(
    _ stage: StoredDetections, _ sequence: Int, track: Int = 0, width: Int = 64, height: Int = 48
  ) throws -> Detections {
    let context = StageContext(
      frame: FrameID(track: track, sequence: sequence), timestamp: .zero)
    return try stage.process(dark(width, height, bright: []), context)
  }

  private func code(
    _ text: String, _ change: (inout StoredOptions) -> Void = { _ in }
  ) -> String? {
    do {
      _ = try stage(text, change)
      return nil
    } catch let error as OptionError {
      return "option \(error.key)"
    } catch {
      return error.facts.code
    }
  }

  // MARK: The formats

  @Test(
    arguments: [
      ("1,-1,1.5,2,10,20,0.75\n3,0,0,0,8,8,1\n", 0, nil),
      ("1, -1, 1.5, 2, 10, 20, 0.75, 4, 0.5\r\n\r\n3,7,0,0,8,8,1,2,1", 4, nil),
      ("1,-1,1.5,2,10,20,7.5e-1,-1,-1,-1\n3,7.000e+00,0,0,8,8,1,-1,-1,-1\n", 0, nil),
      ("\u{feff}0,-1,1.5,2,10,20,0.75,4\n2,7,0,0,8,8,1,2\n", 4, 0),
    ] as [(String, Int, Int?)])
  func `MOT text is read by its columns`(text: String, first: Int, base: Int?) throws {
    let stage = try stage(text) { $0.firstFrame = base ?? -1 }
    let box = Box(x: 1.5, y: 2, width: 10, height: 20)
    #expect(
      try found(stage, 0).items == [Detection(box: box, score: 0.75, classIndex: first)])
    #expect(try found(stage, 1).items.isEmpty, "a frame without a line has no detections")
    let second = try found(stage, 2).items
    let identity = text.contains("3,0,") ? 0 : 7
    #expect(second.map(\.identity) == [identity] && second.map(\.classIndex) == [first / 2])
    #expect(try found(stage, 2, track: 1).items == second, "the file names no track")
  }

  private static let images = """
    "images": [{"id": 11, "file_name": "b.png", "width": 64, "height": 48},
     {"id": 5, "file_name": "a.png", "width": 64, "height": 48}, {"id": 12, "file_name": "c.png"}],
    "categories": [{"id": 9, "name": "car"}, {"id": 2, "name": "person"}],
    """

  @Test func `COCO annotations are of the images by name, and classes of the categories by id`()
    throws
  {
    let stage = try stage(
      """
      {\(Self.images) "annotations": [
       {"image_id": 11, "category_id": 9, "bbox": [1, 2, 3.5, 4], "track_id": 3, "score": 0.5},
       {"image_id": 5, "category_id": 2, "bbox": [5, 6, 7, 8]}]}
      """)
    let first = try found(stage, 0)
    #expect(first.classNames == ["person", "car"])
    #expect(
      first.items == [Detection(box: Box(x: 5, y: 6, width: 7, height: 8), score: 1)])
    #expect(
      try found(stage, 1).items == [
        Detection(
          box: Box(x: 1, y: 2, width: 3.5, height: 4), score: 0.5, classIndex: 1, identity: 3)
      ])
    #expect(try found(stage, 2).items.isEmpty)
    let error = #expect(throws: StageError.self) { try found(stage, 0, width: 128) }
    #expect(error?.code == "detections.otherSize" && error?.severity == .unrecoverable)
    #expect(throws: StageError.self) { try found(stage, 0, height: 50) }
    #expect(throws: Never.self) { try stage.requireFrames([0: 3]) }
    for count in [2, 4] {
      #expect(throws: (any Error).self) { try stage.requireFrames([0: count]) }
    }
  }

  @Test func `COCO results are of the frames by image_id once the first is known`() throws {
    let text = #"[{"image_id": 7, "category_id": 3, "bbox": [1, 2, 3, 4], "score": 0.5}]"#
    #expect(code(text) == "stages.detections.firstFrame")
    let stage = try stage(text) { ($0.firstFrame, $0.classNames) = (5, ["a", "b", "c", "d"]) }
    #expect(try found(stage, 2).items.map(\.classIndex) == [3])
    #expect(try found(stage, 0).items.isEmpty && found(stage, 2).classNames.count == 4)
    #expect(try found(try self.stage(text) { $0.firstFrame = 0 }, 7).items.count == 1)
  }

  @Test func `result lines are read by their sink, with identities and labels`() throws {
    let text = """
      {"pts":0,"sequence":0,"sinks":{"boxes":{"detections":[{"box":[1.5,2,3,4],"class":"car",\
      "classIndex":2,"identity":9,"labels":[{"label":"red","score":0.5}],"score":0.25},\
      {"box":[0,0,1,1],"classIndex":0,"score":1}],\
      "fate":"deliver"},"more":{"fate":"deliver"}},"timeNanoseconds":0,"track":1}
      {"pts":1,"sequence":1,"sinks":{"boxes":{"fate":"drop","node":"motion","reason":"queue"}},\
      "timeNanoseconds":1,"track":1}
      {"summary":{"case":"x"}}
      """
    #expect(code(text) == "stages.detections.sink")
    #expect(code(text) { $0.sink = "none" } == "stages.detections.sink")
    let stage = try stage(text) { $0.sink = "boxes" }
    #expect(
      try found(stage, 0, track: 1)
        == Detections(
          [
            Detection(
              box: Box(x: 1.5, y: 2, width: 3, height: 4), score: 0.25, classIndex: 2, identity: 9,
              classes: [Classification(label: "red", score: 0.5)]),
            Detection(box: Box(x: 0, y: 0, width: 1, height: 1), score: 1),
          ], classNames: ["0", "1", "car"]))
    let dropped = #expect(throws: StageError.self) { try found(stage, 1, track: 1) }
    #expect(dropped?.code == "detections.noResult" && dropped?.severity == .recoverable)
    #expect(dropped?.message.hasSuffix("drop motion queue") == true)
    #expect(throws: StageError.self) { try found(stage, 2, track: 1) }
    #expect(throws: (any Error).self, "track 1 is not read") { try stage.requireFrames([0: 9]) }
    #expect(throws: (any Error).self) { try stage.requireFrames([0: 9, 1: 1]) }
    #expect(throws: Never.self) { try stage.requireFrames([1: 2]) }
  }

  // MARK: Refusals

  private static let twice = #"{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}"#

  @Test(arguments: [
    ("", "empty"), (" \n", "empty"), ("frame,id\n", "format"), ("<xml/>", "format"),
    ("0 0.5 0.5 0.1 0.1\n", "format"), ("0 0.5\n1,-1,1,2,3,4,1\n", "format"),
    (#"{"name": 1}"#, "format"), ("\0\0\0", "format"),
    (
      "version https://git-lfs.github.com/spec/v1\noid sha256:"
        + String(repeating: "0", count: 64) + "\nsize 9\n", "pointer"
    ),
    ("1,-1,1,2,3,4\n", "line"), ("1,-1,1,2,3,4,1,1,1,1,1\n", "line"),
    ("1,-1,1,2,3,4,1\n2,-1,1,2,3\n", "line"), ("1,-1,1,2,3,4,1\n2,-1,1,2,3,4,1,5\n", "line"),
    ("0,-1,1,2,3,4,1\n", "line"), ("-3,-1,1,2,3,4,1\n", "format"),
    ("1,-1,1,2,-3,4,1\n", "line"), ("1,-1,nan,2,3,4,1\n", "line"), ("1,-1,inf,2,3,4,1\n", "line"),
    ("1,-1,1e400,2,3,4,1\n", "line"), ("1,-1,1e9,2,3,4,1\n", "line"),
    ("1,-1,0x10,2,3,4,1\n", "line"), ("1,-1,,2,3,4,1\n", "line"), ("1.5,-1,1,2,3,4,1\n", "line"),
    ("1,-2,1,2,3,4,1\n", "line"), ("1,-1,1,2,3,4,1,-1,1\n", "line"),
    ("1,4,1,2,3,4,1\n1,4,5,6,7,8,1\n", "line"), ("1,-1,1,2,3,4,1\n1,-1,1,2,3,4,1\n", "line"),
    ("1000000001,-1,1,2,3,4,1\n", "line"), ("1,-1,-1e9,2,3,4,1\n", "line"),
    ("1,9007199254740993,1,2,3,4,1\n", "line"), ("9999999999999999999,-1,1,2,3,4,1\n", "line"),
    ("1,-1,1,2,3,4,1,70000\n", "line"),
    ("[", "json"), (#"[{"image_id": 1}"#, "json"), (#"{"annotations": [NaN]}"#, "json"),
    (#"{"images": []}"#, "element"), (#"{"annotations": []}"#, "firstFrame"),
    (#"{"images": [{"id": 1}], "annotations": []}"#, "firstFrame"),
    (
      #"{"images": [{"id": 1, "file_name": "2.png"}, {"id": 2, "file_name": "10.png"}]}"#,
      "firstFrame"
    ),
    (#"{"images": [{"id": 1, "file_name": "a"}, {"id": 2, "file_name": "a"}]}"#, "firstFrame"),
    (#"{"images": [{"id": 1, "file_name": "a"}], "annotations": [{"image_id": 2}]}"#, "element"),
    (
      #"{"images": [{"id": 1, "file_name": "a"}], "annotations": [\#(twice), \#(twice)]}"#,
      "element"
    ),
    (#"{"sequence":3000000000,"sinks":{},"track":0}"#, "line"),
    (#"{"pts":0,"sequence":0,"track":0}"#, "line"), (#"{"pts":0,"#, "line"),
    (#"{"summary":{}}"#, "sink"),
  ])
  func `a file that is not of its format is refused by what is wrong`(
    text: String, reason: String
  ) {
    #expect(code(text) == "stages.detections.\(reason)", "\(text)")
  }

  private static func line(_ detection: String, sequence: Int = 0) -> String {
    #"{"sequence":\#(sequence),"sinks":{"boxes":{"detections":[\#(detection)],"fate":"deliver"}},"#
      + #""track":0}"#
  }

  @Test(arguments: [
    #"{"box":[1,2,3],"classIndex":0,"score":1}"#, #"{"box":[1,2,3,4],"classIndex":0,"score":null}"#,
    #"{"box":[1,2,-3,4],"classIndex":0,"score":1}"#, #"{"box":[1,2,3,4],"score":1}"#,
    #"{"box":[1,2,3,4],"classIndex":0,"score":1,"identity":"a"}"#,
    #"{"box":[1,2,3,4],"classIndex":0,"score":1,"labels":[{}]}"#,
    #"{"box":[1,2,3,4],"classIndex":70000,"score":1}"#,
    #"{"box":[1,2,3,4],"class":"a","classIndex":1,"score":1},"#
      + #"{"box":[1,2,3,4],"class":"b","classIndex":1,"score":1}"#,
  ])
  func `a detection of a result line that cannot be used is refused by its line`(
    detection: String
  ) throws {
    let good = Self.line(#"{"box":[1,2,3,4],"classIndex":0,"score":1}"#)
    #expect(code(good) == nil)
    let url = try folder.write(good + "\n" + Self.line(detection, sequence: 1), to: "lines")
    let error = #expect(throws: (any Error).self) {
      try StoredDetections(options: StoredOptions(file: url.path))
    }
    #expect(error?.facts.message.hasPrefix("line 2: ") == true, "\(error as Any)")
    #expect(code(good + "\n" + good) == "stages.detections.line", "the frame is there twice")
  }

  @Test(arguments: [
    (#""bbox": [1, 2, 3, 4], "category_id": 1"#, "/0/score"),
    (#""bbox": [1, 2, 3], "category_id": 1, "score": 1"#, "/0/bbox"),
    (#""bbox": "x", "category_id": 1, "score": 1"#, "/0/bbox"),
    (#""bbox": [1, 2, 3, null], "category_id": 1, "score": 1"#, "/0/bbox/3"),
    (#""bbox": [1, 2, 3, -4], "category_id": 1, "score": 1"#, "/0"),
    (#""bbox": [1, 2, 3, 4], "category_id": 1.5, "score": 1"#, "/0/category_id"),
    (#""segmentation": [], "category_id": 1, "score": 1"#, "/0/bbox"),
    (#""bbox": [1, 2, 3, 4], "category_id": 1, "score": 1, "iscrowd": 1"#, "/0/iscrowd"),
  ])
  func `an element of COCO that cannot be used is refused by its place`(
    members: String, pointer: String
  ) {
    let error = #expect(throws: (any Error).self) {
      try stage(#"[{"image_id": 1, \#(members)}]"#) { $0.firstFrame = 1 }
    }
    #expect(error?.facts.place?.pointer == pointer)
  }

  @Test(arguments: [Int.min, 4, 1_000_000_006, .max])
  func `an image before or after all frames is refused, whatever its id is`(id: Int) {
    let box = #"{"image_id": \#(id), "category_id": 1, "bbox": [1, 2, 3, 4], "score": 1}"#
    for text in ["[\(box)]", #"{"images": [{"id": \#(id)}], "annotations": [\#(box)]}"#] {
      let error = #expect(throws: (any Error).self) { try stage(text) { $0.firstFrame = 5 } }
      #expect(error?.facts.place?.pointer?.hasSuffix("/0/image_id") == true, "\(text)")
      let problem = id < 5 ? "before the first frame, 5" : "above 1000000000"
      #expect(error?.facts.message.hasSuffix(problem) == true, "\(error as Any)")
    }
  }

  @Test func `an option that a format does not have is refused`() {
    #expect(code("1,-1,1,2,3,4,1\n") { $0.sink = "boxes" } == "option sink")
    #expect(code(Self.line("")) { $0.firstFrame = 1 } == "option firstFrame")
    #expect(code("") { $0.format = .mot } == nil, "no frame has a detection")
    #expect(code("1,-1,1,2,3,4,1\n") { $0.classNames = ["a", "a"] } == "option classNames")
    #expect(code("1,-1,1,2,3,4,1\n") { $0.firstFrame = -2 } == "option firstFrame")
    #expect(throws: OptionError.self) { try StoredDetections(options: StoredOptions()) }
    for path in [folder.url.path, folder.file("none").path, "/dev/zero"] {
      let error = #expect(throws: (any Error).self) {
        try StoredDetections(options: StoredOptions(file: path))
      }
      #expect(error?.facts.code == "stages.detections.unreadable")
    }
  }

  @Test func `a box without a pixel in the frame ends the run unless it is kept`() throws {
    let text = "1,-1,-5,-5,10,10,1\n1,-1,60,40,10,10,1\n2,-1,65,0,10,10,1\n"
    let strict = try stage(text)
    #expect(try found(strict, 0).items.count == 2, "these are partly in the frame")
    let error = #expect(throws: StageError.self) { try found(strict, 1) }
    #expect(error?.code == "detections.outside" && error?.severity == .unrecoverable)
    #expect(error?.message.contains("line 3: ") == true)
    for box in ["0,50,10,10", "0,-20,10,10", "-20,0,10,10"] {
      #expect(throws: StageError.self) { try found(try stage("1,-1,\(box),1\n"), 0) }
    }
    #expect(try found(try stage(text) { $0.outside = .keep }, 1).items.count == 1)
    let context = StageContext(frame: FrameID(track: 0, sequence: 0), timestamp: .zero, item: 0)
    #expect(throws: StageError.self) { try strict.process(dark(64, 48, bright: []), context) }
  }

  @Test func `a box without an area ends the run with its line unless it is kept`() throws {
    let text = "1,-1,5,5,10,10,1\n2,-1,5,5,0,10,1\n3,-1,5,5,10,0,1\n"
    let strict = try stage(text)
    #expect(try found(strict, 0).items.count == 1)
    let error = #expect(throws: StageError.self) { try found(strict, 1) }
    #expect(error?.code == "detections.noArea" && error?.message.contains("line 2: ") == true)
    #expect(throws: StageError.self) { try found(strict, 2) }
    #expect(try found(try stage(text) { $0.outside = .keep }, 1).items.count == 1)
    // What a run has returned is returned again.
    let run = try stage(Self.line(#"{"box":[1,2,0,4],"classIndex":0,"score":1}"#))
    #expect(try found(run, 0).items.count == 1)
  }

  @Test func `results that are cut are not said to need a new golden`() throws {
    let cut = String(Self.gold.dropLast(20))
    let url = try folder.write(cut, to: "cut.gold")
    let error = #expect(throws: (any Error).self) {
      try StoredDetections(options: StoredOptions(file: url.path))
    }
    #expect(error?.facts.code.hasPrefix("core.results.") == true)
    let advice = error?.facts.advice ?? ""
    #expect(advice.contains("retake replay") && !advice.contains("accept"), "\(advice)")
  }

  @Test func `a file for more frames than the session has is refused by its first such line`()
    throws
  {
    let stage = try stage("9,-1,1,2,3,4,1\n4,-1,1,2,3,4,1\n8,-1,1,2,3,4,1\n")
    #expect(throws: Never.self) { try stage.requireFrames([0: 9]) }
    let error = #expect(throws: (any Error).self) { try stage.requireFrames([0: 7, 1: 3]) }
    #expect(error?.facts.code == "stages.detections.frames")
    #expect(error?.facts.message.hasPrefix("line 3: the frame 8 is after") == true)
  }

  // MARK: Damage

  @Test func `files with a damaged byte, a cut or a repeated part are read or refused, never more`()
    throws
  {
    let whole = [
      "1,-1,1.5,2,10,20,0.75,4,0.5\n3,7,0,0,8,8,1,2,1\n4,8,1,1,8,8,0.25,2,1\n",
      "{\(Self.images) \"annotations\": [{\"image_id\": 11, \"category_id\": 9, "
        + "\"bbox\": [1, 2, 3.5, 4], \"track_id\": 3, \"score\": 0.5}]}",
      (0..<3).map { Self.line(#"{"box":[1,2,3,4],"classIndex":0,"score":1}"#, sequence: $0) }
        .joined(separator: "\n"),
      Self.gold,
    ]
    var random = SeededGenerator(seed: 7)
    var refused = 0
    for (index, text) in whole.enumerated() {
      for number in 0..<200 {
        var bytes = Array(text.utf8)
        let place = random.pick(0...bytes.count - 1)
        switch random.pick(0...3) {
        case 0: bytes[place] = UInt8(random.pick(0...255))
        case 1: bytes.removeSubrange(place...)
        case 2: bytes.insert(contentsOf: bytes[place...], at: place)
        default: bytes.remove(at: place)
        }
        let url = folder.file("damaged-\(index)-\(number)")
        try Data(bytes).write(to: url)
        do {
          let stage = try StoredDetections(options: StoredOptions(file: url.path))
          for sequence in 0..<5 { _ = try? found(stage, sequence) }
        } catch {
          refused += 1
          #expect(!error.facts.code.hasPrefix("internal"), "\(error)")
        }
      }
    }
    #expect((400..<800).contains(refused), "\(refused)")
  }

  private static let gold = gold([])

  private static func gold(_ labels: [Classification]) -> String {
    var writer = ResultWriter(
      header: ResultHeader(
        key: "yard/boxes", tracks: [.init(0, TimeBase(1, 30))], sinks: ["boxes"],
        classes: ["boxes": ["car"]]),
      sinks: [.init("boxes")])
    for sequence in 0..<3 {
      let box = Detection(
        box: Box(x: 1, y: 2, width: 3, height: 4), score: 0.5, identity: sequence, classes: labels)
      writer.append(
        FrameResult(
          id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence),
          outcomes: [SinkOutcome(sink: "boxes", content: .facts([.detection(box)]))]))
    }
    return String(decoding: writer.finish()?.bytes ?? [], as: UTF8.self)
  }

  @Test func `a golden of several sinks is read by its sink, with frames that ended`() throws {
    let near = Detection(box: Box(x: 1, y: 2, width: 3, height: 4), score: 0.5)
    let far = Detection(box: Box(x: 20, y: 2, width: 3, height: 4), score: 0.5)
    var writer = ResultWriter(
      header: ResultHeader(
        key: "yard/boxes", tracks: [.init(0, TimeBase(1, 30))], sinks: ["all", "boxes"]),
      sinks: [.init("all"), .init("boxes")])
    let contents = [
      SinkOutcome.Content.facts([.detection(far)]), .ended(.failed(code: "late"), node: "motion"),
    ]
    for (sequence, content) in contents.enumerated() {
      writer.append(
        FrameResult(
          id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence),
          outcomes: [
            SinkOutcome(sink: "all", content: .facts([.detection(near)])),
            SinkOutcome(sink: "boxes", content: content),
          ]))
    }
    let text = String(decoding: writer.finish()?.bytes ?? [], as: UTF8.self)
    #expect(code(text) == "stages.detections.sink")
    let stage = try stage(text) { $0.sink = "boxes" }
    #expect(try found(stage, 0).items == [far])
    let error = #expect(throws: StageError.self) { try found(stage, 1) }
    #expect(error?.code == "detections.noResult")
    #expect(error?.message.hasSuffix("fail motion late") == true, "\(error as Any)")
  }

  @Test func `all results files of a golden together have a largest size`() throws {
    let first = try folder.write(Self.gold, to: ResultChunkText.name(0))
    let second = try folder.write("", to: ResultChunkText.name(1))
    let handle = try FileHandle(forWritingTo: second)
    try handle.truncate(atOffset: 64 << 20)
    let error = #expect(throws: (any Error).self) {
      try StoredDetections(options: StoredOptions(file: first.path))
    }
    #expect(error?.facts.code == "stages.detections.unreadable")
    #expect(error?.facts.place?.file == second.path, "\(error as Any)")
  }

  @Test func `results of a golden name their damage`() throws {
    #expect(code(Self.gold) == nil)
    #expect(try found(try stage(Self.gold), 2).items.map(\.identity) == [2])
    #expect(try found(try stage(Self.gold), 2).classNames == ["car"])
    #expect(code(Self.gold.replacing("1.0 2.0", with: "1.0 9.0")) == "core.results.block")
    #expect(code(String(Self.gold.dropLast(9))) == "core.results.cutShort")
    #expect(code(Self.gold) { $0.sink = "other" } == "stages.detections.sink")
    #expect(code(Self.gold.replacing("#retake 1", with: "#retake 9")) == "core.results.version")
    let labels = { Self.gold([Classification(label: "red", score: $0)]) }
    #expect(try found(try stage(labels(0.5)), 0).items[0].classes.map(\.label) == ["red"])
    #expect(code(labels(.nan)) == "stages.detections.frames")
  }
}
