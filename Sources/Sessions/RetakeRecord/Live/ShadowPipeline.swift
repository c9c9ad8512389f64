package import RetakeRuntime

/// A second pipeline on the frames of a recording. The recorder keeps the moments at which its
/// results differ from the first pipeline's.
package struct ShadowPipeline: Sendable {
  /// How much the results of two pipelines differ for one frame; `nil` if one of them has no result.
  /// Called on any thread, several calls at a time.
  package typealias Measure = @Sendable (LiveResult, LiveResult) -> Double?

  package var live: LivePipeline
  package var trigger: DisagreementTrigger
  /// Makes the measure for frames of these tracks, before the recording begins.
  package var measure: @Sendable ([LiveTrack]) throws -> Measure
  /// Is notified of the results and the decisions of this pipeline.
  package var watch: RecordingWatch?

  package init(
    _ live: LivePipeline, trigger: DisagreementTrigger = DisagreementTrigger(),
    measure: @escaping @Sendable ([LiveTrack]) throws -> Measure
  ) {
    (self.live, self.trigger, self.measure) = (live, trigger, measure)
  }
}
