import Foundation
import RetakeBuffers
import RetakeCompare
import RetakeCore
import RetakeGolden
import RetakeGraph
import RetakeReplay
import RetakeSession

/// One case that was run and compared.
struct CaseResult {
  var selected: SelectedCase
  var comparison: Comparison
  var summary: RunSummary?
  var pipeline: Pipeline?
  /// The pipeline that made the golden, if it was also run.
  var basePipeline: Pipeline?
  /// The track that each source reads.
  var sourceTracks: [String: Int] = [:]
  /// By class index, of all sinks.
  var classNames: [String] = []
  var tracks: [TrackDescription] = []
  /// The tracks whose images differ in size or turn.
  var varyingTracks: Set<Int> = []
  var error: (any CodedError)?
  var golden: GoldenFolder
  /// Where the run's files are: a temporary folder of this run.
  var actual: GoldenFolder
  /// Why the run is not left pending when it otherwise would be.
  var pendingRefusal: String?
  /// Distinguishes the pending result of this run from any other result; `nil` if the run left no
  /// pending result.
  var pendingIdentity: Digest128?
  /// The folder of the session that the case read; `nil` if the case has its own frames.
  var sessionPath: String?
  /// The platform on which the run's values hold.
  var platform = PlatformKey.current
}

extension CaseResult {
  /// A case that was not compared yet: until then it is errored.
  init(_ selected: SelectedCase, golden: GoldenFolder, actual: GoldenFolder) {
    self.init(
      selected: selected,
      comparison: Comparison(key: selected.key.description, verdict: .errored), golden: golden,
      actual: actual)
  }

  /// Two folders that are compared without a run.
  init(golden: GoldenFolder, actual: GoldenFolder, _ manifest: GoldenManifest) {
    var definition = CaseDefinition(
      name: manifest.testCase.name, pipeline: manifest.testCase.pipeline)
    definition.mode = .init(rawValue: manifest.testCase.mode) ?? .everyFrame
    self.init(
      selected: SelectedCase(definition: definition, session: manifest.input.session),
      comparison: Comparison(key: manifest.key, verdict: .errored), golden: golden, actual: actual)
  }

  /// Adds facts that files of results do not contain: the pipeline of each side, and the session, if
  /// the project still has it. Without them a report has neither graph nor images, and labels have
  /// no place.
  mutating func addSources(_ manifest: GoldenManifest, _ project: Project) {
    pipeline = project.pipeline(of: actual, manifest)
    basePipeline = try? golden.pipeline(in: project)
    classNames = (try? actual.chunk(0))?.header.classes.flatMap(\.self) ?? []
    guard let path = try? project.sessionPath(manifest.input.session),
      let reader = try? SessionReader(opening: path),
      // A session of the same name that was recorded again has other frames.
      (try? reader.inputDigest(tracks: manifest.input.tracks.values.sorted()))
        == manifest.input.digest
    else { return }
    sessionPath = path
    sourceTracks = manifest.input.tracks
    note(reader.tracks.filter { manifest.input.tracks.values.contains($0.track) }, of: reader)
  }

  /// Stores the session, the tracks and the platform of a run.
  mutating func note(_ replay: Replay, _ reader: SessionReader?) {
    sessionPath = reader?.folder.path
    if let reader {
      note(reader.tracks.filter { replay.tracks.values.contains($0.track) }, of: reader)
    }
    sourceTracks = replay.tracks
    platform = PlatformKey.current(models: replay.modelFiles, devices: replay.modelDevices)
  }

  private mutating func note(_ tracks: [TrackDescription], of reader: SessionReader) {
    self.tracks = tracks
    varyingTracks = Set(tracks.map(\.track).filter(reader.imagesVary))
  }

  /// Whether the golden was made with this pipeline, its costs included, and with these libraries.
  /// False if unknown: a golden of another platform does not list the libraries of this platform.
  var isRepeated: Bool {
    guard comparison.pipelineChanges.isEmpty,
      let manifests = try? (golden: golden.manifest(), actual: actual.manifest()),
      manifests.golden.pipeline.digest == manifests.actual.pipeline.digest,
      manifests.golden.models == manifests.actual.models,
      manifests.actual.changedPrograms(since: manifests.golden).isEmpty,
      manifests.actual.changedFiles(since: manifests.golden).isEmpty
    else { return false }
    let platform = manifests.actual.platform
    let libraries = golden.environment(platform)
    return !libraries.isEmpty && libraries == actual.environment(platform)
  }

  /// Opens the session again for the report. The results of many cases wait for the report, and an
  /// open reader would hold files and decoders until then.
  func openSession() -> SessionReader? { sessionPath.flatMap { try? SessionReader(opening: $0) } }

  /// A known change passes. A run without frames returns `nothingCompared`.
  func exitStatus(isCI: Bool) -> ExitStatus {
    if comparison.isExpected { return .passed }
    if let error, Infrastructure.isCause(of: error) { return .infrastructure }
    // Any other error, such as a damaged golden, is an error: something could have been compared.
    if comparison.verdict == .errored, summary?.frames.captured == 0 { return .nothingCompared }
    return comparison.verdict.exitStatus(isCI: isCI)
  }
}

extension GoldenFolder {
  /// The pipeline that the results were made with. Its programs are not started.
  ///
  /// - Throws: An error if the document is missing or cannot be read.
  func pipeline(in project: Project) throws -> Pipeline {
    let data = try RegularFile.contents(
      file(GoldenFolder.pipelineName).path, bytesMax: Int64(PipelineDocument.bytesMax))
    return try PipelineDocument.parseStored(
      data, catalog: project.registry.allowing(.never), file: url.lastPathComponent)
  }
}

extension Project {
  /// The pipeline that results were made with; `nil` if it cannot be read. A program may have to be
  /// started to know its outputs, which a stored document does not do: then this is the project's
  /// present pipeline, if it is the same.
  func pipeline(of results: GoldenFolder, _ manifest: GoldenManifest) -> Pipeline? {
    if let stored = try? results.pipeline(in: self) { return stored }
    let present = try? pipeline(manifest.testCase.pipeline)
    return present.flatMap { $0.digest == manifest.pipeline.digest ? $0 : nil }
  }
}
