import Foundation
package import RetakeCompare
import RetakeCore

extension GoldenFolder {
  /// Makes a pending golden the accepted golden.
  ///
  /// All new files are first written completely to a separate folder. As soon as that folder is
  /// marked as complete, it is the golden; only then are the files moved into place. If this is
  /// interrupted at any point, readers find either the old golden or the new golden, and the next
  /// acceptance completes the interrupted acceptance. Rules and budgets that people wrote into
  /// golden.yml are kept. Marks of known changes are removed, because the results are equal again.
  /// Stage digests of other platforms are kept only if their inputs did not change.
  ///
  /// - Parameters:
  ///   - pending: The pending golden; `nil` means the pending golden next to this golden.
  ///   - acceptance: The entry for golden.yml. The caller sets its date.
  /// - Throws: `GoldenError.nothingPending`; an error in the pending golden; `io`.
  @discardableResult
  package func accept(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder? = nil
  ) throws -> GoldenManifest {
    try accept(acceptance, from: pending ?? self.pending) { _ in }
  }

  /// `step` is called before every step, so that a test can interrupt there.
  func accept(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder,
    step: (String) throws -> Void
  ) throws -> GoldenManifest {
    // Before the lock, because the lock is on this folder.
    try io(url, "make the folder") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    // Before anything is written: a golden that is complete in the folder of an earlier acceptance
    // is the accepted one, and this acceptance keeps its rules and history.
    try finishInterrupted(step)
    return try acceptLocked(acceptance, from: pending, step: step)
  }

  private func acceptLocked(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder,
    step: (String) throws -> Void
  ) throws -> GoldenManifest {
    // Checked under the lock: while this acceptance waited, another may have accepted the result.
    guard pending.exists else { throw GoldenError.nothingPending(folder: pending.url.path) }
    let names = pending.fileNames()
    let manifest = try acceptedManifest(acceptance, pending, names)
    try stage(manifest, names, from: pending, step)
    try perform("move", step) { try rollForward(step) }
    // If it cannot be removed, no harm is done: it now equals the golden.
    try perform("discard pending", step) { try? pending.removeFiles() }
    return manifest
  }

  /// Accepts only the changes that follow from some root causes of a pending golden. All other
  /// results stay as they were, and the pending golden stays until every root cause is accepted or
  /// rejected.
  ///
  /// - Parameters:
  ///   - pending: The pending golden; `nil` means the pending golden next to this golden.
  ///   - isChosen: The root causes to accept, at least one.
  ///   - acceptance: Makes the entry from the accepted root causes and the number of frames that
  ///     change.
  /// - Throws: As `accept(_:from:)`; `GoldenError.inseparable` for root causes that are written
  ///   together with others.
  package func accept(
    from pending: GoldenFolder? = nil, options: GoldenComparator.Options = .init(),
    rootCauses isChosen: (RootCause) -> Bool,
    acceptance: ([RootCause], Int) -> GoldenManifest.Acceptance
  ) throws -> GoldenSplit {
    let pending = pending ?? self.pending
    guard exists else { throw GoldenError.missing(folder: url.path) }
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    try finishInterrupted { _ in }
    let split = try GoldenSplit(
      golden: self, pending: pending, options: options, isLocked: true, isChosen)
    guard !split.chosen.isEmpty else { return split }
    let entry = acceptance(split.chosen, split.frames)
    // Every root cause is accepted, so the pending files are copied as they are, with the
    // pipeline's document. A merge would keep the golden's own document (docs/comparing.md).
    if split.left.isEmpty {
      _ = try acceptLocked(entry, from: pending) { _ in }
      return split
    }
    // In the golden's folder: hard links do not cross file systems, and copies are slower.
    let scratch = try ScratchFolder(in: url)
    defer { scratch.remove() }
    try GoldenMerge(split).write(to: scratch)
    _ = try acceptLocked(entry, from: GoldenFolder(scratch.url)) { _ in }
    return split
  }

  /// Removes from a pending golden the changes that follow from some of its root causes, so that
  /// they can no longer be accepted. If no root cause remains, the pending golden is removed.
  ///
  /// - Throws: As `accept(from:options:rootCauses:acceptance:)`.
  package func reject(
    from pending: GoldenFolder? = nil, options: GoldenComparator.Options = .init(),
    rootCauses isChosen: (RootCause) -> Bool
  ) throws -> GoldenSplit {
    let seen = try PendingGolden(pending ?? self.pending)
    return try reject(from: seen, options: options, rootCauses: isChosen)
  }

