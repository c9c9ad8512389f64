import Foundation
import RetakeCore
package import RetakeGraph

extension GoldenFolder {
  /// The document of the golden's pipeline, checked against golden.yml; `nil` if the golden has no
  /// document.
  ///
  /// The digest in golden.yml covers everything except the costs, which do not change a verdict.
  /// - Throws: `GoldenError.inconsistent` for a document of another pipeline, or a document that
  ///   cannot be parsed; `io`.
  package func pipeline(of manifest: GoldenManifest) throws -> PipelineRecord? {
    let url = file(Self.pipelineName)
    guard let data = try pipelineBytes(url) else { return nil }
    func broken(_ detail: String) -> GoldenError { .inconsistent(file: url.path, detail: detail) }
    let record: PipelineRecord
    do {
      record = try PipelineRecord(parsing: data)
    } catch let error as PipelineError {
      throw broken(error.message)
    }
    guard record.digest == manifest.pipeline.digest else {
      throw broken(
        "it is not the golden's pipeline: its digest is \(record.digest), golden.yml says "
          + "\(manifest.pipeline.digest)")
    }
    // Compared separately, because the digest leaves the name out (docs/formats/pipeline.md).
    guard record.name == manifest.pipeline.name else {
      throw broken(
        "it is not the golden's pipeline: it is called '\(record.name.shortened)', in golden.yml "
          + "'\(manifest.pipeline.name.shortened)'")
    }
    return record
  }

  private func pipelineBytes(_ url: URL) throws -> Data? {
    do {
      return try contents(of: url, bytesMax: Int64(PipelineDocument.bytesMax))
    } catch let error as GoldenError {
      // Goldens from before documents were kept have no document, and stay valid.
      if case .fileMissing = error { return nil }
      throw error
    }
  }

  /// The result of adding a pipeline document to a golden.
  package enum PipelineAdoption: Hashable, Sendable {
    /// The golden already has a matching document.
    case present
    case added
    /// The golden was made with another pipeline.
    case otherPipeline
    /// The document is larger than the limit for reading.
    case tooLarge
  }

  /// Writes the document of a pipeline next to golden.yml, unless a matching one exists.
  ///
  /// Costs are left out, because golden.yml does not record whether they are the golden's.
  /// - Throws: `GoldenError.missing` without a golden; `manifest`, `io`.
  package func adopt(
    _ record: PipelineRecord, isDryRun: Bool = false
  ) throws -> PipelineAdoption {
    let lock = FolderLock(url, isDryRun ? .reading : .writing)
    defer { withExtendedLifetime(lock) {} }
    let manifest = try manifest()
    // Before the digests are compared: a golden that has its document is fine, whatever the
    // project's pipeline is by now.
    if try hasPipeline(of: manifest) { return .present }
    guard record.digest == manifest.pipeline.digest else { return .otherPipeline }
    var kept = record.withoutCosts
    // The name is not in the digest, so it may differ here, and readers refuse another name.
    kept.name = manifest.pipeline.name
    guard kept.text.utf8.count <= PipelineDocument.bytesMax else { return .tooLarge }
    if isDryRun { return .added }
    let target = file(Self.pipelineName)
    // Ends in .new, so git and readers ignore it if this is interrupted.
    let new = target.appendingPathExtension("adopting.new")
    try OutputFile.write(kept.text.utf8, to: new)
    try replace(target, with: new)
    synchronize(folder: target.deletingLastPathComponent())
    return .added
  }

  /// Whether golden.yml has no matching document next to it.
  package func lacksPipeline() throws -> Bool { !(try hasPipeline(of: manifest())) }

  private func hasPipeline(of manifest: GoldenManifest) throws -> Bool {
    do {
      return try pipeline(of: manifest) != nil
    } catch let error as GoldenError {
      // An altered document counts as missing, so that adopting writes it again.
      if case .inconsistent = error { return false }
      throw error
    }
  }
}
