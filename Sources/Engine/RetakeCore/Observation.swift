/// Something that a stage observed in a frame, in a form that a box does not have.
public struct Observation: Hashable, Sendable {
  /// The forms of an observation. Coordinates are in pixels of the stage's input, y down.
  public enum Content: Hashable, Sendable {
    /// The pixels of an object.
    case mask(Mask)
    /// Named points of an object, such as the joints of a body.
    case points(KeyPoints)
    /// A lane, a contour, a polygon or an oriented box.
    case polyline(Polyline)
    /// An image or a map of numbers, such as depth. Results contain its digest.
    case image(PixelArray)
    /// A vector that represents an object or the frame. Tolerances are cosine distances.
    case embedding([Float])
    /// Any other content. Numbers are not rounded.
    case json(JSONValue)
  }

  public var content: Content
  /// The class of the object; for an embedding and JSON, the name of the value.
  public var label: String
  /// Usually 0 to 1.
  public var score: Double
  /// The tracker's number for this object, the same in all frames; `nil` without a tracker.
  public var identity: Int?

  /// `score` is not checked.
  public init(_ content: Content, label: String, score: Double = 1, identity: Int? = nil) {
    self.content = content
    self.label = label
    self.score = score
    self.identity = identity
  }

  /// Appends the exact content; equal observations append equal bytes.
  package func digest(into hasher: inout DigestHasher) {
    // Accepted goldens have digests of these bytes.
    hasher.append(label)
    hasher.append(score)
    // A tracker may use any number, so no number can represent the absence of an identity.
    hasher.append(Int64(identity == nil ? 0 : 1))
    hasher.append(Int64(identity ?? 0))
    switch content {
    case .mask(let mask):
      hasher.append("mask")
      for number in [mask.width, mask.height, mask.runs.count] + mask.runs {
        hasher.append(Int64(number))
      }
    case .points(let points): points.digest(into: &hasher)
    case .polyline(let line):
      hasher.append("polyline")
      hasher.append(Int64(line.isClosed ? 1 : 0))
      hasher.append(Int64(line.vertices.count))
      for vertex in line.vertices {
        hasher.append(vertex.x)
        hasher.append(vertex.y)
      }
    case .image(let array):
      hasher.append("image")
      hasher.append(array.digest)
    case .embedding(let vector):
      hasher.append("embedding")
      hasher.append(Int64(vector.count))
      for element in vector { hasher.append(element) }
    case .json(let value):
      hasher.append("json")
      hasher.append(value.canonicalText)
    }
  }

  /// Whether the content is an image or a map.
  package var isImage: Bool { if case .image = content { true } else { false } }

  /// Whether the content is in the pixels of the stage's input.
  package var hasPositions: Bool {
    switch content {
    case .mask, .points, .polyline: true
    case .embedding, .image, .json: false
    }
  }

  /// The observation with each position converted. A mask and a polyline become the points of their
  /// outline.
  ///
  /// - Returns: `nil` for content without positions.
  package func mapPositions(_ convert: (Box) -> Box) -> Observation? {
    var points: KeyPoints
    switch content {
    case .mask(let mask): points = mask.outline
    case .points(let own): points = own
    case .polyline(let line): points = line.outline
    case .embedding, .image, .json: return nil
    }
    points.points = points.points.map { point in
      let box = convert(Box(x: point.x, y: point.y, width: 0, height: 0))
      return KeyPoint(point.name, x: box.x, y: box.y, score: point.score)
    }
    var converted = self
    converted.content = .points(points)
    return converted
  }
}

extension KeyPoints {
  fileprivate func digest(into hasher: inout DigestHasher) {
    hasher.append("points")
    hasher.append(Int64(points.count))
    for point in points {
      hasher.append(point.name)
      for value in [point.x, point.y, point.score] { hasher.append(value) }
    }
    hasher.append(Int64(bones.count))
    for bone in bones {
      hasher.append(Int64(bone.from))
      hasher.append(Int64(bone.to))
    }
  }
}