  /// The same for a result that was reviewed. If another result is pending by now, that result
  /// stays.
  ///
  /// - Throws: Also `GoldenError.pendingChanged`.
  package func reject(
    from seen: PendingGolden, options: GoldenComparator.Options = .init(),
    rootCauses isChosen: (RootCause) -> Bool
  ) throws -> GoldenSplit {
    // The roles are swapped: the merge keeps the part that is not rejected.
    let split = try GoldenSplit(
      golden: self, pending: seen.folder, options: options, isLocked: false
    ) { !isChosen($0) }
    guard !split.left.isEmpty else { return split }
    let isGone: Bool
    if split.chosen.isEmpty {
      isGone = try seen.discard()
    } else {
      // In the folder of the pending result: `rename` fails across file systems (`man 2 rename`).
      let scratch = try ScratchFolder(in: seen.origin.url)
      defer { scratch.remove() }
      try GoldenMerge(split).write(to: scratch)
      isGone = try scratch.move(into: seen.origin) {
        try seen.isStillPending()
      }
    }
    guard isGone else { throw GoldenError.pendingChanged(folder: seen.origin.url.path) }
    return split
  }

  /// Removes a pending golden.
  ///
  /// - Throws: `GoldenError.nothingPending`; `io` if a file cannot be removed.
  package func discardPending() throws {
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    // Under the lock: two people may reject the same result, and the second person has to learn
    // that.
    guard pending.exists else { throw GoldenError.nothingPending(folder: url.path) }
    try pending.removeFiles()
  }

  /// Removes an accepted golden, its alternates, the pending golden next to it, and the folders
  /// that are then empty. Files that do not belong to a golden stay.
  ///
  /// - Throws: `GoldenError.io` if a file cannot be removed.
  package func remove() throws {
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    for folder in [pending, self] + alternates() { try folder.removeFiles() }
    for folder in alternates() { rmdir(folder.url.path) }
    // `rmdir` removes only empty folders.
    if rmdir(url.path) == 0 { rmdir(url.deletingLastPathComponent().path) }
  }

  private func acceptedManifest(
    _ acceptance: GoldenManifest.Acceptance, _ pending: GoldenFolder, _ names: [String]
  ) throws -> GoldenManifest {
    var manifest = try pending.manifest()
    // A pending result of which a file was removed must not become a golden that can never be read.
    // Acceptance is the last moment at which the old golden still exists.
    for index in 0..<Self.chunkCount(frames: manifest.summary.captured) {
      guard names.contains(ResultChunkText.name(index)) else {
        throw GoldenError.fileMissing(file: pending.file(ResultChunkText.name(index)).path)
      }
    }
    guard names.contains(Self.decisionsName) else {
      throw GoldenError.fileMissing(file: pending.file(Self.decisionsName).path)
    }
    // The golden's rules determined the form of the results. A first alternate has the rules of its
    // golden.
    if let old = try? (exists ? self : overall)?.manifest() {
      for (sink, rule) in old.compare.bySink where manifest.compare.bySink[sink] != nil {
        manifest.compare.bySink[sink] = rule
      }
    }
    if exists, let old = try? self.manifest() {
      manifest.budgets = old.budgets
      // Noise that was measured with the old devices does not apply to the new golden.
      manifest.fitted = old.fitted.filter {
        $0.devices.isEmpty || old.devices == manifest.devices
      }
      // An accepted change is no longer a known change. A merged golden names the marks that are
      // left.
      manifest.accepted = old.accepted
    }
    // The latest is last, and the oldest is dropped first, so that golden.yml stays bounded.
    manifest.accepted.append(acceptance)
    manifest.accepted = manifest.accepted.suffix(GoldenManifest.acceptedMax)
    return manifest
  }

  /// Files of other platforms that are still valid.
  private func keptNames(_ new: GoldenManifest, _ names: [String], _ pending: GoldenFolder)
    -> [String]
  {
    guard exists, let old = try? manifest(), old.pipeline.digest == new.pipeline.digest,
      old.summary == new.summary
    else { return [] }
    let mine = fileNames()
    // Digests of another platform cannot be computed here. If this platform's digests are the same
    // as before, no stage changed, and the others are still right.
    let digests = names.filter { $0.hasPrefix("digests-") && mine.contains($0) }
    let areSame = digests.allSatisfy { name in
      (try? StageDigestReader.areSame(file(name), pending.file(name))) == true
    }
    guard areSame else { return [] }
    return mine.filter {
      ($0.hasPrefix("digests-") || $0.hasPrefix("environment-")) && !names.contains($0)
    }
  }

