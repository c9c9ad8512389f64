import Foundation
import RetakeCore

/// Reads an observation of a program: the form that result lines have, too.
extension Observation {
  private static let kinds = [
    "mask", "points", "polyline", "polygon", "image", "embedding", "json",
  ]

  /// - Throws: `DocumentProblem` with the pointer inside the message.
  init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.object(Self.kinds + ["bones", "identity", "label", "score"])
    let present = Self.kinds.filter { fields[$0] != nil }
    guard present.count == 1 else {
      throw fields.wrong("an observation has one of \(Self.kinds.joined(separator: ", "))")
    }
    let content: Content
    if let mask = fields["mask"] {
      content = .mask(try Mask(mask))
    } else if let points = fields["points"] {
      content = .points(try KeyPoints(points, bones: fields["bones"]))
    } else if let line = fields["polyline"] {
      content = .polyline(try Polyline(line, isClosed: false))
    } else if let line = fields["polygon"] {
      content = .polyline(try Polyline(line, isClosed: true))
    } else if let image = fields["image"] {
      content = .image(try PixelArray(image))
    } else if let embedding = fields["embedding"] {
      content = .embedding(
        try embedding.allElements().map { element in
          let number = Float(try element.number())
          guard number.isFinite else { throw element.wrong("does not fit a 32-bit float") }
          return number
        })
    } else {
      content = .json(try fields.required("json").json)
    }
    self.init(
      content, label: try fields.required("label").string(),
      score: try fields["score"]?.number() ?? 1, identity: try fields["identity"]?.integer())
  }
}

extension Mask {
  fileprivate init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.object(["size", "counts"])
    let size = try fields.required("size")
    let sides = try size.elements().map { side in
      try side.integer(in: 1...Self.sideMax, "a side of a mask is 1 to \(Self.sideMax)")
    }
    guard sides.count == 2 else { throw size.wrong("the size of a mask is [height, width]") }
    let counts = try fields.required("counts")
    guard let mask = Self(width: sides[1], height: sides[0], counts: try counts.string()) else {
      throw counts.wrong("must be COCO's compressed runs of a mask of this size")
    }
    self = mask
  }
}

extension Polyline {
  fileprivate init(_ decoder: StrictDecoder<DocumentProblem>, isClosed: Bool) throws {
    let vertices = try decoder.allElements().map { element in
      let numbers = try element.elements().map { number in try number.number() }
      guard numbers.count == 2 else { throw element.wrong("a vertex is [x, y]") }
      return SIMD2(numbers[0], numbers[1])
    }
    self.init(vertices, isClosed: isClosed)
  }
}

extension PixelArray {
  fileprivate init(_ decoder: StrictDecoder<DocumentProblem>) throws {
    let fields = try decoder.object(["size", "type", "data"])
    let size = try fields.required("size")
    let sides = try size.elements().map { side in
      try side.integer(in: 1...Self.sideMax, "a side of an image is 1 to \(Self.sideMax)")
    }
    guard sides.count == 3, sides[2] <= Self.channelsMax else {
      throw size.wrong("the size of an image is [height, width, channels], 1 to 4 channels")
    }
    let type = try fields.required("type")
    guard let element = Element(rawValue: try type.string()) else {
      throw type.wrong("the type of an image is u8, u16 or f32")
    }
    let data = try fields.required("data")
    let count = sides.reduce(element.size, *)
    guard let bytes = Data(base64Encoded: try data.string()), bytes.count == count,
      let array = Self(
        width: sides[1], height: sides[0], channels: sides[2], element: element,
        bytes: Array(bytes))
    else { throw data.wrong("must be \(count) bytes in base64: rows of little-endian numbers") }
    self = array
  }
}

extension KeyPoints {
  fileprivate init(
    _ decoder: StrictDecoder<DocumentProblem>, bones: StrictDecoder<DocumentProblem>?
  ) throws {
    let points = try decoder.allElements().map { element in
      let fields = try element.object(["name", "x", "y", "score"])
      return KeyPoint(
        try fields.required("name").string(), x: try fields.required("x").number(),
        y: try fields.required("y").number(), score: try fields["score"]?.number() ?? 1)
    }
    self.init(
      points,
      bones: try bones?.allElements().map { bone in
        let ends = try bone.elements().map { end in
          try end.integer(
            in: 0...max(points.count - 1, 0), "an end of a bone is the index of a point")
        }
        guard ends.count == 2 else { throw bone.wrong("a bone is a pair of indices of points") }
        return Bone(ends[0], ends[1])
      } ?? [])
  }
}
