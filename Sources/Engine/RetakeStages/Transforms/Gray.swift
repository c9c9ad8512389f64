package import RetakeBuffers
package import RetakeGraph

/// The luma of a frame as GRAY8. For YUV this is a view of the luma plane: no pixels are copied,
/// and the samples keep their range. Packed colors are weighted according to BT.601.
package struct Gray: PureStage {
  package static let kind = "grey"
  package static let summary = "keeps the luma of each frame as GRAY8, without copying it from YUV"
  package static let keepsInput = true

  package init() {}

  package init(options: NoOptions) {}

  package func outputFormat(for input: PixelFormat) -> PixelFormat { .gray }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame { frame.luma() }
}

extension Frame {
  /// The frame's luma as GRAY8, in the frame's own range.
  func luma() -> Frame {
    if format == .gray { return self }
    if let layout = PackedLayout(format) { return lumaOfPackedPixels(layout) }
    return lumaPlaneView()
  }
}
