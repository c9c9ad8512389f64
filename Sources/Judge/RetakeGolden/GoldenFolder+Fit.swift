import Foundation
package import RetakeCompare

extension GoldenFolder {
  /// Writes rules into golden.yml, together with how they were found. No other part of the golden
  /// changes.
  ///
  /// If this is interrupted, golden.yml is either the old or the new file.
  /// - Parameters:
  ///   - budgets: Not changed if `nil`.
  ///   - fitted: Replaces all evidence, but of devices only the evidence of the same devices.
  /// - Throws: `GoldenError.missing` without a golden; `manifest`, `io`.
  package func setRules(
    _ rules: CompareRules, budgets: GoldenManifest.Budgets? = nil, fitted: [GoldenManifest.Fit]
  ) throws {
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    var manifest = try manifest()
    manifest.compare = rules
    if let budgets { manifest.budgets = budgets }
    let devices = Set(fitted.map(\.devices))
    manifest.fitted =
      fitted + manifest.fitted.filter { !$0.devices.isEmpty && !devices.contains($0.devices) }
    let target = file(Self.manifestName)
    // Ends in .new, so git and readers ignore it if this is interrupted.
    let new = target.appendingPathExtension("fitting.new")
    try OutputFile.write(manifest.text.utf8, to: new)
    try replace(target, with: new)
    // The folder of the file and not `url`: golden.yml may still be in the folder of an acceptance.
    synchronize(folder: target.deletingLastPathComponent())
  }
}
