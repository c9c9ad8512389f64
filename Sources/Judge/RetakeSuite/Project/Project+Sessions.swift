import Foundation
import RetakeCore
import RetakeSession

extension Project {
  /// The names of the sessions in Recordings, sorted by their bytes: of folders, and of pointers to
  /// stores. A folder that has media but no database counts as a session: an error reports the lost
  /// database when the session is opened.
  package var sessionNames: [String] {
    let folders = ((try? SessionList.folders(in: recordings)) ?? []).map(\.name)
    let known = Set(folders)
    let stored = pointerNames.filter { !known.contains($0) }
    guard !stored.isEmpty else { return folders }
    return (folders + stored).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// Why the sessions in Recordings are not known: the folder cannot be read, or its disk is not
  /// mounted. `nil` if the folder can be read, or does not exist.
  var recordingsProblem: SuiteError? {
    SessionList.obstacle(in: recordings).map { SuiteError(facts: $0) }
  }

  /// A session's folder by its name in Recordings, or by its path. The session of a pointer is
  /// fetched into the local cache, where it stays until this process ends.
  ///
  /// - Throws: `SuiteError.noSession`, `.noRecording` for a link to an absent disk,
  ///   `recordingsProblem`; as `pull`.
  package func sessionPath(_ name: String) throws -> String {
    let place = try sessionPlace(name)
    return try storedName(place).map { try pulledPath($0) } ?? place
  }

  /// The same without fetching: the folder that the session of a pointer would have in Recordings.
  func sessionPlace(_ name: String) throws -> String {
    let named = "\(recordings)/\(name)"
    // `.` and `..` exist in every folder, but they are paths and not names of sessions.
    let isName = !name.isEmpty && !name.contains("/") && name != "." && name != ".."
    if isName, FileManager.default.fileExists(atPath: named) { return named }
    if let stored = storedName(name) { return "\(recordings)/\(stored)" }
    let given = path(name)
    guard FileManager.default.fileExists(atPath: given) else {
      if let recordingsProblem, isName { throw recordingsProblem }
      if isName, let link = SessionFolder.deadLink(named) {
        throw SuiteError.noRecording(name, golden: name, folder: recordings, link: link)
      }
      throw SuiteError.noSession(name, folder: recordings, known: sessionNames)
    }
    return URL(fileURLWithPath: given).standardizedFileURL.path
  }

  /// - Throws: `suite.select.badSessionName` if a session's folder has a name that a golden cannot
  ///   have.
  static func checkName(ofSession folder: String) throws {
    guard URL(fileURLWithPath: folder).lastPathComponent.isSafeName else {
      throw SuiteError(
        "suite.select.badSessionName", "goldens cannot be named after this session", at: folder,
        advice: "Rename its folder: it may have letters, digits, '-', '_' and '.'")
    }
  }

  /// A case that the project does not define: a pipeline by itself. The case has the name of the
  /// pipeline. A program is not started for it.
  ///
  /// - Throws: `SuiteError.noPipeline`, `.badProgram`, `PipelineError`.
  package func definition(ofPipeline name: String) throws -> CaseDefinition {
    if name.hasPrefix(ProgramPipeline.prefix) {
      _ = try ProgramPipeline(name: name)
      return CaseDefinition(name: ProgramPipeline.documentName, pipeline: name)
    }
    let pipeline = try pipeline(name)
    return CaseDefinition(name: pipeline.name.folderName, pipeline: name)
  }
}

extension String {
  /// The string with each character that a folder's name may not contain replaced by `-`.
  var folderName: String {
    let plain = String(
      map { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) ? $0 : "-" }
        .prefix(64))
    // A name that does not start with a letter or digit cannot name a folder. The digest makes a
    // name that is the same in every run.
    return plain.isSafeName ? plain : "case-\(Digest128(of: self).short)"
  }
}
