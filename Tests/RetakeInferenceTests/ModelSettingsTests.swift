import Foundation
import Testing

@testable import RetakeInference

@Suite struct ModelSettingsTests {
  private func sidecar(_ json: String) throws -> ModelSidecar {
    try ModelSidecar(Data("{\"v\": 1, \(json)}".utf8), path: "m.model.json")
  }

  private func origin(_ settings: ModelSettings, _ key: String) -> ModelSettings.Origin? {
    settings.rows.first { $0.key == key }?.origin
  }

  private static let yolo = [
    "description": "Ultralytics YOLO11n model", "stride": "32", "task": "detect", "batch": "1",
    "imgsz": "[480, 640]", "names": "{0: 'person', 1: \"dog's bed\"}",
  ]

  @Test func `a node is stronger than a sidecar, and a sidecar than the model`() throws {
    let model = FakeModel(shape: [1, 3, 480, 640], metadata: Self.yolo)
    let sidecar = try sidecar(
      #""input": {"pad_value": 0, "scale_values": [1]}, "output": {"iou_threshold": 0.4}"#)
    var options = ModelValues()
    (options.padValue, options.confidenceThreshold) = (7, 0.9)
    let settings = try ModelSettings(of: model, at: "m.onnx", options: options, sidecar: sidecar)
    #expect(settings.input.padValue == 7 && origin(settings, "pad_value") == .node)
    #expect(settings.input.scaleValues == [1] && origin(settings, "scale_values") == .sidecar)
    #expect(settings.input.resizeType == .fitToWindowLetterbox)
    #expect(origin(settings, "resize_type") == .metadata)
    #expect(settings.input.type == .float && origin(settings, "layout") == .shape)
    #expect(settings.input.interpolation == .bilinear)
    #expect(origin(settings, "interpolation") == .standard)
    #expect(settings.decoderName == .yoloV8 && origin(settings, "decoder") == .metadata)
    #expect(settings.decoderSettings.confidenceThreshold == 0.9)
    #expect(settings.decoderSettings.iouThreshold == 0.4)
    #expect(settings.decoderSettings.labels == ["person", "dog's bed"])
    #expect(settings.decoderSettings.maxDetections == 300)
    #expect(origin(settings, "max_detections") == .standard)
  }

  @Test func `rows say what is in force, as a sidecar would`() throws {
    let model = FakeModel(shape: [1, 3, 480, 640], metadata: Self.yolo)
    let rows = try ModelSettings(of: model, at: "m.onnx").rows.map {
      "\($0.key) \($0.value) \($0.origin.rawValue)"
    }
    #expect(
      rows == [
        "name images shape", "layout NCHW shape", "size 640x480 metadata",
        "resize_type fit_to_window_letterbox metadata", "pad_value 114 metadata",
        "mean_values [0.0] default", "scale_values [255.0] metadata", "color_space RGB metadata",
        "interpolation bilinear default", "decoder yolo-v8 metadata",
        "confidence_threshold 0.25 default", "iou_threshold 0.7 default",
        "agnostic_nms false default", "max_detections 300 default",
        "labels person, dog's bed metadata",
      ])
  }

