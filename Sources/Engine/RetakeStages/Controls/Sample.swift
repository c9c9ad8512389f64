public import RetakeGraph

/// The frames that a sample passes.
package struct SampleOptions: StageOptions, Hashable {
  @OptionValue("the first of this number of frames passes, {range}", in: 1...1_000_000)
  package var every = 2

  package init() {}

  package init(every: Int) { self.every = every }
}

/// Thins frames by their number. The engine executes it, for any kind of value.
enum Sample {
  static let signature = StageSignature(
    kind: "sample", version: 1, role: .sample, input: nil, output: nil,
    summary: "lets the first of every N frames through")

  static func body(_ options: SampleOptions) throws -> AnyStage.Body {
    try options.checkRanges()
    return .sample(options.every)
  }
}

extension PipelineChain {
  /// Passes the first of every `every` frames; 1 to 1,000,000.
  public func sample(every: Int, id: String? = nil) -> PipelineChain<Output> {
    let options = SampleOptions(every: every)
    return passing(
      AnyStage(
        signature: Sample.signature, options: AnyStage.canonical(options),
        body: built { try Sample.body(options) }), id: id)
  }
}
