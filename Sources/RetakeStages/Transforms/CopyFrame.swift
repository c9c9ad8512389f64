import RetakeBuffers
import RetakeGraph

/// Copies each frame into memory of its own, so that whoever works on the copy for long keeps no buffer
/// of the camera's pool.
public struct CopyFrame: PureStage {
  public static let kind = "copy"
  public static let summary = "copies each frame into memory of its own"

  public init() {}

  public init(options: NoOptions) {}

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { frame.drawing([]) }
}

/// The pass that brings a picture to the screen's texture. The screen's renderer converts it, so the
/// frame passes as it is, in its own buffer; what the pass takes is the node's cost.
public struct Render: PureStage {
  public static let kind = "render"
  public static let summary = "brings each frame to the screen as it is; its cost is the renderer's"
  public static let keepsInput = true

  public init() {}

  public init(options: NoOptions) {}

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { frame }
}