  @Test func `the shape of a model gives its layout, size and channels`() throws {
    let gray = try ModelSettings(
      of: FakeModel(shape: [nil, 48, 320, 1], type: .uint8), at: "m.onnx",
      sidecar: sidecar(#""output": {"decoder": "softmax"}"#))
    #expect(gray.input.layout == .nhwc && gray.input.colorSpace == .gray)
    #expect(gray.input.width == 320 && gray.input.height == 48 && gray.input.type == .uint8)
    #expect(origin(gray, "size") == .shape && origin(gray, "color_space") == .shape)
    let wide = try ModelSettings(
      of: FakeModel(shape: [1, nil, nil, 3]), at: "m.onnx",
      sidecar: sidecar(#""input": {"size": [9, 7]}, "output": {"decoder": "regression"}"#))
    #expect(wide.input.shape == [1, 7, 9, 3] && origin(wide, "confidence_threshold") == nil)
    let open = try ModelSettings(
      of: FakeModel(shape: [1, 3, nil, nil]), at: "m.onnx",
      sidecar: sidecar(#""input": {"size": [96, 64]}, "output": {"decoder": "centerface"}"#))
    #expect(open.input.shape == [1, 3, 64, 96] && open.decoderSettings.labels == ["face"])
    #expect(open.decoderSettings.width == 96 && open.decoderSettings.height == 64)
  }

  struct Refusal: Sendable, CustomTestStringConvertible {
    var shape: [Int?]
    var sidecar: String
    var key: String
    var text: String
    var type: ModelTensor.ElementType? = .float

    var testDescription: String { "\(shape) \(sidecar)" }
  }

  private static let decoder = #""output": {"decoder": "softmax"}"#

  static let refusals: [Refusal] = [
    Refusal(
      shape: [1, 3, 8, 8], sidecar: #""licence": "MIT""#, key: "decoder", text: "m.model.json"),
    Refusal(shape: [1, 3, nil, nil], sidecar: decoder, key: "size", text: "accepts any size"),
    Refusal(
      shape: [1, 3, 8, 8], sidecar: #""input": {"size": [8, 16]}"#, key: "size",
      text: "it is 8x16, and the model reads 8x8"),
    Refusal(
      shape: [1, 3, 30_000, 30_000], sidecar: decoder, key: "size", text: "is too large"),
    Refusal(
      shape: [10, 3, 8, 8], sidecar: decoder, key: "name", text: "' reads 10 frames at once"),
    Refusal(shape: [1, 3], sidecar: decoder, key: "name", text: "2 dimensions"),
    Refusal(shape: [1, 3, 8, 8], sidecar: decoder, key: "name", text: "not of numbers", type: nil),
    Refusal(
      shape: [1, 3, 8, 8], sidecar: #""input": {"name": "image"}"#, key: "name",
      text: "Did you mean 'images'?"),
    Refusal(
      shape: [1, 3, 8, 8], sidecar: #""input": {"color_space": "GRAY"}"#, key: "color_space",
      text: "GRAY has 1 channel, and the model reads 3"),
    Refusal(shape: [1, 4, 8, 8], sidecar: decoder, key: "color_space", text: "reads 4"),
    Refusal(
      shape: [1, 1, 8, 8], sidecar: #""input": {"mean_values": [1, 2, 3]}"#, key: "mean_values",
      text: "3 numbers for 1 channel"),
    Refusal(
      shape: [1, 3, 8, 8],
      sidecar: #""labels": ["face"], "output": {"decoder": "yolox", "classes": ["fce"]}"#,
      key: "classes", text: "Did you mean 'face'?"),
    Refusal(
      shape: [1, 3, 8, 8], sidecar: #""output": {"decoder": "yolox", "classes": ["face"]}"#,
      key: "classes", text: "it has no labels"),
  ]

  @Test(arguments: refusals)
  func `what does not fit the model is refused by its key`(_ it: Refusal) throws {
    let model = FakeModel(shape: it.shape, type: it.type)
    let error = try #require(throws: ModelDocumentError.self) {
      try ModelSettings(of: model, at: "m.onnx", sidecar: sidecar(it.sidecar))
    }
    #expect(error.message.contains("'\(it.key)'") && error.place?.file == "m.onnx")
    #expect("\(error)".contains(it.text), "\(error)")
  }

  @Test func `a model with several inputs is refused, and named`() throws {
    var model = FakeModel(shape: [1, 3, 8, 8])
    model.inputs.append(ModelPort(name: "scale", type: .float, shape: [1]))
    let error = try #require(throws: ModelDocumentError.self) {
      try ModelSettings(of: model, at: "m.onnx")
    }
    #expect("\(error)".contains("images, scale"))
    let named = try #require(throws: ModelDocumentError.self) {
      try ModelSettings(
        of: model, at: "m.onnx", sidecar: sidecar(#""input": {"name": "images"}"#))
    }
    #expect("\(named)".contains("2 inputs"))
  }

  @Test func `the decoder is checked against what the model declares`() throws {
    let settings = try ModelSettings(
      of: FakeModel(shape: [1, 3, 480, 640], metadata: Self.yolo), at: "m.onnx")
    let good = ModelPort(name: "output0", type: .float, shape: [1, 6, 6_300])
    #expect(throws: Never.self) { _ = try settings.decoder(for: [good]) }
    let bad = ModelPort(name: "output0", type: .float, shape: [1, 6_300, 6])
    #expect(throws: DecodingMismatch.self) { _ = try settings.decoder(for: [bad]) }
  }
}

@Suite struct ModelMetadataTests {
  @Test func `Ultralytics says what its predictor does`() {
    var detect = ModelMetadata.values([
      "stride": "32", "names": "{0: 'a'}", "task": "detect", "imgsz": "[320, 640]",
    ])
    #expect(detect.size == PixelSize(width: 640, height: 320))
    #expect(detect.decoder == .yoloV8 && detect.resizeType == .fitToWindowLetterbox)
    #expect(detect.padValue == 114 && detect.scaleValues == [255] && detect.colorSpace == .rgb)
    detect = ModelMetadata.values([
      "stride": "32", "names": "{0: 'a'}", "task": "detect", "args": "{'nms': True}",
    ])
    #expect(detect.decoder == .boxes)
    let classify = ModelMetadata.values([
      "stride": "1", "names": "{0: 'a', 1: 'b'}", "task": "classify",
    ])
    #expect(classify.resizeType == .crop && classify.decoder == .probabilities)
    // YOLOv5 writes only these two.
    let old = ModelMetadata.values(["stride": "32", "names": "{0: 'a'}"])
    #expect(old.decoder == nil && old.resizeType == .fitToWindowLetterbox && old.labels == ["a"])
  }

  @Test func `a text model has its characters, one a line`() {
    let lines = "a\n'\n\u{3000}\n"
    #expect(ModelMetadata.values(["character": lines]).labels == ["a", "'", "\u{3000}"])
    #expect(ModelMetadata.values(["character": "a\r\nb"]).labels == ["a", "b"])
    #expect(ModelMetadata.values(["character": ""]).labels == nil)
  }

  @Test func `the keys of Model API are read`() {
    let values = ModelMetadata.values([
      "model_info labels": "cat dog", "model_info resize_type": "crop",
      "model_info pad_value": "114", "model_info mean_values": "1.5 2 3",
      "model_info scale_values": "255", "model_info reverse_input_channels": "False",
      "model_info confidence_threshold": "0.3", "model_info iou_threshold": "2",
      "model_info model_type": "yolo_v8",
    ])
    #expect(values.labels == ["cat", "dog"] && values.resizeType == .crop)
    #expect(values.padValue == 114 && values.meanValues == [1.5, 2, 3])
    #expect(values.scaleValues == [255] && values.colorSpace == .bgr)
    #expect(values.confidenceThreshold == 0.3 && values.iouThreshold == nil)
    #expect(values.decoder == .yoloV8)
  }

  @Test func `what cannot be read says nothing`() {
    let values = ModelMetadata.values([
      "stride": "32", "names": "{0: 'a', 2: 'c'}", "imgsz": "[0, 640]",
      "model_info pad_value": "300", "model_info mean_values": "1 two 3",
      "model_info resize_type": "stretch", "character": String(repeating: "a", count: 1 << 21),
    ])
    #expect(values.labels == nil && values.size == nil && values.meanValues == nil)
    #expect(ModelMetadata.values([:]) == ModelValues())
  }

  @Test func `the literals of Python are read, and others are not`() {
    #expect(PythonLiteral.names("{1: 'b', 0: 'a'}") == ["a", "b"])
    #expect(PythonLiteral.names(#"{0: "it's", 1: 'a\'b'}"#) == ["it's", "a'b"])
    #expect(PythonLiteral.names("{0: 'a, b: {c}',}") == ["a, b: {c}"])
    for text in [
      "", "{", "{}", "{0: 'a'", "{0: 'a'} x", "{0: a}", "{'0': 'a'}", "{0: 'a', 0: 'b'}", "['a']",
      "{0: 'a", #"{0: 'a\"#, "{0: ''}", "{99999999999999999999: 'a'}",
    ] {
      #expect(PythonLiteral.names(text) == nil, "\(text)")
    }
    #expect(PythonLiteral.integers("[640, 480]") == [640, 480])
    #expect(PythonLiteral.integers("(640,480)") == [640, 480])
    #expect(PythonLiteral.integers("640") == [640, 640])
    for text in ["", "[", "[640", "[a]", "640 x", "[1, 2]]"] {
      #expect(PythonLiteral.integers(text) == nil, "\(text)")
    }
  }
}
