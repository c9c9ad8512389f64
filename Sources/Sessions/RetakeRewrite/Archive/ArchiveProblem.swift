import RetakeCore

/// Why an archive is refused, without its path.
struct ArchiveProblem: Error, Hashable {
  enum Kind: Hashable {
    case form, damaged, tooLarge, newer
  }

  var cause: String
  var kind = Kind.damaged

  init(_ cause: String, _ kind: Kind = .damaged) { (self.cause, self.kind) = (cause, kind) }

  init(newer version: Int) {
    self.init("its version is \(version), and this Retake reads \(ArchiveManifest.version)", .newer)
  }

  /// - Parameter archive: The path of the file.
  func error(in archive: String) -> ErrorFacts {
    switch kind {
    case .form:
      ErrorFacts(
        "session.archive.form", "this is not an archive of a session", cause: cause, at: archive,
        advice: "Make one with: retake session pack SESSION --as FILE.tar.zst")
    case .damaged:
      ErrorFacts(
        "session.archive.damaged", "the archive is damaged or was altered; nothing was unpacked",
        cause: cause, at: archive, advice: "Copy it again from its source")
    case .tooLarge:
      ErrorFacts(
        "session.archive.tooLarge", "the archive expands too much; nothing was unpacked",
        cause: cause, at: archive,
        advice: "If you trust it, unpack it without limits: tar -xf \(archive.shellWord)")
    case .newer:
      ErrorFacts(
        "session.archive.newer", "a newer Retake wrote this archive", cause: cause, at: archive,
        advice: "Update Retake")
    }
  }
}
