import RetakeBuffers
import RetakeGraph

/// The luma of a frame as GRAY8. For YUV this is a view of the luma plane: nothing is copied, and
/// the samples keep their range. Packed colours are weighted according to BT.601.
public struct Grey: PureStage {
  public static let kind = "grey"
  public static let summary = "keeps the luma of each frame as GRAY8, without copying it from YUV"
  public static let keepsInput = true

  public init() {}

  public init(options: NoOptions) {}

  public func outputFormat(for input: PixelFormat) -> PixelFormat { .grey }

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { frame.luma() }
}

extension Frame {
  /// The frame's luma as GRAY8, in the frame's own range.
  func luma() -> Frame {
    if format == .grey { return self }
    if let layout = PackedLayout(format) { return lumaOfPackedPixels(layout) }
    return lumaPlaneView()
  }
}
