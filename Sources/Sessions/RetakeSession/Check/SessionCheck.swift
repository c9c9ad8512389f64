import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

/// Verifies every checksum of a session, and writes no file.
package struct SessionCheck: Sendable {
  package struct Progress: Hashable, Sendable {
    package enum Unit: String, Hashable, Sendable {
      /// Packets, frames or rows.
      case rows
      /// Media that is copied, or read completely.
      case megabytes
    }

    package var done: Int
    /// 0 when unknown.
    package var total: Int
    package var unit: Unit

    package init(done: Int, total: Int, unit: Unit = .rows) {
      (self.done, self.total, self.unit) = (done, total, unit)
    }
  }

  /// Maximum number of reported findings.
  package static let findingCount = 200

  private let folder: SessionFolder
  private let decodes: Bool
  private let losses: [DecodingPlace.Loss]
  private let willDecode: @Sendable (DecodingPlace) throws -> Void
  private let report: @Sendable (Progress) -> Bool

  /// - Parameters:
  ///   - decodes: Also decode each frame from its entry and compare its pixels.
  ///   - losses: Groups of pictures that are reported and not decoded.
  ///   - willDecode: Called on this thread before each frame is decoded.
  ///   - report: Called with the progress; returning false stops the check.
  package init(
    path: String, decodes: Bool = false, losses: [DecodingPlace.Loss] = [],
    willDecode: @escaping @Sendable (DecodingPlace) throws -> Void = { _ in },
    report: @escaping @Sendable (Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.decodes = decodes
    (self.losses, self.willDecode) = (losses, willDecode)
    self.report = report
  }

  /// - Throws: `SessionError.notSession` when there is no session, `.interrupted`, and a lack of
  ///   memory; every other problem is a finding.
  package func run() throws -> SessionDiagnosis { try diagnose() }

  private func diagnose() throws -> SessionDiagnosis {
    var notes = CheckNotes(folder: folder)
    let reader: SessionReader
    do {
      // Without `.checked`, because the check has to read damaged rows.
      reader = try SessionReader(
        folder, options: ReadOptions(verifiesPixels: true, framesPerChain: nil))
    } catch let error as any RetakeError {
      // Everything else is a finding: a damaged session still has media to report.
      if case SessionError.notSession = error { throw error }
      note(unreadable: error, &notes)
      return notes.diagnosis(status: nil)
    }
    try checkDatabase(reader, &notes)
    RecordingCheck(reader: reader).run(&notes)
    do {
      // Sizes first: a file with other bytes than were indexed is not read
      // (docs/untrusted-files.md).
      let sizes = checkSizes(reader, &notes)
      // The later checks need the media itself, not its pointer.
      guard !sizes.values.contains(.pointer) else {
        return notes.diagnosis(status: try? reader.sessionStatus())
      }
      try checkFiles(reader, sizes: sizes, &notes)
      let check = MediaCheck(reader: reader, report: report)
      let failing = try check.checkPackets(&notes)
      if decodes {
        try check.checkPixels(
          &notes, except: failing, losses: losses, willDecode: willDecode)
        try check.noteFootage(&notes)
      }
    } catch let error as any RetakeError {
      if case SessionError.interrupted = error { throw error }
      // Running out of memory does not mean that the session is damaged.
      if error.isAboutMemory { throw error }
      notes.add(.error, "database", error, advice: notes.rebuildAdvice)
    }
    return notes.diagnosis(status: try? reader.sessionStatus())
  }

  /// The database cannot be used. Reports the remaining media, and how to rebuild the index from
  /// it.
  private func note(unreadable error: any RetakeError, _ notes: inout CheckNotes) {
    // A newer schema or a lack of permission is not damage, and rebuilding the index would lose
    // data.
    var advice = notes.rebuildAdvice
    // The database of a pointer is fetched, not rebuilt.
    if case SessionError.pointer = error { advice = LargeFilePointer.advice }
    notes.add(
      .error, "database", error,
      advice: error.isNewerSchema || error.isAboutPermission ? nil : advice)
    for name in folder.mediaOnDisk {
      guard let path = try? folder.file(name), let file = try? MediaFile(path: path) else {
        notes.add(.error, "media", "\(name) cannot be opened", file: name)
        continue
      }
      guard LargeFilePointer(file: path) == nil else {
        notes.add(.error, "media", SessionError.pointer(file: path), file: name)
        continue
      }
      notes.add(
        .note, "media",
        "\(name) is there, \(ByteText.of(file.size)): its frames can be indexed "
          + "again",
        file: name)
    }
  }

  private func checkDatabase(_ reader: SessionReader, _ notes: inout CheckNotes) throws {
    let store = reader.index.store
    do {
      for complaint in try store.checkContent() { notes.add(complaint) }
      for complaint in try store.checkShown() { notes.add(complaint) }
      for complaint in try store.checkSamples() { notes.add(complaint) }
      for sensor in reader.sensors {
        notes.add(
          .note, "sensor",
          "the sensor \(sensor.name) has \(counted(sensor.sampleCount, "sample")) of "
            + "\(sensor.channels.joined(separator: ", ")), from \(sensor.source)")
      }
      if let losses = try store.meta("losses") { notes.add(.warning, "lossy", losses) }
    } catch let error as StoreError {
      notes.add(.error, "database", error, advice: notes.rebuildAdvice)
    }
  }

  /// Checks that the media files have the sizes of the last commit. A missing file is found where
  /// the files are checked.
  ///
  /// - Returns: the files that differ, by name.
  private func checkSizes(
    _ reader: SessionReader, _ notes: inout CheckNotes
  ) -> [String: MediaSizeFault.Kind] {
    var found: [String: MediaSizeFault.Kind] = [:]
    for fault in MediaSizeFault.all(of: reader.index.mediaSizes, in: folder)
    where fault.kind != .missing {
      found[fault.file] = fault.kind
      if [.pointer, .unreadable].contains(fault.kind), let path = try? folder.file(fault.file) {
        notes.add(.error, "media", fault.error(at: path), file: fault.file)
      } else {
        notes.add(
          .error, fault.kind == .shorter ? "short" : "file", fault.text, file: fault.file,
          advice: reader.mediaAdvice)
      }
    }
    return found
  }

  private func checkFiles(
    _ reader: SessionReader, sizes: [String: MediaSizeFault.Kind], _ notes: inout CheckNotes
  ) throws {
    let files: [FileRecord]
    do {
      files = try reader.index.store.files()
    } catch let error as StoreError {
      return notes.add(.error, "database", error, advice: notes.rebuildAdvice)
    }
    for record in files where sizes[record.path] != .longer {
      do {
        let isOther = sizes[record.path] == .shorter ? true : try isChanged(record)
        guard isOther else { continue }
        notes.add(
          .error, "file", "\(record.path) is not the file that was stored", file: record.path,
          advice: reader.mediaAdvice)
      } catch let error as any RetakeError {
        if case SessionError.interrupted = error { throw error }
        guard case MediaError.missing = error else {
          notes.add(.error, "file", error, file: record.path)
          continue
        }
        let missing = SessionError.mediaMissing(file: folder.path + "/" + record.path)
        notes.add(
          .error, "file", "\(record.path) of the session '\(folder.name)' is missing",
          file: record.path, advice: missing.advice)
      }
    }
  }

  private func isChanged(_ record: FileRecord) throws -> Bool {
    let path = try folder.file(record.path)
    let total = Int((SessionBuilder.byteCount(path) ?? 0) >> 20)
    let digest = try mediaDigest(path) {
      report(Progress(done: Int($0 >> 20), total: total, unit: .megabytes))
    }
    return digest != record.sha256
  }
}

extension SessionReader {
  /// Advice for media that is not the media of the index.
  var mediaAdvice: String {
    let isRecorded = (try? index.store.meta("kind")) == "recorded"
    return "Put the original media back, "
      + (isRecorded ? "for example from a backup" : "or import it again")
  }
}

extension RetakeError {
  /// The session was written by a newer version; it is not damaged.
  var isNewerSchema: Bool { code == "store.schema.tooNew" }

  /// The session may be intact, and only this user may not read it.
  var isAboutPermission: Bool { code == "store.permission" }
}
