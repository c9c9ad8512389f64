import Foundation

/// A rounded observation. Embeddings, images and JSON are exact.
package struct ObservationLine: Hashable, Sendable {
  package struct Point: Hashable, Sendable {
    package var name: String
    package var x: FixedDecimal
    package var y: FixedDecimal
    package var score: FixedDecimal
  }

  package struct Vertex: Hashable, Sendable {
    package var x: FixedDecimal
    package var y: FixedDecimal
  }

  package enum Content: Hashable, Sendable {
    case mask(Mask)
    case points([Point], bones: [KeyPoints.Bone])
    case polyline([Vertex], isClosed: Bool)
    /// Without its numbers.
    case image(PixelArray)
    /// Bit patterns of 32-bit floats, so that NaN equals NaN.
    case embedding([UInt32])
    /// The canonical form.
    case json(String)
  }

  package var content: Content
  package var identity: Int?
  package var label: String
  package var score: FixedDecimal

  package init(_ observation: Observation, _ precision: Precision) {
    identity = observation.identity
    label = observation.label
    score = FixedDecimal(observation.score, decimals: precision.scoreDecimals)
    switch observation.content {
    case .mask(let mask): content = .mask(mask)
    case .points(let points):
      let own = points.points.map { point in
        Point(
          name: point.name, x: FixedDecimal(point.x, decimals: precision.boxDecimals),
          y: FixedDecimal(point.y, decimals: precision.boxDecimals),
          score: FixedDecimal(point.score, decimals: precision.scoreDecimals))
      }
      content = .points(own, bones: points.bones)
    case .polyline(let line):
      let vertices = line.vertices.map { vertex in
        Vertex(
          x: FixedDecimal(vertex.x, decimals: precision.boxDecimals),
          y: FixedDecimal(vertex.y, decimals: precision.boxDecimals))
      }
      content = .polyline(vertices, isClosed: line.isClosed)
    case .image(let array): content = .image(array.print)
    case .embedding(let vector): content = .embedding(vector.map(\.bitPattern))
    case .json(let value): content = .json(value.canonicalText)
    }
  }

  /// The letter of the line.
  package var letter: Character {
    switch content {
    case .mask: "M"
    case .points: "K"
    case .polyline: "L"
    case .image: "I"
    case .embedding: "E"
    case .json: "J"
    }
  }

  /// The observation with the rounded numbers.
  package var observation: Observation {
    let content: Observation.Content =
      switch content {
      case .mask(let mask): .mask(mask)
      case .points(let points, let bones):
        .points(
          KeyPoints(
            points.map {
              KeyPoint($0.name, x: $0.x.value, y: $0.y.value, score: $0.score.value)
            }, bones: bones))
      case .polyline(let vertices, let isClosed):
        .polyline(
          Polyline(vertices.map { SIMD2($0.x.value, $0.y.value) }, isClosed: isClosed))
      case .image(let array): .image(array)
      case .embedding(let bits): .embedding(bits.map { Float(bitPattern: $0) })
      case .json(let text): .json((try? JSONValue(parsing: Data(text.utf8))) ?? .null)
      }
    return Observation(content, label: label, score: score.value, identity: identity)
  }

  /// Parses a line of results text; `nil` for any other form.
  package init?(parsing line: some StringProtocol) {
    let parsed = ByteCursor.read(line) { cursor -> Self? in
      guard let letter = line.utf8.first, cursor.skip(letter), cursor.skipSpace(),
        let own = Self(letter: letter, &cursor), cursor.isAtEnd
      else { return nil }
      return own
    }
    guard let parsed else { return nil }
    self = parsed
  }

  /// Parses the part after the letter; `nil` for any other form.
  init?(letter: UInt8, _ cursor: inout ByteCursor) {
    if !cursor.skipMissing() {
      guard let number = cursor.integer() else { return nil }
      identity = number
    }
    guard cursor.skipSpace(), let label = cursor.word(), cursor.skipSpace(),
      let score = cursor.decimal(), cursor.skipSpace()
    else { return nil }
    (self.label, self.score) = (label, score)
    let content: Content? =
      switch letter {
      case UInt8(ascii: "M"): cursor.mask().map { .mask($0) }
      case UInt8(ascii: "K"): cursor.points()
      case UInt8(ascii: "L"): cursor.polyline()
      case UInt8(ascii: "I"): cursor.image().map { .image($0) }
      case UInt8(ascii: "E"): cursor.embedding().map { .embedding($0) }
      case UInt8(ascii: "J"): cursor.json().map { .json($0) }
      default: nil
      }
    guard let content else { return nil }
    self.content = content
  }
}

