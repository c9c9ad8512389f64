import RetakeCompare
import RetakeCore

/// Five regressions of each kind of observation.
enum PlantedObservations {
  fileprivate static let seen = Recipe(.observations, "pulse")

  static let all = masks + points + embeddings + documents + lines + images + maps

  /// A mask, points, an embedding, a JSON value, an oriented box, an image and a map, in this order.
  static func items(_ frame: Int) -> [Observation] {
    let left = frame % 7
    let mask = Mask(width: 64, height: 48) { x, y in
      (left..<left + 20).contains(x) && (8..<40).contains(y)
    }
    let joints = [
      KeyPoint("head", x: Double(left), y: 4), KeyPoint("hand", x: Double(left) + 9.5, y: 12),
    ]
    let document: [String: JSONValue] = [
      "frame": .integer(Int64(frame)), "light": .string("day"),
      "lanes": .array([.number(0.5), .number(1.25)]),
    ]
    return [
      Observation(.mask(mask), label: "person", score: 0.9, identity: 1),
      Observation(.points(KeyPoints(joints, bones: [.init(0, 1)])), label: "person", identity: 1),
      Observation(.embedding([1, Float(frame) / 100, 0]), label: "clothes"),
      Observation(.json(.object(document)), label: "scene"),
      Observation(.polyline(box(x: Double(left))), label: "car", score: 0.8),
      Observation(.image(image(level: UInt8(100 + left))), label: "preview"),
      Observation(.image(map(of: frame) { _, _ in 0 }), label: "depth"),
    ]
  }

  fileprivate static func box(x: Double) -> Polyline {
    Polyline([[x, 10], [x + 20, 0], [x + 25, 10], [x + 5, 20]], isClosed: true)
  }

  /// A gray ramp in RGB, from a level on.
  fileprivate static func image(level: UInt8, _ change: (inout [UInt8]) -> Void = { _ in })
    -> PixelArray
  {
    var bytes = (0..<32 * 24).flatMap { [level + UInt8($0 % 32), level, level] }
    change(&bytes)
    guard
      let array = PixelArray(width: 32, height: 24, channels: 3, element: .uint8, bytes: bytes)
    else { preconditionFailure("the bytes have the size of the image") }
    return array
  }

  /// Meters that grow to the right, and an offset at each place.
  fileprivate static func map(of frame: Int, _ offset: (_ x: Int, _ y: Int) -> Float) -> PixelArray
  {
    let numbers = (0..<32 * 24).map { Float(frame) + Float($0 % 32) / 8 + offset($0 % 32, $0 / 32) }
    guard let array = PixelArray(width: 32, height: 24, numbers) else {
      preconditionFailure("the numbers have the size of the map")
    }
    return array
  }

  private static let masks = [
    Planted(
      "a mask with another column", seen, .maskChanged, at: .frame(40), "reader",
      words: "the mask person #1: IoU 0.9524, at least 1.0000"
    ) { $0.change(0) { $0.content = mask(from: 5, columns: 21) } },
    Planted("a mask that moves", seen, .maskChanged, at: .frame(40), "reader") {
      $0.change(0) { $0.content = mask(from: 6, columns: 20) }
    },
    Planted("a mask that is gone", seen, .factDisappeared, at: .frame(40), "reader") {
      $0.observed = { items, frame in frame == 40 ? Array(items.dropFirst()) : items }
    },
    Planted("a second mask", seen, .factAppeared, at: .frame(40), "reader") {
      $0.observed = { items, frame in frame == 40 ? [items[0]] + items : items }
    },
    Planted("a mask of another class", seen, .classChanged, at: .frame(40), "reader") {
      $0.change(0) { $0.label = "dog" }
    },
    .allowed("a mask within its tolerance", seen.ruled(.boxes) { $0.maskIoUMin = 0.95 }) {
      $0.change(0) { $0.content = mask(from: 5, columns: 21) }
    },
  ]

  private static func mask(from left: Int, columns: Int) -> Observation.Content {
    .mask(
      Mask(width: 64, height: 48) { x, y in
        (left..<left + columns).contains(x) && (8..<40).contains(y)
      })
  }

  private static let points = [
    Planted(
      "a point that moves", seen, .pointMoved, at: .frame(40), "reader",
      words: "the set of points person #1: hand moved by 2.0 px"
    ) { $0.changePoints { $0[1].y += 2 } },
    Planted("points in other places of the list", seen, .pointMoved, at: .frame(40), "reader") {
      $0.changePoints { $0.swapAt(0, 1) }
    },
    Planted("a point without a number", seen, .pointMoved, at: .frame(40), "reader") {
      $0.changePoints { $0[0].x = .nan }
    },
    Planted("a lost point", seen, .pointMoved, at: .frame(40), "reader") {
      $0.changePoints { $0.removeLast() }
    },
    Planted("a point that is less certain", seen, .scoreChanged, at: .frame(40), "reader") {
      $0.changePoints { $0[1].score = 0.5 }
    },
    .allowed("points within their tolerance", seen.ruled(.boxes) { $0.position = 2 }) {
      $0.changePoints { $0[1].y += 2 }
    },
  ]

