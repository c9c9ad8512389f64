package import RetakeBuffers
package import RetakeGraph

/// Copies each frame to separate memory, so that slow work on the copy does not occupy a buffer of
/// the camera's pool.
package struct CopyFrame: PureStage {
  package static let kind = "copy"
  package static let summary = "copies each frame into separate memory"
  package static let inputFormats = PixelFormat.allCases

  package init() {}

  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> Frame { frame.drawing([]) }
}
