package import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// A named color. Levels are 0 to 255.
public struct NamedColor: Hashable, Sendable, Codable {
  /// The name in results; not empty, and unique in a palette.
  public var label: String
  /// 0 to 255, without the offsets of limited range: black is 0 and white 255 in all three.
  public var red: Int
  /// 0 to 255.
  public var green: Int
  /// 0 to 255.
  public var blue: Int

  /// Does not check the values. `meanColor` refuses a palette with an empty label, with the same
  /// label twice, or with a level outside 0 to 255.
  public init(_ label: String, red: Int, green: Int, blue: Int) {
    (self.label, self.red, self.green, self.blue) = (label, red, green, blue)
  }

  /// - Throws: If a key is missing or unknown, or a level is not an integer.
  public init(from decoder: any Decoder) throws {
    // Decodable ignores unknown keys, and a document's are refused (docs/pipelines.md).
    try decoder.refuseUnknownKeys(["label", "red", "green", "blue"])
    let container = try decoder.container(keyedBy: CodingKeys.self)
    label = try container.decode(String.self, forKey: .label)
    red = try container.integer(forKey: .red)
    green = try container.integer(forKey: .green)
    blue = try container.integer(forKey: .blue)
  }
}

/// The palette, and the number of labels to return.
package struct MeanColorOptions: StageOptions, Hashable {
  @OptionValue(
    "1 to 256 colors with distinct labels: label, and red, green and blue from 0 to 255")
  package var palette = MeanColor.cube
  @OptionValue("nearest colors that are returned, {range}", in: 1...256) package var top = 3

  package init() {}

  package init(palette: [NamedColor] = MeanColor.cube, top: Int = 3) {
    (self.palette, self.top) = (palette, top)
  }
}

/// Returns the colors of a palette that are nearest to the mean color of a frame: a classifier
/// without a model.
///
/// The score of a color is `1 − d / (255 √3)`, where d is the distance from the mean in red, green
/// and blue: 1 is the color itself, 0 the opposite corner of the color cube. The best comes first;
/// equal scores are in palette order. Sums are exact integers, and the divisions and the root are
/// correctly rounded, so every machine computes the same bits. All pixel formats are used without
/// conversion; see `Fingertip` for how luma and chroma become colors.
package struct MeanColor: PureStage {
  package static let kind = "mean-colour"
  package static let summary = "names the colors nearest to the mean of each frame"

  /// Black, white, gray, and the six fully saturated colors.
  package static let cube = [
    NamedColor("black", red: 0, green: 0, blue: 0),
    NamedColor("grey", red: 128, green: 128, blue: 128),
    NamedColor("white", red: 255, green: 255, blue: 255),
    NamedColor("red", red: 255, green: 0, blue: 0),
    NamedColor("yellow", red: 255, green: 255, blue: 0),
    NamedColor("green", red: 0, green: 255, blue: 0),
    NamedColor("cyan", red: 0, green: 255, blue: 255),
    NamedColor("blue", red: 0, green: 0, blue: 255),
    NamedColor("magenta", red: 255, green: 0, blue: 255),
  ]

  package let options: MeanColorOptions

  /// - Throws: `OptionError` for an invalid palette or count.
  package init(options: MeanColorOptions) throws {
    try options.checkRanges()
    guard (1...256).contains(options.palette.count) else {
      throw OptionError(
        key: "palette", message: "must have 1 to 256 colors, has \(options.palette.count)")
    }
    for (index, color) in options.palette.enumerated() {
      let key = "palette/\(index)"
      // A result names a color by its label alone, so two with one label would be the same.
      guard !options.palette[..<index].contains(where: { $0.label == color.label }) else {
        throw OptionError(key: key, message: "has the label '\(color.label)' a second time")
      }
      guard !color.label.isEmpty else { throw OptionError(key: key, message: "needs a label") }
      try OptionError.require(color.red, "\(key)/red", in: 0...255)
      try OptionError.require(color.green, "\(key)/green", in: 0...255)
      try OptionError.require(color.blue, "\(key)/blue", in: 0...255)
    }
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Classes {
    let mean = frame.colorMeans(percent: 100)
    let scores = options.palette.enumerated().map { (index: $0, score: $1.score(of: mean)) }
    // The index settles equal scores, because `sorted` does not promise to keep their order.
    let best = scores.sorted { ($1.score, $0.index) < ($0.score, $1.index) }.prefix(options.top)
    return Classes(
      best.map { Classification(label: options.palette[$0.index].label, score: $0.score) })
  }
}

extension NamedColor {
  /// The square of the longest distance: 3 × 255².
  private static let longestSquared = 195_075.0

  fileprivate func score(of mean: ColorMeans) -> Double {
    let difference = (
      mean.red - Double(red), mean.green - Double(green), mean.blue - Double(blue)
    )
    let squared =
      difference.0 * difference.0 + difference.1 * difference.1 + difference.2 * difference.2
    // A mean may be slightly outside the cube.
    return max(0, 1 - (squared / Self.longestSquared).squareRoot())
  }
}