  private static let embeddings = [
    Planted("another direction", seen, .embeddingChanged, at: .frame(40), "reader") {
      $0.change(2) { $0.content = .embedding([0, 1, 0]) }
    },
    Planted("a little noise", seen, .embeddingChanged, at: .frame(40), "reader") {
      $0.change(2) { $0.content = .embedding([1, 0.4, 0.001]) }
    },
    Planted("another number of elements", seen, .embeddingChanged, at: .frame(40), "reader") {
      $0.change(2) { $0.content = .embedding([1, 0.4]) }
    },
    Planted("an element that is no number", seen, .embeddingChanged, at: .frame(40), "reader") {
      $0.change(2) { $0.content = .embedding([1, .nan, 0]) }
    },
    Planted("an embedding of another name", seen, .factDisappeared, at: .frame(40), "reader") {
      $0.change(2) { $0.label = "face" }
    },
    .allowed("noise within its tolerance", seen.ruled(.boxes) { $0.cosineMax = 0.0001 }) {
      $0.change(2) { $0.content = .embedding([1, 0.4, 0.001]) }
    },
  ]

  private static let documents = [
    Planted(
      "another number in a list", seen, .fieldChanged, at: .frame(40), "reader",
      words: "the JSON value scene: differs at /lanes/1: 1.5 instead of 1.25"
    ) { $0.changeField("lanes", .array([.number(0.5), .number(1.5)])) },
    Planted("a longer list", seen, .fieldChanged, at: .frame(40), "reader") {
      $0.changeField("lanes", .array([.number(0.5), .number(1.25), .null]))
    },
    Planted("another word", seen, .fieldChanged, at: .frame(40), "reader") {
      $0.changeField("light", .string("night"))
    },
    Planted("a field of another kind", seen, .fieldChanged, at: .frame(40), "reader") {
      $0.changeField("frame", .string("40"))
    },
    Planted("a field that is gone", seen, .fieldChanged, at: .frame(40), "reader") {
      $0.changeField("light", nil)
    },
    .allowed("a number within its tolerance", seen.ruled(.numeric) { $0.scalar = 0.25 }) {
      $0.changeField("lanes", .array([.number(0.5), .number(1.5)]))
    },
  ]
}

extension PlantedObservations {
  fileprivate static let lines = [
    Planted(
      "a box that moves", seen, .pointMoved, at: .frame(40), "reader",
      words: "the polygon car: moved by 5.000 px"
    ) { $0.change(4) { $0.content = .polyline(box(x: 10)) } },
    Planted(
      "a corner that moves", seen, .pointMoved, at: .frame(40), "reader",
      words: "the polygon car: moved by 2.000 px"
    ) { $0.changeLine { $0.vertices[1].y -= 2 } },
    Planted("a box that is open", seen, .factChanged, at: .frame(40), "reader") {
      $0.changeLine { $0.isClosed = false }
    },
    Planted("a corner that is gone", seen, .pointMoved, at: .frame(40), "reader") {
      $0.changeLine { $0.vertices.removeLast() }
    },
    Planted("a corner without a number", seen, .pointMoved, at: .frame(40), "reader") {
      $0.changeLine { $0.vertices[0].x = .nan }
    },
    .allowed("a box within its tolerance", seen.ruled(.boxes) { $0.position = 2 }) {
      $0.changeLine { $0.vertices[1].y -= 2 }
    },
    .allowed("the same box from another corner on", seen.ruled(.boxes) { $0.position = 0 }) {
      $0.changeLine {
        $0.vertices = [$0.vertices[2], $0.vertices[1], $0.vertices[0], $0.vertices[3]]
      }
    },
  ]

  /// By pixels, of each second frame.
  private static let pixels = seen.ruled(.pictures) { $0.pictureEvery = 2 }

