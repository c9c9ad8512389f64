import RetakeBuffers
import RetakeCore

/// For stages without options.
public struct NoOptions: StageOptions {
  public init() {}
}