  /// Writes the complete new golden. The last step makes it valid.
  private func stage(
    _ manifest: GoldenManifest, _ names: [String], from pending: GoldenFolder,
    _ step: (String) throws -> Void
  ) throws {
    let accepting = url.appending(path: Self.acceptingName)
    let kept = keptNames(manifest, names, pending)
    // Fails if the folder exists: `finishInterrupted` has removed it under this lock, so it would
    // belong to a process without the lock.
    try perform("make", step) {
      try FileManager.default.createDirectory(at: accepting, withIntermediateDirectories: false)
    }
    for name in names where name != Self.manifestName {
      try perform("lay out \(name)", step) {
        try copy(pending.file(name), to: accepting.appending(path: name))
      }
    }
    for name in kept {
      try perform("keep \(name)", step) {
        try copy(file(name), to: accepting.appending(path: name))
      }
    }
    try perform("manifest", step) {
      try OutputFile.write(
        manifest.text.utf8, to: accepting.appending(path: Self.manifestName))
    }
    // Before the mark: after a power failure, a mark without the files would be a golden in pieces.
    synchronize(folder: accepting)
    // Renamed into place and not created there, so that it exists only when it is on the disk.
    try perform("commit", step) {
      let mark = accepting.appending(path: Self.commitName + ".new")
      try OutputFile.write("complete\n".utf8, to: mark)
      try replace(accepting.appending(path: Self.commitName), with: mark)
    }
    // The mark has to be on the disk before the first old file is replaced. From here on an
    // interruption leads forward, to the new golden.
    synchronize(folder: accepting)
  }

  /// Completes an interrupted acceptance if its folder is marked as complete; otherwise removes the
  /// folder.
  private func finishInterrupted(_ step: (String) throws -> Void) throws {
    let accepting = url.appending(path: Self.acceptingName)
    guard FileManager.default.fileExists(atPath: accepting.path) else { return }
    let commit = accepting.appending(path: Self.commitName)
    if FileManager.default.fileExists(atPath: commit.path) {
      try rollForward(step)
    } else {
      try io(accepting, "remove the folder") {
        try FileManager.default.removeItem(at: accepting)
      }
    }
  }

  /// Copies the complete new golden into place. Readers do not use these files in the meantime.
  private func rollForward(_ step: (String) throws -> Void) throws {
    let accepting = url.appending(path: Self.acceptingName)
    // While the mark exists, this lists the files of the new golden.
    let names = fileNames()
    let present = try io(url, "list the files") {
      try FileManager.default.contentsOfDirectory(atPath: url.path)
    }
    // Files that the new golden does not have, such as results of a longer run. Left in place, they
    // would be refused as files that are not of this golden.
    for name in present.sorted() where Self.isGoldenFile(name) && !names.contains(name) {
      try perform("remove \(name)", step) {
        try FileManager.default.removeItem(at: url.appending(path: name))
      }
    }
    for name in names {
      try perform("place \(name)", step) {
        let copied = accepting.appending(path: name + ".placing")
        // Left by an interrupted acceptance; a link or a copy fails if its target exists.
        try? FileManager.default.removeItem(at: copied)
        try copy(accepting.appending(path: name), to: copied)
        // A second link is renamed, and the file itself stays: readers use the accepting folder
        // until the mark is removed.
        try replace(url.appending(path: name), with: copied)
      }
    }
    // All files are in place on the disk before the mark that points to the other copies is
    // removed.
    synchronize(folder: url)
    try perform("uncommit", step) {
      try FileManager.default.removeItem(at: accepting.appending(path: Self.commitName))
    }
    try perform("clean", step) { try FileManager.default.removeItem(at: accepting) }
  }

  /// Removes the files of this golden. A user's notes next to them stay.
  func removeFiles() throws {
    // golden.yml first: without it the remaining files are not a golden.
    for name in [Self.manifestName] + fileNames() {
      let file = file(name)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      try io(file, "remove the file") { try FileManager.default.removeItem(at: file) }
    }
  }

  private func perform(
    _ name: String, _ step: (String) throws -> Void, _ body: () throws -> Void
  ) throws {
    do {
      try step(name)
      try body()
    } catch let error as GoldenError {
      throw error
    } catch {
      throw GoldenError.io(
        path: url.path, action: "accept the golden", cause: error.systemText)
    }
  }

  /// Makes a hard link if the file system supports it, else a copy.
  func copy(_ source: URL, to target: URL) throws {
    if link(source.path, target.path) != 0 {
      try FileManager.default.copyItem(at: source, to: target)
    }
  }
}
