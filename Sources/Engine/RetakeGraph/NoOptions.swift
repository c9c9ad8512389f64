/// For stages without options.
public struct NoOptions: StageOptions {
  /// The only value: there are no options to set.
  public init() {}
}
