import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeInference
import RetakeStages
import RetakeTestFrames
import RetakeTestSupport
import Testing

/// Stages with models of others, compared with onnxruntime, OpenCV and NumPy.
@Suite(
  .enabled(
    if: ReferenceModels.hasLibrary, SkipReason.noOnnxRuntime),
  .enabled(if: ReferenceModels.hasJudge, ReferenceModels.noJudge),
  .enabled(if: ReferenceModels.hasCommands, "ffmpeg and ffprobe are not on this machine"))
struct ModelReferenceTests {
  private typealias Answer = [[[[Double]]]]

  private let models: ReferenceModels

  init() throws { models = try ReferenceModels() }

  /// Runs the stage and the judge on the first frames of clips: the judge once for all faults.
  private func agreements(
    _ model: String, clips: [String], frames count: Int, faults: [Fault]
  ) throws -> [BoxAgreement] {
    let path = try models.model(model)
    let files = try clips.map { try #require(sharedMedia($0)) }
    let answer = try models.ask(
      Answer.self, "boxes",
      ["model": path, "sources": files.map { ["clip": $0.path, "frames": count] }])
    try #require(answer.count == files.count)
    return try faults.map { fault in
      var options = ModelOptions(model: path)
      options.input = .object(fault.input)
      let stage = try Detect(options: options)
      var agreement = BoxAgreement()
      for (file, expected) in zip(files, answer) {
        let frames = try ReferenceModels.frames(of: file, count: count)
        try #require(frames.count == count && expected.count == count)
        for (frame, boxes) in zip(frames, expected) {
          agreement.add(try stage.process(fault.change(frame), anyContext).items, expected: boxes)
        }
      }
      return agreement
    }
  }

  private func agreement(
    _ model: String, clips: [String], frames count: Int
  ) throws -> BoxAgreement {
    try #require(try agreements(model, clips: clips, frames: count, faults: [Fault()]).first)
  }

  @Test(
    .enabled(if: fetchedModel("centerface") != nil, ReferenceModels.noModels),
    .enabled(if: sharedMedia("face-eat.mkv") != nil, ReferenceModels.noClips))
  func `faces on 80 frames of five clips are the reference's`() throws {
    // A face in each frame of the first three clips, no face in the others, which have padding.
    let clips = ["face-eat.mkv", "face-help.mkv", "face-book.mkv", "bottles.mp4", "cars.mp4"]
    let agreement = try agreement("centerface", clips: clips, frames: 16)
    #expect(agreement.isClose, "\(agreement)")
    #expect(agreement.frames == 80)
    #expect(agreement.pairs >= 48)
  }

  @Test(
    .enabled(if: fetchedModel("pp-ocrv4-det") != nil, ReferenceModels.noModels),
    .enabled(if: sharedMedia("nasa_13013.mp4") != nil, ReferenceModels.noClips))
  func `texts in a clip are the reference's`() throws {
    let agreement = try agreement(
      "pp-ocrv4-det", clips: ["nasa_13013.mp4", "bottles.mp4"], frames: 20)
    #expect(agreement.isClose, "\(agreement)")
    #expect(agreement.frames == 40)
    #expect(agreement.pairs >= 20)
  }

  /// The effect of a wrong sidecar or of a change of the preprocessing.
  struct Fault: Sendable, CustomTestStringConvertible {
    var testDescription = "none"
    var input: [String: JSONValue] = [:]
    var change: @Sendable (Frame) -> Frame = { $0 }
  }

  static let faults = [
    Fault(testDescription: "colour order", input: ["color_space": .string("BGR")]),
    Fault(testDescription: "scale", input: ["scale_values": .array([.integer(255)])]),
    Fault(testDescription: "size", input: ["size": .array([.integer(640), .integer(384)])]),
    Fault(testDescription: "range") { frame in
      var frame = frame
      frame.range = .limited
      return frame
    },
  ]

  @Test(
    .enabled(if: fetchedModel("centerface") != nil, ReferenceModels.noModels),
    .enabled(if: sharedMedia("face-book.mkv") != nil, ReferenceModels.noClips))
  func `each fault of preprocessing moves faces or their scores out of the tolerance`() throws {
    let found = try agreements(
      "centerface", clips: ["face-book.mkv"], frames: 3, faults: Self.faults)
    for (fault, agreement) in zip(Self.faults, found) {
      #expect(agreement.frames == 3)
      #expect(!agreement.isClose, "\(fault.testDescription): \(agreement)")
    }
  }

  private struct Levels: Decodable {
    var frames: Int
    var largest: Int
    var mean: Double
  }

  /// The model's input for frames of a clip without resizing, compared with cv2.VideoCapture.
  private func levels(_ clip: URL, _ change: (inout Frame) -> Void = { _ in }) throws -> Levels {
    let pictures = models.folder.file("pictures.rgb")
    var bytes = Data()
    for var frame in try ReferenceModels.frames(of: clip, count: 10) {
      change(&frame)
      let picture = Preprocessor(ImageInput(width: frame.width, height: frame.height))
        .picture(frame)
      bytes += picture.bytes(of: 0)
    }
    try bytes.write(to: pictures)
    return try models.ask(Levels.self, "levels", ["clip": clip.path, "rgb": pictures.path])
  }

  @Test(
    .enabled(if: sharedMedia("bottles.mp4") != nil, ReferenceModels.noClips),
    arguments: [
      // Limited range without a matrix, full range without a matrix, limited range with BT.709.
      "bottles.mp4", "face-book.mkv", "nasa_13013.mp4",
    ])
  func `matrix, range and chroma are chosen as OpenCV chooses them`(name: String) throws {
    let clip = try #require(sharedMedia(name))
    let right = try levels(clip)
    #expect(right.frames == 10)
    // libswscale rounds down, and each processor's code otherwise.
    #expect(right.largest <= 4, "\(right)")
    #expect(right.mean <= 2, "\(right)")
    let range = try levels(clip) { $0.range = $0.range == .full ? .limited : .full }
    #expect(range.largest > 8, "\(range)")
    let matrix = try levels(clip) { $0.matrix = $0.matrix == .bt709 ? .bt601 : .bt709 }
    #expect(matrix.largest > 8, "\(matrix)")
  }

  private struct Strings: Decodable {
    var width: Int
    var height: Int
    var texts: [String]
  }

  /// Pictures with one string each, drawn by OpenCV, and the file that they are in.
  private func strings() throws -> (Strings, [Frame], file: String) {
    let file = models.folder.file("strings.rgb")
    let strings = try models.ask(Strings.self, "strings", ["rgb": file.path, "count": 50])
    let bytes = [UInt8](try Data(contentsOf: file))
    let size = 3 * strings.width * strings.height
    try #require(bytes.count == size * 50 && strings.texts.count == 50)
    let frames = (0..<50).map { index in
      Frame(
        format: .rgb, width: strings.width, height: strings.height,
        planes: [Array(bytes[index * size..<(index + 1) * size])])
    }
    return (strings, frames, file.path)
  }

  @Test(.enabled(if: fetchedModel("pp-ocrv4-rec") != nil, ReferenceModels.noModels))
  func `50 drawn strings are found as by the reference, and read`() throws {
    let (strings, frames, file) = try strings()
    let finder = try models.model("pp-ocrv4-det")
    let source: [String: Any] = ["rgb": file, "width": strings.width, "height": strings.height]
    let answer = try models.ask(
      Answer.self, "boxes", ["model": finder, "sources": [source]])
    let stage = try Detect(options: ModelOptions(model: finder))
    let crop = try RegionCrop(options: RegionCropOptions(padding: 0))
    let reader = try Classify(options: ModelOptions(model: try models.model("pp-ocrv4-rec")))
    var agreement = BoxAgreement()
    var (wrong, all) = (0, 0)
    for (index, text) in strings.texts.enumerated() {
      let found = try stage.process(frames[index], anyContext).items
      agreement.add(found, expected: answer[0][index])
      var read = ""
      if let first = found.first, found.count == 1 {
        let region = Region(frame: frames[index], detection: first)
        let classes = try reader.process(try crop.process(region, anyContext), anyContext)
        read = classes.items.first?.label ?? ""
      }
      wrong += distance(read, text)
      all += text.count
    }
    #expect(agreement.isClose && agreement.pairs == 50, "\(agreement)")
    #expect(wrong * 50 <= all, "\(wrong) of \(all) characters are wrong")
  }

  /// The fewest characters that are added, removed or changed between two strings.
  private func distance(_ left: String, _ right: String) -> Int {
    let right = Array(right)
    var row = Array(0...right.count)
    for (y, character) in left.enumerated() {
      let above = row
      row[0] = y + 1
      for x in right.indices {
        row[x + 1] = min(above[x + 1] + 1, row[x] + 1, above[x] + (right[x] == character ? 0 : 1))
      }
    }
    return row[right.count]
  }
}

/// The sidecars that Scripts/fetch-models writes.
@Suite struct FetchedSidecarTests {
  @Test func `the sidecars of the fetched models are valid`() throws {
    let sidecars = try ReferenceModels.sidecars()
    #expect(
      sidecars.keys.sorted() == ["centerface.onnx", "pp-ocrv4-det.onnx", "pp-ocrv4-rec.onnx"])
    for (name, var sidecar) in sidecars {
      sidecar["v"] = 1
      let data = try JSONSerialization.data(withJSONObject: sidecar)
      #expect(try ModelSidecar(data, path: name).values.decoder != nil, "\(name)")
    }
  }
}
