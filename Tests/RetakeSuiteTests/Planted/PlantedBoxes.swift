import RetakeCore
import RetakeStages

/// Regressions of a detector followed by a tracker.
enum PlantedBoxes {
  private static let figures = Recipe(.boxes, "figures")
  private static let cut = Recipe(.boxes, "cut")

  private static let items = Recipe(.items, "figures")

  static let all = options + values + numbers + orders + tolerances + forEach

  /// The fault may be upstream of the forEach, or in its body.
  private static let forEach = [
    Planted("another score in front of a forEach", items, .scoreChanged, at: .frame(40), "filter") {
      $0.changeBox { $0.score += 0.01 }
    },
    Planted("another box in front of a forEach", items, nil, at: .frame(40), "filter") {
      $0.changeBox { $0.box.x += 20 }
    },
    Planted("fewer labels in a forEach", items, nil, at: .firstDifference, "each/colour") {
      $0.top = 1
    },
  ]

  /// An option was changed.
  private static let options: [Planted] =
    [figures, cut].flatMap { base in
      [
        Planted("threshold 26", base, nil, at: .firstDifference, "motion") {
          $0.motion.threshold = 26
        },
        Planted("threshold 20", base, nil, at: .firstDifference, "motion") {
          $0.motion.threshold = 20
        },
        Planted("cell of 5 pixels", base, nil, at: .firstDifference, "motion") {
          $0.motion.cell = 5
        },
        Planted("crop off by one", base, nil, at: .frame(0), "crop") { $0.crop.x = 2 },
        Planted("crop a row lower", base, nil, at: .frame(0), "crop") { $0.crop.y = 2 },
        Planted("brighter from a frame on", base, nil, at: .frame(40), "tint") {
          $0.picture = { frame, number in
            guard number == 40 else { return frame }
            return frame.changing { bytes in
              for index in bytes.indices { bytes[index] = bytes[index] &+ 60 }
            }
          }
        },
      ]
    } + [
      Planted("one region at most", figures, .boxDisappeared, at: .firstDifference, "motion") {
        $0.motion.maximumRegions = 1
      },
      Planted("smallest area", figures, nil, at: .firstDifference, "motion") {
        $0.motion.minimumArea = 400
      },
      Planted("reach of one cell", figures, nil, at: .firstDifference, "motion") {
        $0.motion.reach = 1
      },
    ]

  /// A stage's code changed; the document is the same.
  private static let values = [
    Planted("a box is lost", figures, .boxDisappeared, at: .frame(40), "filter") {
      $0.changeBoxes(at: 40) { $0.removeFirst() }
    },
    Planted("a box too many", figures, .boxAppeared, at: .frame(40), "filter") {
      $0.changeBoxes(at: 40) {
        $0.append(Detection(box: Box(x: 280, y: 200, width: 9, height: 9), score: 0.5))
      }
    },
    Planted("all boxes are lost", figures, .boxDisappeared, at: .frame(40), "filter") {
      $0.changeBoxes(at: 40) { $0.removeAll() }
    },
    Planted("a box moves by 2 px", figures, .boxMoved, at: .frame(40), "filter") {
      $0.changeBox { $0.box.x += 2 }
    },
    Planted("a box by 0.1 px", figures, .boxMoved, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.box.y += 0.1 }
    },
    Planted("a box 3 percent larger", figures, .boxMoved, at: .frame(40), "filter") {
      $0.changeBox { $0.box.width *= 1.03 }
    },
    Planted("width and height swapped", figures, nil, at: .frame(40), "filter") {
      $0.changeBox { ($0.box.width, $0.box.height) = ($0.box.height, $0.box.width) }
    },
    Planted("another score", figures, .scoreChanged, at: .frame(40), "filter") {
      $0.changeBox { $0.score += 0.01 }
    },
    Planted("a score that is no number", figures, .scoreChanged, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.score = .nan }
    },
    Planted("a place that is no number", figures, .boxDisappeared, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.box.x = .nan }
    },
    Planted("an infinite box", figures, .boxDisappeared, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.box.width = .infinity }
    },
    Planted("a class flips", figures, .classChanged, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.classIndex = 1 }
    },
    Planted("the class names change", figures, .classesChanged, at: .frame(0), "filter") {
      $0.detections = { found, _ in Detections(found.items, classNames: ["movement"]) }
    },
    Planted("a frame fails", figures, .fateChanged, at: .frame(40), "guard") { $0.failsAt = 40 },
  ]

  /// The tracker's identities.
  private static let numbers = [
    Planted("swapped detections", figures, .identityChanged, at: .frame(40), "filter") {
      $0.changeBoxes(at: 40) { items in
        let first = items[0].identity
        items[0].identity = items[1].identity
        items[1].identity = first
      }
    },
    Planted("a number changes for good", figures, .identityChanged, at: .frame(40), "filter") {
      $0.changeBox { $0.identity = 900 }
    },
    Planted("numbers are gone", figures, .identityChanged, at: .frame(40), "filter") {
      $0.changeBox(to: 40) { $0.identity = nil }
    },
  ]

  private static let orders = [
    Planted(
      "a changed order that has a meaning",
      figures.ruled(.boxes) { $0.order = .significant }, nil, at: .frame(40), "filter"
    ) {
      $0.changeBoxes(at: 40) { $0.reverse() }
    },
    Planted.allowed(
      "a changed order without a meaning", figures,
      words: "stage digests differ under equal results: 1 of"
    ) {
      $0.changeBoxes(at: 40) { $0.reverse() }
    },
  ]

  /// Inside and outside the tolerance.
  private static let tolerances: [Planted] =
    [figures, cut].map { base in
      Planted(
        "drift of 0.1 px a second", base.ruled(.boxes) { $0.position = 2 }, .drift,
        at: .firstDifference, "filter"
      ) {
        $0.changeBoxes { $0.box.x += 0.1 * Double($1) / 30 }
      }
    } + [
      Planted(
        "drift of a size", figures.ruled(.boxes) { $0.position = 2 }, .drift,
        at: .firstDifference, "filter"
      ) {
        $0.changeBoxes { $0.box.height -= 0.2 * Double($1) / 30 }
      },
      .allowed("a step inside the tolerance", figures.ruled(.boxes) { $0.position = 1 }) {
        $0.changeBoxes { $0.box.x += $1 < 50 ? 0 : 0.4 }
      },
      .allowed("noise inside the tolerance", figures.ruled(.boxes) { $0.position = 0.3 }) {
        $0.changeBoxes { $0.box.x += $1.isMultiple(of: 2) ? 0.3 : -0.3 }
      },
      Planted(
        "just outside the tolerance", figures.ruled(.boxes) { $0.position = 0.3 }, .boxMoved,
        at: .frame(40), "filter"
      ) {
        $0.changeBox(to: 40) { $0.box.x += 0.4 }
      },
      Planted(
        "one box too many without a partner", figures.ruled(.boxes) { $0.unmatchedMax = 2 },
        .boxDisappeared, at: .frame(40), "filter"
      ) {
        $0.detections = { found, frame in
          (40...42).contains(frame)
            ? Detections(Array(found.items.dropFirst()), classNames: found.classNames) : found
        }
      },
    ]
}
