import RetakeCore
import RetakeGraph

/// Reads the values that a program returns. Numbers are finite, and nothing is `null`.
extension ForeignOutput {
  /// - Throws: `DocumentProblem` with the pointer inside the message.
  func value(
    _ json: JSONValue, classNames: [String]
  ) throws(DocumentProblem) -> any PipelineValue {
    let fields = try StrictDecoder<DocumentProblem>(json, at: "/value").object([rawValue])
    let elements = try fields.required(rawValue).allElements()
    switch self {
    case .detections:
      return Detections(
        try elements.map { element throws(DocumentProblem) in
          try Detection(element, classes: classNames.count)
        }, classNames: classNames)
    case .classes:
      return Classes(
        try elements.map { element throws(DocumentProblem) in try Classification(element) })
    case .scalars: return try Self.scalars(elements)
    }
  }

  private static func scalars(
    _ elements: [StrictDecoder<DocumentProblem>]
  ) throws(DocumentProblem) -> Scalars {
    var names: Set<String> = []
    return Scalars(
      try elements.map { element throws(DocumentProblem) in
        let fields = try element.object(["name", "value"])
        let name = try fields.required("name")
        guard names.insert(try name.string()).inserted else {
          throw name.wrong("'\(try name.string().shortened)' is there twice")
        }
        return Scalars.Entry(try name.string(), try fields.required("value").number())
      })
  }

  /// The type of the values.
  var type: any PipelineValue.Type {
    switch self {
    case .detections: Detections.self
    case .classes: Classes.self
    case .scalars: Scalars.self
    }
  }
}

extension StrictDecoder<DocumentProblem> {
  /// As many elements as a message has room for; `elements` has the bound of a document.
  fileprivate func allElements() throws(DocumentProblem) -> [Self] {
    guard case .array(let values) = json else {
      throw wrong("must be an array, is \(json.kindText)")
    }
    return values.enumerated().map { Self($1, at: "\(pointer)/\($0)") }
  }
}

extension Detection {
  /// - Parameter count: The number of the program's classes; 0 if it names none.
  fileprivate init(
    _ decoder: StrictDecoder<DocumentProblem>, classes count: Int
  ) throws(DocumentProblem) {
    let fields = try decoder.object(["box", "score", "class", "identity", "classes"])
    let box = try fields.required("box")
    let sides = try box.elements().map { side throws(DocumentProblem) in try side.number() }
    guard sides.count == 4 else { throw box.wrong("a box is [x, y, width, height]") }
    let index = try fields["class"]?.integer(
      in: 0...(count == 0 ? Int.max : count - 1),
      count == 0
        ? "a class is 0 or more" : "a class is an index into the program's \(count) classNames")
    self.init(
      box: Box(x: sides[0], y: sides[1], width: sides[2], height: sides[3]),
      score: try fields.required("score").number(), classIndex: index ?? 0,
      identity: try fields["identity"]?.integer(),
      classes: try fields.elements("classes").map { element throws(DocumentProblem) in
        try Classification(element)
      })
  }
}

extension Classification {
  fileprivate init(_ decoder: StrictDecoder<DocumentProblem>) throws(DocumentProblem) {
    let fields = try decoder.object(["label", "score"])
    self.init(
      label: try fields.required("label").string(), score: try fields.required("score").number())
  }
}
