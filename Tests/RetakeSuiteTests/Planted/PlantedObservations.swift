import RetakeCompare
import RetakeCore

/// Five regressions of each kind of observation: masks, key points, embeddings and JSON.
enum PlantedObservations {
  private static let seen = Recipe(.observations, "pulse")

  static let all = masks + points + embeddings + documents

  /// A mask, points, an embedding and a JSON value, in this order.
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
    ]
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

  fileprivate mutating func changeField(_ key: String, _ value: JSONValue?) {
    change(3) { item in
      guard case .json(.object(var members)) = item.content else { return }
      members[key] = value
      item.content = .json(.object(members))
    }
  }
}
