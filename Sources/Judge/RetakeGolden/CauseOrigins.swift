import RetakeCompare

/// Distinguishes a changed machine from a changed pipeline, by the conditions that the two runs
/// record.
struct CauseOrigins {
  private let pipelineDiffers: Bool
  private let modelsDiffer: Bool
  private let programsDiffer: Bool
  private let filesDiffer: Bool
  private let environmentDiffers: Bool
  private let knowsLibraries: Bool

  init(
    manifests: (golden: GoldenManifest, actual: GoldenManifest), pipelineDiffers: Bool,
    environmentDiffers: Bool, knowsLibraries: Bool
  ) {
    self.pipelineDiffers = pipelineDiffers
    modelsDiffer = manifests.golden.models != manifests.actual.models
    programsDiffer = !manifests.actual.changedPrograms(since: manifests.golden).isEmpty
    filesDiffer = !manifests.actual.changedFiles(since: manifests.golden).isEmpty
    self.environmentDiffers = environmentDiffers
    self.knowsLibraries = knowsLibraries
  }

  /// If several conditions changed, the condition nearest to the pipeline is named, because it
  /// should be checked first. A model, a program or a file of stored results
  /// changes only values. A cause has an origin even without stage digests.
  func origin(of root: RootCause) -> RootCause.Origin? {
    if [.frameLost, .frameInserted].contains(root.why) { return nil }
    if pipelineDiffers { return .pipeline }
    if programsDiffer { return .program }
    if modelsDiffer { return .model }
    if filesDiffer { return .file }
    if environmentDiffers { return .environment }
    return knowsLibraries ? .code : .codeOrLibraries
  }
}