extension ByteCursor {
  /// Skips `- `, but not its space. `-5 ` is a negative number.
  fileprivate mutating func skipMissing() -> Bool {
    var copy = self
    guard copy.skip(UInt8(ascii: "-")) else { return false }
    var after = copy
    guard after.isAtEnd || after.skipSpace() else { return false }
    self = copy
    return true
  }

  fileprivate mutating func mask() -> Mask? {
    guard let width = integer(), skip(UInt8(ascii: "x")), let height = integer(), skipSpace()
    else { return nil }
    let counts = String(decoding: bytes(before: UInt8(ascii: " ")), as: UTF8.self)
    // Each mask has one form, so that equal masks have equal bytes.
    guard let mask = Mask(width: width, height: height, counts: counts), mask.counts == counts
    else { return nil }
    return mask
  }

  fileprivate mutating func points() -> ObservationLine.Content? {
    var bones: [KeyPoints.Bone] = []
    if !skipMissing() {
      repeat {
        guard let from = integer(), skip(UInt8(ascii: "-")), let to = integer() else { return nil }
        bones.append(KeyPoints.Bone(from, to))
      } while skip(UInt8(ascii: ","))
    }
    var points: [ObservationLine.Point] = []
    while skipSpace() {
      guard let name = word(before: UInt8(ascii: "=")), skip(UInt8(ascii: "=")),
        let x = decimal(before: ","), let y = decimal(before: ","), let score = decimal()
      else { return nil }
      points.append(ObservationLine.Point(name: name, x: x, y: y, score: score))
    }
    return .points(points, bones: bones)
  }

  private mutating func decimal(before separator: Unicode.Scalar) -> FixedDecimal? {
    // `nan` and `inf` are words up to a space, so the number is read from its own bytes.
    let bytes = bytes(before: UInt8(ascii: separator))
    guard skip(UInt8(ascii: separator)), var cursor = ByteCursor(bytes, 0..<bytes.count),
      let number = cursor.decimal(), cursor.isAtEnd
    else { return nil }
    return number
  }

  fileprivate mutating func polyline() -> ObservationLine.Content? {
    guard let word = word(), ["open", "closed"].contains(word) else { return nil }
    var vertices: [ObservationLine.Vertex] = []
    while skipSpace() {
      guard let x = decimal(before: ","), let y = decimal() else { return nil }
      vertices.append(ObservationLine.Vertex(x: x, y: y))
    }
    return .polyline(vertices, isClosed: word == "closed")
  }

  fileprivate mutating func image() -> PixelArray? {
    guard let width = integer(), skip(UInt8(ascii: "x")), let height = integer(),
      skip(UInt8(ascii: "x")), let channels = integer(), skipSpace(), let word = word(),
      let element = PixelArray.Element(rawValue: word), skipSpace(), let digest = digest()
    else { return nil }
    return PixelArray(
      width: width, height: height, channels: channels, element: element, digest: digest)
  }

