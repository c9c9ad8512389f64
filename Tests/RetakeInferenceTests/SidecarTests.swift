import Foundation
import RetakeCore
import RetakeInference
import RetakeTestSupport
import Testing

@Suite struct SidecarTests {
  private func read(_ text: String) throws -> ModelSidecar {
    try ModelSidecar(Data(text.utf8), path: "faces.model.json")
  }

  private static let whole = """
    {"v": 1, "model": "faces.onnx",
     "sha256": "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
     "licence": "MIT", "task": "detect",
     "input": {"name": "input.1", "layout": "NHWC", "size": [640, 480],
               "resize_type": "fit_to_window_letterbox", "pad_value": 114,
               "mean_values": [123.675, 116.28, 103.53], "scale_values": [58.5],
               "reverse_input_channels": false, "interpolation": "nearest"},
     "output": {"decoder": "yolox", "confidence_threshold": 0.4, "iou_threshold": 0.3,
                "max_detections": 100, "agnostic_nms": true, "topk": 3, "strides": [8, 16],
                "pixel_threshold": 0.2, "unclip_ratio": 1.5, "use_dilation": true,
                "classes": ["face"]},
     "labels": ["face", "hand"]}
    """

  @Test func `a sidecar says everything that belongs before and after a model`() throws {
    let sidecar = try read(Self.whole)
    var values = ModelValues()
    values.inputName = "input.1"
    (values.layout, values.size) = (.nhwc, PixelSize(width: 640, height: 480))
    (values.resizeType, values.padValue) = (.fitToWindowLetterbox, 114)
    (values.meanValues, values.scaleValues) = ([123.675, 116.28, 103.53], [58.5])
    (values.colorSpace, values.interpolation) = (.bgr, .nearest)
    (values.decoder, values.confidenceThreshold, values.iouThreshold) = (.yolox, 0.4, 0.3)
    (values.maxDetections, values.isClassAgnostic, values.topK) = (100, true, 3)
    (values.strides, values.pixelThreshold, values.unclipRatio) = ([8, 16], 0.2, 1.5)
    (values.usesDilation, values.labels) = (true, ["face", "hand"])
    values.classes = ["face"]
    #expect(sidecar.values == values)
    #expect(sidecar.model == "faces.onnx" && sidecar.sha256?.hasPrefix("0123") == true)
    #expect(sidecar.licence == "MIT" && sidecar.task == "detect")
  }

