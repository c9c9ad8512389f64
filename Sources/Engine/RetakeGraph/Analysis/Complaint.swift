import RetakeCore

/// A problem of a pipeline, before it is known which changes help.
struct Complaint {
  var kind: PipelineWarning.Kind
  /// The node or executor with the problem. If it still has the problem after a change, the change
  /// did not help.
  var subject: String
  var message: String
  var pointer: String
  /// Changes that may help, each on its own.
  var candidates: [[PipelineFix]] = []
  /// The advice if no candidate helps.
  var otherwise: String
}
