package import Foundation
package import RetakeCore
import RetakeMedia

/// `NAME.model.json` next to `NAME.onnx`: the processing before and after a model.
///
/// The names of keys come from OpenVINO's Model API. docs/models.md describes each key.
package struct ModelSidecar: Hashable, Sendable {
  /// The largest document that is read, in bytes.
  package static let bytesMax = 1 << 20
  /// The longest label, in characters.
  static let labelLengthMax = 200

  /// The name of the model's file, if the document has it.
  package private(set) var model: String?
  /// SHA-256 of the model's file in lowercase hexadecimal digits, if the document has it.
  package private(set) var sha256: String?
  package private(set) var licence: String?
  package private(set) var task: String?
  package private(set) var values = ModelValues()
  /// SHA-256 of the document itself.
  package let documentSHA256: String

  /// The sidecar of a model: `faces.model.json` for `faces.onnx`.
  package static func path(ofModel path: String) -> String {
    (path.hasSuffix(".onnx") ? String(path.dropLast(5)) : path) + ".model.json"
  }

  /// Reads the sidecar of a model; `nil` if there is no sidecar.
  package static func read(nextTo model: String) throws -> ModelSidecar? {
    let path = path(ofModel: model)
    let data: Data
    do {
      data = try RegularFile.contents(path, links: .followed, bytesMax: Int64(bytesMax))
    } catch RegularFile.Refusal.missing {
      return nil
    } catch {
      throw ModelDocumentError.unreadable(path: path, cause: error.causeText)
    }
    return try ModelSidecar(data, path: path)
  }

  /// Checks the digest of the model's file against the digest in the document, if the document has
  /// it.
  package func check(sha256 own: String, ofModel path: String) throws {
    guard let expected = sha256, expected != own else { return }
    throw ModelDocumentError.contradiction(model: path, key: "sha256", "the file's own is \(own)")
  }

  /// - Throws: `ModelDocumentError.sidecar` with the JSON pointer of the problem.
  package init(_ data: Data, path: String) throws {
    do {
      try self.init(
        SidecarDecoder(parsing: data, bytesMax: Self.bytesMax), sha256: Sha256.digest(of: data))
    } catch let error as DocumentProblem {
      throw ModelDocumentError.sidecar(path: path, error)
    }
  }

  private init(
    _ decoder: SidecarDecoder, sha256 documentSHA256: String
  ) throws {
    self.documentSHA256 = documentSHA256
    let document = try decoder.document([
      "model", "sha256", "licence", "task", "input", "output", "labels",
    ])
    model = try document["model"]?.string()
    if let given = document["sha256"] {
      let digest = try given.string()
      let digits = "0123456789abcdef"
      guard digest.count == 64, digest.allSatisfy(digits.contains) else {
        throw given.wrong(
          "a SHA-256 has 64 digits of 0-9 and a-f", advice: "Run 'sha256sum' on the model")
      }
      sha256 = digest
    }
    licence = try document["licence"]?.string()
    task = try document["task"]?.string()
    if let input = document["input"] { try values.read(input: input) }
    if let output = document["output"] { try values.read(output: output) }
    values.labels = try document["labels"]?.labels()
  }
}

private typealias SidecarDecoder = StrictDecoder<DocumentProblem>

extension ModelValues {
  /// The keys of `input`.
  package mutating func read(
    input decoder: StrictDecoder<DocumentProblem>
  ) throws {
    let input = try decoder.object([
      "name", "layout", "size", "resize_type", "pad_value", "mean_values", "scale_values",
      "reverse_input_channels", "color_space", "interpolation",
      "features",
    ])
    inputName = try input["name"]?.string()
    layout = try input["layout"]?.choice("a layout")
    size = try input["size"]?.size()
    resizeType = try input["resize_type"]?.choice("a resize type")
    padValue = try (input["pad_value"]?.integer(in: 0...255, "a pad value is 0 to 255"))
      .map { UInt8($0) }
    meanValues = try input["mean_values"]?.channelValues()
    scaleValues = try input["scale_values"]?.scales()
    colorSpace = try input["color_space"]?.choice("a color space")
    interpolation = try input["interpolation"]?.choice("an interpolation")
    features = try input["features"]?.labels()
    guard let reversed = input["reverse_input_channels"] else { return }
    // One fact has one key, or a reader of the document has to know which of them counts.
    guard colorSpace == nil else {
      throw reversed.wrong(
        "repeats 'color_space'",
        advice: "Remove one of them; \"reverse_input_channels\": true is \"color_space\": \"RGB\"")
    }
    colorSpace = try reversed.bool() ? .rgb : .bgr
  }

