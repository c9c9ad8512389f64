import RetakeGraph

/// How many frames a throttle lets through.
public struct ThrottleOptions: StageOptions, Hashable {
  /// Frames a second, above 0 and at most 1,000.
  public var fps = 15.0

  public init() {}

  public init(fps: Double) {
    self.fps = fps
  }
}

/// Thins frames by their time; the engine carries it out, for any kind of value.
enum Throttle {
  static let signature = StageSignature(
    kind: "throttle", version: 1, role: .throttle, input: nil, output: nil,
    summary: "lets at most so many frames a second through, by their time")

  static func body(_ options: ThrottleOptions) throws(OptionError) -> AnyStage.Body {
    guard options.fps > 0, options.fps <= 1_000 else {
      throw OptionError(
        key: "fps", message: "must be above 0 and at most 1000, is \(options.fps)")
    }
    return .throttle(options.fps)
  }
}

extension PipelineChain {
  /// Lets at most so many frames a second through, by their time; above 0 and at most 1,000.
  public func throttle(fps: Double, id: String? = nil) -> PipelineChain<Output> {
    let options = ThrottleOptions(fps: fps)
    return passing(
      AnyStage(
        signature: Throttle.signature, options: AnyStage.canonical(options),
        body: built { try Throttle.body(options) }), id: id)
  }
}