  fileprivate mutating func embedding() -> [UInt32]? {
    if skipMissing() { return [] }
    let text = String(decoding: bytes(before: UInt8(ascii: " ")), as: UTF8.self)
    guard let data = Data(base64Encoded: text), !data.isEmpty, data.count % 4 == 0,
      data.base64EncodedString() == text
    else { return nil }
    let bytes = [UInt8](data)
    return stride(from: 0, to: bytes.count, by: 4).map { place in
      (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }
  }

  fileprivate mutating func json() -> String? {
    // The document is the last field of its line, because it may contain spaces.
    (try? JSONValue(parsing: Data(rest())))?.canonicalText
  }
}

extension TextBuffer {
  /// The line without its line end.
  mutating func append(_ line: ObservationLine) {
    let space = UInt8(ascii: " ")
    append(line.letter.asciiValue ?? space)
    append(space)
    if let identity = line.identity { append(identity) } else { append(UInt8(ascii: "-")) }
    append(space)
    append(word: line.label)
    append(space)
    append(line.score)
    append(space)
    switch line.content {
    case .mask(let mask):
      append("\(mask.width)x\(mask.height) \(mask.counts)")
    case .points(let points, let bones):
      append(bones.isEmpty ? "-" : bones.map { "\($0.from)-\($0.to)" }.joined(separator: ","))
      for point in points {
        append(space)
        append(word: point.name)
        append(UInt8(ascii: "="))
        append(point.x)
        append(UInt8(ascii: ","))
        append(point.y)
        append(UInt8(ascii: ","))
        append(point.score)
      }
    case .polyline(let vertices, let isClosed):
      append(isClosed ? "closed" : "open")
      for vertex in vertices {
        append(space)
        append(vertex.x)
        append(UInt8(ascii: ","))
        append(vertex.y)
      }
    case .image(let array):
      append("\(array.form) ")
      append(array.digest)
    case .embedding(let bits):
      let bytes = bits.flatMap { bits in (0..<4).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
      }
      append(bytes.isEmpty ? "-" : Data(bytes).base64EncodedString())
    case .json(let text): append(escaped: text)
    }
  }
}

extension TextBuffer {
  /// The form in result lines and in the messages of programs.
  package mutating func append(json line: ObservationLine) {
    append("{")
    if case .points(_, let bones) = line.content, !bones.isEmpty {
      append("\"bones\":")
      append(jsonArray: bones) { $0.append("[\($1.from),\($1.to)]") }
      append(",")
    }
    if case .embedding(let bits) = line.content {
      append("\"embedding\":")
      append(jsonArray: bits) { $0.append(Self.number(Float(bitPattern: $1))) }
      append(",")
    }
    if let identity = line.identity {
      append("\"identity\":")
      append(identity)
      append(",")
    }
    if case .image(let array) = line.content {
      append("\"image\":{\"digest\":\"\(array.digest)\",\"size\":")
      append(
        "[\(array.height),\(array.width),\(array.channels)],\"type\":\"\(array.element.rawValue)\"},"
      )
    }
    if case .json(let text) = line.content { append("\"json\":\(text),") }
    append("\"label\":")
    append(json: line.label)
    if case .mask(let mask) = line.content {
      append(",\"mask\":{\"counts\":")
      append(json: mask.counts)
      append(",\"size\":[\(mask.height),\(mask.width)]}")
    }
    if case .points(let points, _) = line.content {
      append(",\"points\":")
      append(jsonArray: points) { $0.append(json: $1) }
    }
    if case .polyline(let vertices, let isClosed) = line.content {
      append(isClosed ? ",\"polygon\":" : ",\"polyline\":")
      append(jsonArray: vertices) { buffer, vertex in
        buffer.append(jsonArray: [vertex.x, vertex.y]) { $0.append(json: $1) }
      }
    }
    append(",\"score\":")
    append(json: line.score)
    append("}")
  }

  private mutating func append(json point: ObservationLine.Point) {
    append(jsonMembers: [
      "name": { $0.append(json: point.name) }, "score": { $0.append(json: point.score) },
      "x": { $0.append(json: point.x) }, "y": { $0.append(json: point.y) },
    ])
  }

  /// The shortest decimal that is this 32-bit float. JSON has no NaN and no infinities.
  private static func number(_ value: Float) -> String {
    JSONValue.number(value.isFinite ? Double(value.description) ?? .nan : .nan).canonicalText
  }
}
