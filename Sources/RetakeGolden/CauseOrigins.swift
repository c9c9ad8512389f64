import RetakeCompare

/// Tells a machine that behaves otherwise from a pipeline that does: what of the two runs' own
/// descriptions changed.
struct CauseOrigins {
  private let pipelineDiffers: Bool
  private let modelsDiffer: Bool
  private let environmentDiffers: Bool
  private let knowsLibraries: Bool

  init(
    manifests: (golden: GoldenManifest, actual: GoldenManifest), pipelineDiffers: Bool,
    environmentDiffers: Bool, knowsLibraries: Bool
  ) {
    self.pipelineDiffers = pipelineDiffers
    modelsDiffer = manifests.golden.models != manifests.actual.models
    self.environmentDiffers = environmentDiffers
    self.knowsLibraries = knowsLibraries
  }

  /// A model changes values alone, and where several things changed the nearest to the pipeline is
  /// the one to look at first. Without stage digests a cause still has an origin.
  func origin(of root: RootCause) -> RootCause.Origin? {
    if [.frameLost, .frameInserted].contains(root.why) { return nil }
    if pipelineDiffers { return .pipeline }
    if modelsDiffer { return .model }
    if environmentDiffers { return .environment }
    return knowsLibraries ? .code : .codeOrLibraries
  }
}