  fileprivate static let images = [
    Planted(
      "an image of another level", seen, .pictureChanged, at: .frame(40), "reader",
      words: "the image preview: differs"
    ) { $0.change(5) { $0.content = .image(image(level: 7)) } },
    Planted(
      "one pixel", pixels, .pictureChanged, at: .frame(40), "reader",
      words: "the image preview: differs in 1 pixel by up to 80 levels: PSNR 43.69 dB, "
        + "SSIM 0.9942 (at least 1.0000), 0.4 % of the window at 0,0 (at most 0.0 %)"
    ) { $0.change(5) { $0.content = .image(image(level: 105) { $0[3] += 80 }) } },
    Planted("other levels", pixels, .pictureChanged, at: .frame(40), "reader") {
      $0.change(5) { $0.content = .image(image(level: 7)) }
    },
    Planted("an image of another size", pixels, .pictureChanged, at: .frame(40), "reader") {
      $0.change(5) { $0.content = .image(map(of: 0) { _, _ in 0 }) }
    },
    Planted("an image that is gone", pixels, .factDisappeared, at: .frame(40), "reader") {
      $0.observed = { items, frame in
        frame == 40 ? items.filter { $0.label != "preview" } : items
      }
    },
    .allowed(
      "an image within its tolerances",
      seen.ruled(.pictures) { ($0.ssimMin, $0.densestMax, $0.psnrMin) = (0.98, 0.01, 38) }
    ) { $0.change(5) { $0.content = .image(image(level: 105) { $0[3] += 80 }) } },
  ]

  fileprivate static let maps = [
    Planted(
      "an offset in a window", pixels, .pictureChanged, at: .frame(40), "reader",
      words: "the image depth: differs by up to 0.5000 at 8,4 (41.5000 instead of 41.0000, "
        + "0.0000 allowed), in 16 pixels by more than allowed: RMS 0.0722, 6.2 % of the window at "
        + "0,0 (at most 0.0 %)"
    ) { $0.changeMap { x, y in (8..<12).contains(x) && (4..<8).contains(y) ? 0.5 : 0 } },
    Planted("an offset everywhere", pixels, .pictureChanged, at: .frame(40), "reader") {
      $0.changeMap { _, _ in 1 }
    },
    Planted("a hole", pixels, .pictureChanged, at: .frame(40), "reader") {
      $0.changeMap { x, y in x == 31 && y == 23 ? .nan : 0 }
    },
    Planted("a map by its digest", seen, .pictureChanged, at: .frame(40), "reader") {
      $0.changeMap { x, _ in x == 0 ? 0.001 : 0 }
    },
    Planted(
      "a map with too much noise", seen.ruled(.pictures) { ($0.scalar, $0.rmsMax) = (2, 0.01) },
      .pictureChanged, at: .frame(40), "reader",
      words: "2.0000 allowed), in 0 pixels by more than allowed: RMS 0.0707 (at most 0.0100), "
    ) { $0.changeMap { x, _ in x % 2 == 0 ? 0.1 : 0 } },
    .allowed("noise of a map within its tolerance", seen.ruled(.pictures) { $0.scalar = 0.11 }) {
      $0.changeMap { x, _ in x % 2 == 0 ? 0.1 : -0.1 }
    },
    .allowed("a share of the golden's numbers", seen.ruled(.pictures) { $0.relative = 0.03 }) {
      $0.changeMap { _, _ in 1 }
    },
    .allowed("few large errors", seen.ruled(.pictures) { ($0.densestMax, $0.scalar) = (0.07, 0) }) {
      $0.changeMap { x, y in (8..<12).contains(x) && (4..<8).contains(y) ? 9 : 0 }
    },
  ]
}

extension Recipe {
  /// Changes one observation of frame 40.
  fileprivate mutating func change(
    _ place: Int, _ change: @escaping @Sendable (inout Observation) -> Void
  ) {
    observed = { items, frame in
      guard frame == 40 else { return items }
      var items = items
      change(&items[place])
      return items
    }
  }

  fileprivate mutating func changePoints(
    _ change: @escaping @Sendable (inout [KeyPoint]) -> Void
  ) {
    self.change(1) { item in
      guard case .points(var points) = item.content else { return }
      change(&points.points)
      item.content = .points(points)
    }
  }

  fileprivate mutating func changeLine(_ change: @escaping @Sendable (inout Polyline) -> Void) {
    self.change(4) { item in
      guard case .polyline(var line) = item.content else { return }
      change(&line)
      item.content = .polyline(line)
    }
  }

  fileprivate mutating func changeMap(
    _ offset: @escaping @Sendable (_ x: Int, _ y: Int) -> Float
  ) {
    change(6) { $0.content = .image(PlantedObservations.map(of: 40, offset)) }
  }

  fileprivate mutating func changeField(_ key: String, _ value: JSONValue?) {
    change(3) { item in
      guard case .json(.object(var members)) = item.content else { return }
      members[key] = value
      item.content = .json(.object(members))
    }
  }
}
