/// The options of a stage: stored properties with defaults, in a `Codable` struct. A document may
/// set any of them. An unknown key or a wrong type is rejected when the document is read.
///
/// ```swift
/// struct BrightOptions: StageOptions {
///   static let explanations = ["above": "level above which a pixel is bright, 0 to 255"]
///   var above = 200
/// }
///
/// struct BrightPixels: PureStage {
///   typealias Options = BrightOptions
///   static let kind = "bright-pixels"
///   static let inputFormats: [PixelFormat] = [.gray]
///   let options: BrightOptions
///
///   init(options: BrightOptions) throws {
///     guard (0...255).contains(options.above) else {
///       throw OptionError(key: "above", message: "must be 0 to 255, is \(options.above)")
///     }
///     self.options = options
///   }
///
///   func process(_ frame: Frame, _ context: StageContext) -> Scalars {
///     let above = options.above
///     return Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > above }))])
///   }
/// }
/// ```
///
/// A node of a document sets it like this:
///
/// ```json
/// {"id": "bright", "kind": "bright-pixels", "options": {"above": 220}}
/// ```
///
/// Optional properties are not recognized as options, so every property needs a default value.
public protocol StageOptions: Codable, Sendable {
  /// Explanations by name of the option: one line with the unit and the range, for
  /// `retake pipeline stages`. An option without an entry is listed with its default alone.
  static var explanations: [String: String] { get }

  /// All defaults.
  init()
}
