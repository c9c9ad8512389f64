/// Reads the metadata in a model's file.
///
/// Three writers are known. Values of other writers, and values that cannot be read, are ignored,
/// because their form was never promised.
///
/// | key | writer | values |
/// |---|---|---|
/// | `names`, `imgsz`, `task`, `stride` | Ultralytics | labels, size, decoder, preprocessing |
/// | `character` | PaddleOCR's text models | labels, one a line |
/// | `model_info KEY` | OpenVINO's Model API | the key of that name |
package enum ModelMetadata {
  /// The longest value that is read, in bytes.
  static let bytesMax = 1 << 20
  /// The most labels. The dictionaries of text models have 18,000 characters.
  static let labelsMax = 1 << 16

  package static func values(_ metadata: [String: String]) -> ModelValues {
    let metadata = metadata.filter { $0.value.utf8.count <= bytesMax }
    var values = ModelValues()
    readUltralytics(metadata, into: &values)
    if let lines = metadata["character"] { values.labels = characters(lines) }
    readModelInfo(metadata, into: &values)
    return values
  }

  private static func readUltralytics(
    _ metadata: [String: String], into values: inout ModelValues
  ) {
    guard let names = metadata["names"], metadata["stride"] != nil else { return }
    values.labels = PythonLiteral.names(names)
    // Height comes first there.
    if let sides = metadata["imgsz"].flatMap(PythonLiteral.integers), sides.count == 2,
      sides.allSatisfy({ (1...ImageInput.sideMax).contains($0) }),
      sides[0] * sides[1] <= ImageInput.pixelsMax
    {
      values.size = PixelSize(width: sides[1], height: sides[0])
    }
    // The predictor of Ultralytics does this before each of its models.
    (values.scaleValues, values.colorSpace) = ([255], .rgb)
    let isFinished =
      metadata["end2end"] == "True" || metadata["args"]?.contains("'nms': True") == true
    switch metadata["task"] {
    case "classify":
      (values.resizeType, values.decoder) = (.crop, .probabilities)
    case "detect":
      values.decoder = isFinished ? .boxes : .yoloV8
      fallthrough
    default:
      (values.resizeType, values.padValue) = (.fitToWindowLetterbox, 114)
    }
  }

  private static func characters(_ lines: String) -> [String]? {
    // As bytes: a carriage return and a line feed are one character to Swift.
    let ends = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]
    var characters = lines.utf8.split(separator: ends[0], omittingEmptySubsequences: false).map {
      String(decoding: $0.last == ends[1] ? $0.dropLast() : $0, as: UTF8.self)
    }
    // The last line ends, too.
    if characters.last == "" { characters.removeLast() }
    return (1...labelsMax).contains(characters.count) ? characters : nil
  }

  private static func readModelInfo(
    _ metadata: [String: String], into values: inout ModelValues
  ) {
    func text(_ key: String) -> String? { metadata["model_info \(key)"] }
    func fraction(_ key: String) -> Double? {
      text(key).flatMap(Double.init).flatMap { (0...1).contains($0) ? $0 : nil }
    }
    if let labels = text("labels")?.split(separator: " ").map(String.init),
      (1...labelsMax).contains(labels.count)
    {
      values.labels = labels
    }
    if let type = text("resize_type").flatMap(ResizeType.init) { values.resizeType = type }
    if let level = text("pad_value").flatMap(UInt8.init) { values.padValue = level }
    if let means = text("mean_values").flatMap(channelValues) { values.meanValues = means }
    if let scales = text("scale_values").flatMap(channelValues), scales.allSatisfy({ $0 > 0 }) {
      values.scaleValues = scales
    }
    switch text("reverse_input_channels")?.lowercased() {
    case "true", "yes": values.colorSpace = .rgb
    case "false", "no": values.colorSpace = .bgr
    default: break
    }
    if let threshold = fraction("confidence_threshold") { values.confidenceThreshold = threshold }
    if let threshold = fraction("iou_threshold") { values.iouThreshold = threshold }
    switch text("model_type")?.lowercased() {
    case "yolov5", "yolo_v5": values.decoder = .yoloV5
    case "yolov8", "yolo_v8", "yolo11": values.decoder = .yoloV8
    case "yolox": values.decoder = .yolox
    default: break
    }
  }

  /// `123.675 116.28 103.53`.
  private static func channelValues(_ text: String) -> [Float]? {
    let parts = text.split(separator: " ").map { Float($0) }
    let numbers = parts.compactMap(\.self).filter(\.isFinite)
    return numbers.count == parts.count && [1, 3].contains(numbers.count) ? numbers : nil
  }
}

/// The few Python literals that Ultralytics writes: `{0: 'person', 1: "dog's bed"}`, `[640, 640]`.
enum PythonLiteral {
  /// The values of a dictionary whose keys are 0, 1, 2, … in any order; `nil` for anything else.
  static func names(_ text: String) -> [String]? {
    var reader = LiteralReader(text)
    guard reader.take("{") else { return nil }
    var names: [Int: String] = [:]
    // Ends: each round reads a comma at least, or is the last.
    repeat {
      if reader.peek("}") { break }
      guard let index = reader.integer(), reader.take(":"), let name = reader.string(),
        !name.isEmpty, names.updateValue(name, forKey: index) == nil,
        names.count <= ModelMetadata.labelsMax
      else { return nil }
    } while reader.take(",")
    guard reader.take("}"), reader.isAtEnd, !names.isEmpty else { return nil }
    let ordered = (0..<names.count).compactMap { names[$0] }
    return ordered.count == names.count ? ordered : nil
  }

  /// A list or tuple of integers, or a single one; `nil` for anything else.
  static func integers(_ text: String) -> [Int]? {
    var reader = LiteralReader(text)
    if let single = reader.integer() { return reader.isAtEnd ? [single, single] : nil }
    guard reader.take("[") || reader.take("(") else { return nil }
    var numbers: [Int] = []
    repeat {
      guard let number = reader.integer(), numbers.count < 8 else { return nil }
      numbers.append(number)
    } while reader.take(",")
    guard reader.take("]") || reader.take(")"), reader.isAtEnd else { return nil }
    return numbers
  }
}

private struct LiteralReader {
  private let characters: [Character]
  private var position = 0

  init(_ text: String) { characters = Array(text) }

  private mutating func skipSpace() {
    while position < characters.count, characters[position].isWhitespace { position += 1 }
  }

  var isAtEnd: Bool { characters[position...].allSatisfy(\.isWhitespace) }

  mutating func peek(_ character: Character) -> Bool {
    skipSpace()
    return position < characters.count && characters[position] == character
  }

  mutating func take(_ character: Character) -> Bool {
    guard peek(character) else { return false }
    position += 1
    return true
  }

  mutating func integer() -> Int? {
    skipSpace()
    let digits = characters[position...].prefix { $0.isASCII && $0.isNumber }
    position += digits.count
    return Int(String(digits))
  }

  /// In single or double quotes; a backslash keeps the character after it.
  mutating func string() -> String? {
    guard let quote: Character = peek("'") ? "'" : peek("\"") ? "\"" : nil else { return nil }
    position += 1
    var text = ""
    while position < characters.count, characters[position] != quote {
      if characters[position] == "\\" { position += 1 }
      guard position < characters.count else { return nil }
      text.append(characters[position])
      position += 1
    }
    return take(quote) ? text : nil
  }
}