  /// The keys of `output`.
  package mutating func read(
    output decoder: StrictDecoder<DocumentProblem>
  ) throws {
    let output = try decoder.object([
      "decoder", "confidence_threshold", "iou_threshold", "max_detections", "agnostic_nms", "topk",
      "strides", "pixel_threshold", "unclip_ratio", "use_dilation", "classes",
    ])
    self.decoder = try output["decoder"]?.choice("a decoder")
    confidenceThreshold = try output["confidence_threshold"]?.fraction()
    iouThreshold = try output["iou_threshold"]?.fraction()
    maxDetections = try output["max_detections"]?.integer(
      in: 1...4_096, "the number of detections is 1 to 4096")
    isClassAgnostic = try output["agnostic_nms"]?.bool()
    topK = try output["topk"]?.integer(in: 1...1_000, "the number of labels is 1 to 1000")
    strides = try output["strides"]?.strides()
    pixelThreshold = try output["pixel_threshold"]?.fraction()
    unclipRatio = try output["unclip_ratio"]?.number(in: 0...10)
    usesDilation = try output["use_dilation"]?.bool()
    classes = try output["classes"]?.labels()
  }
}

extension SidecarDecoder {
  fileprivate func number(in range: ClosedRange<Double>) throws -> Double {
    let number = try number()
    guard range.contains(number) else {
      throw wrong("must be \(Int(range.lowerBound)) to \(Int(range.upperBound))")
    }
    return number
  }

  fileprivate func fraction() throws -> Double { try number(in: 0...1) }

  fileprivate func size() throws -> PixelSize {
    let sides = try elements()
    guard sides.count == 2 else { throw wrong("a size is [width, height]") }
    let rule = "a side is 1 to \(ImageInput.sideMax) pixels"
    let size = PixelSize(
      width: try sides[0].integer(in: 1...ImageInput.sideMax, rule),
      height: try sides[1].integer(in: 1...ImageInput.sideMax, rule))
    guard size.width * size.height <= ImageInput.pixelsMax else {
      throw wrong("a model's input has at most \(ImageInput.pixelsMax) pixels")
    }
    return size
  }

  /// One number for all channels, or one for each.
  fileprivate func channelValues() throws -> [Float] {
    let channels = try elements()
    guard channels.count == 1 || channels.count == 3 else {
      throw wrong("has one number for all channels or three, one for each")
    }
    return try channels.map { channel in
      Float(try channel.number(in: -1_000_000...1_000_000))
    }
  }

  fileprivate func scales() throws -> [Float] {
    let scales = try channelValues()
    guard scales.allSatisfy({ $0 > 0 && $0.isNormal }) else {
      throw wrong("must be above 0", advice: "The numbers are divided by it: 255 for 0 to 1")
    }
    return scales
  }

  fileprivate func strides() throws -> [Int] {
    let strides = try elements()
    guard (1...8).contains(strides.count) else { throw wrong("has 1 to 8 strides") }
    return try strides.map { stride in
      try stride.integer(in: 1...1_024, "a stride is 1 to 1024 pixels")
    }
  }

  fileprivate func labels() throws -> [String] {
    let labels = try elements()
    guard !labels.isEmpty else { throw wrong("has no label", advice: "Leave it out") }
    return try labels.map { label in
      let text = try label.string()
      guard !text.isEmpty, text.count <= ModelSidecar.labelLengthMax else {
        throw label.wrong("a label has 1 to \(ModelSidecar.labelLengthMax) characters")
      }
      return text
    }
  }
}