  @Test func `nothing has to be said but the version`() throws {
    #expect(try read(#"{"v": 1}"#).values == ModelValues())
    let words = try read(#"{"v": 1, "input": {"color_space": "GRAY"}}"#)
    #expect(words.values.colorSpace == .gray)
    let reversed = try read(#"{"v": 1, "input": {"reverse_input_channels": true}}"#)
    #expect(reversed.values.colorSpace == .rgb)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var json: String
    var pointer: String
    var message: String

    var testDescription: String { json }
  }

  static func input(_ json: String, at pointer: String, _ message: String) -> Refusal {
    Refusal(
      json: "{\"v\": 1, \"input\": {\(json)}}", pointer: "/input\(pointer)", message: message)
  }

  static func output(_ json: String, at pointer: String, _ message: String) -> Refusal {
    Refusal(
      json: "{\"v\": 1, \"output\": {\(json)}}", pointer: "/output\(pointer)", message: message)
  }

  static let refusals: [Refusal] = [
    Refusal(json: "{", pointer: "", message: "a key in quotes"),
    Refusal(json: "[]", pointer: "", message: "must be an object"),
    Refusal(json: "{}", pointer: "", message: "'v' is missing"),
    Refusal(json: #"{"v": 2}"#, pointer: "/v", message: "version 2"),
    Refusal(
      json: #"{"v": 1, "label": []}"#, pointer: "/label", message: "Did you mean 'labels'?"),
    Refusal(json: #"{"v": 1, "sha256": "ABC"}"#, pointer: "/sha256", message: "64 digits"),
    Refusal(json: #"{"v": 1, "labels": []}"#, pointer: "/labels", message: "has no label"),
    output(#""classes": []"#, at: "/classes", "has no label"),
    output(#""classes": "face""#, at: "/classes", "must be an array"),
    Refusal(json: #"{"v": 1, "labels": [""]}"#, pointer: "/labels/0", message: "1 to 200"),
    Refusal(json: #"{"v": 1, "labels": [1]}"#, pointer: "/labels/0", message: "must be a string"),
    input(#""resize": "crop""#, at: "/resize", "Did you mean"),
    input(#""resize_type": "letterbox""#, at: "/resize_type", "is not a resize type"),
    input(#""layout": "CHW""#, at: "/layout", "Did you mean 'NCHW'?"),
    input(#""size": [640]"#, at: "/size", "[width, height]"),
    input(#""size": [640, 0]"#, at: "/size/1", "1 to 8192"),
    input(#""size": [8192, 8192]"#, at: "/size", "at most 16777216 pixels"),
    input(#""pad_value": 256"#, at: "/pad_value", "0 to 255"),
    input(#""pad_value": 0.5"#, at: "/pad_value", "must be an integer"),
    input(#""mean_values": [1, 2]"#, at: "/mean_values", "or three"),
    input(#""mean_values": [1e9]"#, at: "/mean_values/0", "must be -1000000 to 1000000"),
    input(#""scale_values": [0]"#, at: "/scale_values", "above 0"),
    input(#""scale_values": [1, -1, 1]"#, at: "/scale_values", "above 0"),
    input(#""scale_values": 255"#, at: "/scale_values", "must be an array"),
    input(#""reverse_input_channels": 1"#, at: "/reverse_input_channels", "true or false"),
    input(
      #""color_space": "RGB", "reverse_input_channels": true"#, at: "/reverse_input_channels",
      "repeats 'color_space'"),
    input(#""color_space": "YUV""#, at: "/color_space", "is not a color space"),
    input(#""interpolation": "linear""#, at: "/interpolation", "Did you mean 'bilinear'?"),
    output(#""decoder": "yolov8""#, at: "/decoder", "Did you mean 'yolo-v8'?"),
    output(#""confidence_threshold": 1.5"#, at: "/confidence_threshold", "0 to 1"),
    output(#""iou_threshold": -0.1"#, at: "/iou_threshold", "0 to 1"),
    output(#""max_detections": 0"#, at: "/max_detections", "1 to 4096"),
    output(#""agnostic_nms": "no""#, at: "/agnostic_nms", "true or false"),
    output(#""topk": 1001"#, at: "/topk", "1 to 1000"),
    output(#""strides": []"#, at: "/strides", "1 to 8 strides"),
    output(#""strides": [0]"#, at: "/strides/0", "1 to 1024"),
    output(#""pixel_threshold": 2"#, at: "/pixel_threshold", "0 to 1"),
    output(#""unclip_ratio": 11"#, at: "/unclip_ratio", "0 to 10"),
    output(#""use_dilation": 1"#, at: "/use_dilation", "true or false"),
  ]

  @Test(arguments: refusals)
  func `what cannot be meant is refused at its place`(_ it: Refusal) throws {
    let error = try #require(throws: ModelDocumentError.self) { try read(it.json) }
    #expect(error.place?.file == "faces.model.json")
    #expect(error.place?.pointer == it.pointer)
    #expect(error.code.hasPrefix("inference.sidecar."))
    #expect("\(error)".contains(it.message), "\(error)")
    #expect(error.advice != nil)
  }

  @Test func `the sidecar is next to its model`() throws {
    let folder = try TemporaryFolder()
    let model = folder.file("faces.onnx").path
    #expect(ModelSidecar.path(ofModel: model) == folder.file("faces.model.json").path)
    #expect(try ModelSidecar.read(nextTo: model) == nil)
    try folder.write(#"{"v": 1, "licence": "MIT"}"#, to: "faces.model.json")
    #expect(try ModelSidecar.read(nextTo: model)?.licence == "MIT")
  }

  @Test func `a sidecar that cannot be read is not the same as none`() throws {
    let folder = try TemporaryFolder()
    let model = folder.file("faces.onnx").path
    let path = ModelSidecar.path(ofModel: model)
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    let expected = ModelDocumentError.unreadable(path: path, cause: "it is a folder")
    #expect(throws: expected) { try ModelSidecar.read(nextTo: model) }
    try folder.write(
      String(repeating: " ", count: ModelSidecar.bytesMax + 1), to: "large.model.json")
    let error = #expect(throws: ModelDocumentError.self) {
      try ModelSidecar.read(nextTo: folder.file("large.onnx").path)
    }
    #expect(error?.code == "inference.sidecar.unreadable")
  }
}
