public import Retake

/// How many pixels are brighter than a level.
public struct BrightPixels: PureStage {
  public struct Options: StageOptions {
    public static let explanations = ["above": "level above which a pixel is bright, 0 to 255"]
    public var above = 200

    public init() {}
  }

  public static let kind = "bright-pixels"
  public static let inputFormats: [PixelFormat] = [.gray]
  public let options: Options

  public init(options: Options) { self.options = options }

  public func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let above = options.above
    return Scalars([.init("bright", Double(frame.bytes(of: 0).count { $0 > above }))])
  }
}

/// What retake.yml names `example:bright`.
public let bright = Pipeline.named("bright").source(.session()).gray()
  .stage(BrightPixels(options: .init())).results("bright")
