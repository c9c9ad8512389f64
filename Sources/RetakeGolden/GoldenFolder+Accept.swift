import Foundation
import RetakeCompare
import RetakeCore

extension GoldenFolder {
  /// Makes a pending golden the accepted one.
  ///
  /// All new files are laid out complete in a folder of their own first; from the moment in which
  /// that folder is marked as complete it is the golden, and only then are they moved into place.
  /// Whenever this is interrupted, readers find the old golden or the new one, and the next
  /// acceptance ends what was begun. Rules and budgets that people wrote into golden.yml stay; marks
  /// of known changes go, for nothing differs any more. Stage digests of other platforms stay only
  /// where nothing that they depend on changed.
  ///
  /// - Parameters:
  ///   - pending: Where the pending golden is; `nil` is beside this one.
  ///   - acceptance: The date is the caller's.
  /// - Throws: `GoldenError.nothingPending`; what is wrong with the pending golden; `io`.
  @discardableResult
  public func accept(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder? = nil
  ) throws(GoldenError) -> GoldenManifest {
    try accept(acceptance, from: pending ?? self.pending) { _ in }
  }

  /// `step` is told of every step before it is taken; a test interrupts there.
  func accept(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder,
    step: (String) throws -> Void
  ) throws(GoldenError) -> GoldenManifest {
    try io(url, "make the folder") {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    try finishInterrupted(step)
    return try acceptLocked(acceptance, from: pending, step: step)
  }

  private func acceptLocked(
    _ acceptance: GoldenManifest.Acceptance, from pending: GoldenFolder,
    step: (String) throws -> Void
  ) throws(GoldenError) -> GoldenManifest {
    guard pending.exists else { throw .nothingPending(folder: pending.url.path) }
    let names = pending.fileNames()
    let manifest = try acceptedManifest(acceptance, pending, names)
    try stage(manifest, names, from: pending, step)
    try perform("move", step) { try rollForward(step) }
    // A pending golden that cannot be removed equals the golden by now, and says nothing new.
    try perform("discard pending", step) { try? pending.removeFiles() }
    return manifest
  }

  /// Accepts of a pending golden what follows from some of its root causes; the rest stays as it
  /// was, and the pending golden stays beside it until nothing is left.
  ///
  /// - Parameters:
  ///   - pending: Where the pending golden is; `nil` is beside this one.
  ///   - isChosen: The root causes to accept, at least one.
  ///   - acceptance: Of the root causes that are accepted, and the number of frames that change.
  /// - Throws: As `accept(_:from:)`; `GoldenError.inseparable` for root causes that are written
  ///   together with others.
  package func accept(
    from pending: GoldenFolder? = nil, options: GoldenComparator.Options = .init(),
    roots isChosen: (RootCause) -> Bool,
    acceptance: ([RootCause], Int) -> GoldenManifest.Acceptance
  ) throws(GoldenError) -> GoldenSplit {
    let pending = pending ?? self.pending
    guard exists else { throw .missing(folder: url.path) }
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    try finishInterrupted { _ in }
    let split = try GoldenSplit(
      golden: self, pending: pending, options: options, isLocked: true, isChosen)
    guard !split.chosen.isEmpty else { return split }
    let entry = acceptance(split.chosen, split.frames)
    if split.left.isEmpty {
      _ = try acceptLocked(entry, from: pending) { _ in }
      return split
    }
    let scratch = try ScratchFolder(in: url)
    defer { scratch.remove() }
    try GoldenMerge(split).write(to: scratch)
    _ = try acceptLocked(entry, from: GoldenFolder(scratch.url)) { _ in }
    return split
  }

  /// Takes out of a pending golden what follows from some of its root causes, so that it cannot be
  /// accepted any more; with the last of them the pending golden goes.
  ///
  /// - Throws: As `accept(from:options:roots:acceptance:)`.
  package func reject(
    from pending: GoldenFolder? = nil, options: GoldenComparator.Options = .init(),
    roots isChosen: (RootCause) -> Bool
  ) throws(GoldenError) -> GoldenSplit {
    let seen = try PendingGolden(pending ?? self.pending)
    return try reject(from: seen, options: options, roots: isChosen)
  }

  /// The same, of a result that was looked at; another one that is pending by now stays.
  ///
  /// - Throws: Also `GoldenError.pendingChanged`.
  package func reject(
    from seen: PendingGolden, options: GoldenComparator.Options = .init(),
    roots isChosen: (RootCause) -> Bool
  ) throws(GoldenError) -> GoldenSplit {
    let split = try GoldenSplit(
      golden: self, pending: seen.folder, options: options, isLocked: false
    ) { !isChosen($0) }
    guard !split.left.isEmpty else { return split }
    let isGone: Bool
    if split.chosen.isEmpty {
      isGone = try seen.discard()
    } else {
      let scratch = try ScratchFolder(in: seen.origin.url)
      defer { scratch.remove() }
      try GoldenMerge(split).write(to: scratch)
      isGone = try scratch.move(into: seen.origin) { () throws(GoldenError) in
        try seen.isStillPending()
      }
    }
    guard isGone else { throw .pendingChanged(folder: seen.origin.url.path) }
    return split
  }

  /// Takes back a pending golden.
  ///
  /// - Throws: `GoldenError.nothingPending`; `io` where a file cannot be removed.
  public func discardPending() throws(GoldenError) {
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    guard pending.exists else { throw .nothingPending(folder: url.path) }
    try pending.removeFiles()
  }

  /// Removes an accepted golden, its alternates and what is pending beside it, and the folders that
  /// are then empty. Files that are no golden's stay.
  ///
  /// - Throws: `GoldenError.io` where a file cannot be removed.
  public func remove() throws(GoldenError) {
    let lock = FolderLock(url, .writing)
    defer { withExtendedLifetime(lock) {} }
    for folder in [pending, self] + alternates() { try folder.removeFiles() }
    for folder in alternates() { rmdir(folder.url.path) }
    // Only empty folders go.
    if rmdir(url.path) == 0 { rmdir(url.deletingLastPathComponent().path) }
  }

  private func acceptedManifest(
    _ acceptance: GoldenManifest.Acceptance, _ pending: GoldenFolder, _ names: [String]
  ) throws(GoldenError) -> GoldenManifest {
    var manifest = try pending.manifest()
    for index in 0..<Self.chunkCount(frames: manifest.summary.captured) {
      guard names.contains(ResultChunkText.name(index)) else {
        throw .fileMissing(file: pending.file(ResultChunkText.name(index)).path)
      }
    }
    guard names.contains(Self.decisionsName) else {
      throw .fileMissing(file: pending.file(Self.decisionsName).path)
    }
    // The results were written by the golden's rules: those of a first alternate, too.
    if let old = try? (exists ? self : overall)?.manifest() {
      for (sink, rule) in old.compare.bySink where manifest.compare.bySink[sink] != nil {
        manifest.compare.bySink[sink] = rule
      }
    }
    if exists, let old = try? self.manifest() {
      manifest.budgets = old.budgets
      manifest.fitted = old.fitted
      // What is accepted is no longer a known change: a merged golden says which ones are left.
      manifest.accepted = old.accepted
    }
    manifest.accepted.append(acceptance)
    manifest.accepted = manifest.accepted.suffix(GoldenManifest.acceptedMax)
    return manifest
  }

  /// Files of other platforms that still hold.
  private func keptNames(_ new: GoldenManifest, _ names: [String], _ pending: GoldenFolder)
    -> [String]
  {
    guard exists, let old = try? manifest(), old.pipeline.digest == new.pipeline.digest,
      old.summary == new.summary
    else { return [] }
    let mine = fileNames()
    let digests = names.filter { $0.hasPrefix("digests-") && mine.contains($0) }
    let areSame = digests.allSatisfy { name in
      (try? StageDigestReader.areSame(file(name), pending.file(name))) == true
    }
    guard areSame else { return [] }
    return mine.filter {
      ($0.hasPrefix("digests-") || $0.hasPrefix("environment-")) && !names.contains($0)
    }
  }

  /// Lays out the complete new golden; the last step makes it valid.
  private func stage(
    _ manifest: GoldenManifest, _ names: [String], from pending: GoldenFolder,
    _ step: (String) throws -> Void
  ) throws(GoldenError) {
    let accepting = url.appending(path: Self.acceptingName)
    let kept = keptNames(manifest, names, pending)
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
    synchronize(folder: accepting)
    try perform("commit", step) {
      let mark = accepting.appending(path: Self.commitName + ".new")
      try OutputFile.write("complete\n".utf8, to: mark)
      try replace(accepting.appending(path: Self.commitName), with: mark)
    }
    synchronize(folder: accepting)
  }

  /// Ends an acceptance that was interrupted, or drops one that was not complete.
  private func finishInterrupted(_ step: (String) throws -> Void) throws(GoldenError) {
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

  /// Copies the complete new golden into place, which readers do not look at meanwhile.
  private func rollForward(_ step: (String) throws -> Void) throws(GoldenError) {
    let accepting = url.appending(path: Self.acceptingName)
    let names = fileNames()
    let present = try io(url, "list the files") {
      try FileManager.default.contentsOfDirectory(atPath: url.path)
    }
    for name in present.sorted() where Self.isGoldenFile(name) && !names.contains(name) {
      try perform("remove \(name)", step) {
        try FileManager.default.removeItem(at: url.appending(path: name))
      }
    }
    for name in names {
      try perform("place \(name)", step) {
        let copied = accepting.appending(path: name + ".placing")
        try? FileManager.default.removeItem(at: copied)
        try copy(accepting.appending(path: name), to: copied)
        try replace(url.appending(path: name), with: copied)
      }
    }
    synchronize(folder: url)
    try perform("uncommit", step) {
      try FileManager.default.removeItem(at: accepting.appending(path: Self.commitName))
    }
    try perform("clean", step) { try FileManager.default.removeItem(at: accepting) }
  }

  /// Removes what belongs to this golden and is there; a person's notes beside it stay.
  func removeFiles() throws(GoldenError) {
    // golden.yml first: without it the rest is no golden.
    for name in [Self.manifestName] + fileNames() {
      let file = file(name)
      guard FileManager.default.fileExists(atPath: file.path) else { continue }
      try io(file, "remove the file") { try FileManager.default.removeItem(at: file) }
    }
  }

  private func perform(
    _ name: String, _ step: (String) throws -> Void, _ body: () throws -> Void
  ) throws(GoldenError) {
    do {
      try step(name)
      try body()
    } catch let error as GoldenError {
      throw error
    } catch {
      throw .io(
        path: url.path, action: "accept the golden (\(name))", cause: error.systemText)
    }
  }

  /// A second name for the same bytes where the file system has that, else a copy.
  func copy(_ source: URL, to target: URL) throws {
    if link(source.path, target.path) != 0 {
      try FileManager.default.copyItem(at: source, to: target)
    }
  }
}
