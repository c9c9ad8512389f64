import RetakeBuffers
import RetakeGraph

/// Copies each frame to separate memory, so that slow work on the copy does not occupy a buffer of
/// the camera's pool.
public struct CopyFrame: PureStage {
  public static let kind = "copy"
  public static let summary = "copies each frame into memory of its own"

  public init() {}

  public init(options: NoOptions) {}

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { frame.drawing([]) }
}
