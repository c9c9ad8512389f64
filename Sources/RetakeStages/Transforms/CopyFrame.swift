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
