import RetakeCore

/// Connectionist temporal classification, read greedily: PP-OCR's text recognizer.
///
/// Each step has a score for a blank and for each character. The decoder picks the best class of
/// each step, the first of equal scores, and leaves out repetitions and blanks. The text is the
/// label of the result; its score is the mean of the scores of the kept characters. PP-OCR's models
/// have one class more than characters, at the end: the space.
struct CTCTextDecoder: OutputDecoder {
  let name = DecoderName.ctcText
  static let expectedShapes =
    "one output of 1xtx(1+n), a blank and then a score for each of n labels; a space may follow"
  private let settings: DecoderSettings

  init(_ settings: DecoderSettings) { self.settings = settings }

  func accepts(_ shapes: [[Int?]]) -> Bool {
    guard shapes.count == 1, shapes[0].fits([1, nil, nil]), !settings.labels.isEmpty else {
      return false
    }
    guard let classes = shapes[0][2] else { return true }
    return classes == settings.labels.count + 1 || classes == settings.labels.count + 2
  }

  func read(
    _ outputs: DecoderInputs, _ geometry: ImageGeometry
  ) throws -> Decoded {
    let values = outputs.floats(0)
    let (steps, classes) = (outputs.shapes[0][1], outputs.shapes[0][2])
    var text = ""
    var scores: [Double] = []
    var last = 0
    for step in 0..<steps {
      var (best, index) = (-Double.infinity, 0)
      for number in 0..<classes {
        let score = try outputs.finite(values, step * classes + number, of: 0)
        if score > best { (best, index) = (score, number) }
      }
      defer { last = index }
      guard index != 0, index != last else { continue }
      text += settings.labels.indices.contains(index - 1) ? settings.labels[index - 1] : " "
      scores.append(best)
    }
    guard !scores.isEmpty else { return .classes(Classes([])) }
    let score = scores.reduce(0, +) / Double(scores.count)
    guard score > settings.confidenceThreshold else { return .classes(Classes([])) }
    return .classes(Classes([Classification(label: text, score: score)]))
  }
}
