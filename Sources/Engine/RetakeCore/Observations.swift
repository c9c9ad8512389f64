/// Masks, key points, lines, images, embeddings and JSON documents of one frame: see `Observation`.
///
/// ```swift
/// struct Road: PureStage {
///   static let kind = "road"
///
///   func process(_ frame: Frame, _ context: StageContext) -> Observations {
///     let mask = Mask(width: frame.width, height: frame.height) { _, y in y >= frame.height / 2 }
///     return Observations([Observation(.mask(mask), label: "road", score: 0.9)])
///   }
/// }
/// ```
public struct Observations: Hashable, Sendable {
  /// In any order that is the same in each run. Results keep it.
  public var items: [Observation]

  public init(_ items: [Observation]) {
    self.items = items
  }
}
