package import RetakeCore
package import RetakeGraph

/// Reads the values that a program returns. Numbers are finite, and `null` is not allowed.
extension ForeignOutput {
  /// - Throws: `DocumentProblem` with the pointer inside the message.
  package func value(
    _ json: JSONValue, classNames: [String]
  ) throws -> any PipelineValue {
    let fields = try StrictDecoder<DocumentProblem>(json, at: "/value").object([rawValue])
    let elements = try fields.required(rawValue).allElements()
    switch self {
    case .detections:
      return Detections(
        try elements.map { element in
          try Detection(element, classes: classNames.count)
        }, classNames: classNames)
    case .classes:
      return Classes(
        try elements.map { element in try Classification(element) })
    case .scalars: return try Self.scalars(elements)
    case .observations:
      return Observations(try elements.map { element in try Observation(element) })
    case .program: throw fields.wrong("a program with the output 'program' sends values with 'out'")
    }
  }

  /// The value of a frame in which the program found no item.
  func empty(classNames: [String]) -> any PipelineValue {
    switch self {
    case .detections: Detections([], classNames: classNames)
    case .classes: Classes([])
    case .scalars: Scalars([])
    case .observations: Observations([])
    case .program: ProgramOuts(empty: [])
    }
  }

  private static func scalars(
    _ elements: [StrictDecoder<DocumentProblem>]
  ) throws -> Scalars {
    var names: Set<String> = []
    return Scalars(
      try elements.map { element in
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
    case .observations: Observations.self
    case .program: ProgramOuts.self
    }
  }
}

extension StrictDecoder<DocumentProblem> {
  /// Any number of elements that fits into a message; `elements` has the bound of a document.
  func allElements() throws -> [Self] {
    guard case .array(let values) = json else {
      throw wrong("must be an array, is \(json.kindText)")
    }
    return values.enumerated().map { Self($1, at: "\(pointer)/\($0)") }
  }
}

extension Detection {
  /// - Parameter count: The number of the program's classes; 0 if the program names no classes.
  fileprivate init(
    _ decoder: StrictDecoder<DocumentProblem>, classes count: Int
  ) throws {
    if let plain = Self(plain: decoder.json, classes: count) {
      self = plain
      return
    }
    let fields = try decoder.object(["box", "score", "class", "identity", "classes"])
    let box = try fields.required("box")
    let sides = try box.elements().map { side in try side.number() }
    guard sides.count == 4 else { throw box.wrong("a box is [x, y, width, height]") }
    guard sides[2] >= 0, sides[3] >= 0 else {
      throw box.wrong("the width and height of a box are 0 or more")
    }
    let index = try fields["class"]?.integer(
      in: 0...(count == 0 ? Int.max : count - 1),
      count == 0
        ? "a class is 0 or more" : "a class is an index into the program's \(count) classNames")
    self.init(
      box: Box(x: sides[0], y: sides[1], width: sides[2], height: sides[3]),
      score: try fields.required("score").number(), classIndex: index ?? 0,
      identity: try fields["identity"]?.integer(),
      classes: try fields.elements("classes").map { element in
        try Classification(element)
      })
  }
}

extension Detection {
  /// The usual form: a box, a score and a class. `nil` for everything else, correct or not.
  ///
  /// The full reader keeps the place of each value, and needs several times as long.
  private init?(plain json: JSONValue, classes count: Int) {
    guard case .object(let members) = json, members.count == 3,
      case .array(let sides)? = members["box"], sides.count == 4,
      let score = members["score"]?.plainNumber, case .integer(let index)? = members["class"],
      index >= 0, count == 0 || index < count
    else { return nil }
    let numbers = sides.compactMap(\.plainNumber)
    guard numbers.count == 4, numbers[2] >= 0, numbers[3] >= 0 else { return nil }
    self.init(
      box: Box(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3]),
      score: score, classIndex: Int(index))
  }
}

extension JSONValue {
  /// A finite number; the parser makes no other.
  fileprivate var plainNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value) where value.isFinite: value
    default: nil
    }
  }
}

extension Classification {
  fileprivate init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.object(["label", "score"])
    self.init(
      label: try fields.required("label").string(), score: try fields.required("score").number())
  }
}
