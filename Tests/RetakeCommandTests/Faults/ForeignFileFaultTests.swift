import Foundation
import RetakeTestSupport
import Testing

/// Commands on a session of unknown origin: git stores links, and a pull request can contain them.
@Suite struct ForeignFileFaultTests {
  /// A project with a closed session, and a file of the user next to it.
  private func place() throws -> Workplace {
    let workplace = try Workplace()
    try workplace.record("yard", frames: 12, size: "64x48")
    try workplace.folder.write("#!/bin/sh\n", to: "outside/tool")
    chmod(workplace.folder.file("outside/tool").path, 0o755)
    return workplace
  }

  private static let reading = [
    ["session", "list"], ["session", "info", "yard"], ["session", "check", "yard"],
    ["replay", "yard", "--pipeline", "example:motion-boxes", "--cache", "none"],
    ["test", "yard", "--pipeline", "example:motion-boxes", "--cache", "none"],
    ["session", "export", "yard", "--csv", "-"],
    ["session", "snapshot", "yard", "--into", "Copies"],
  ]

  private func link(_ workplace: Workplace, _ name: String, to target: String) throws {
    let path = workplace.folder.file("Recordings/yard/\(name)").path
    try? FileManager.default.removeItem(atPath: path)
    try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: target)
  }

  private func facts(_ workplace: Workplace) throws -> [String] {
    let path = workplace.folder.file("outside/tool").path
    let facts = try FileManager.default.attributesOfItem(atPath: path)
    return [
      "\(facts[.posixPermissions] ?? "")", "\(facts[.modificationDate] ?? "")",
      try String(contentsOfFile: path, encoding: .utf8),
    ]
  }

  @Test(
    arguments: [
      "session.sqlite", "session.sqlite-wal", "session.sqlite-journal", "session.sqlite-shm",
      "recorder.lock", "NOTES.md",
    ])
  func `a link in a session leads no command out of it`(name: String) throws {
    let workplace = try place()
    let tool = workplace.folder.file("outside/tool").path
    try link(workplace, name, to: tool)
    let before = try facts(workplace)
    let isDatabase = name.hasPrefix("session.sqlite")
    for words in Self.reading + [["session", "recover", "yard"]] {
      let result = try workplace.retake(words: words)
      #expect(result.signal == nil && !result.timedOut)
      let text = result.stdout + result.stderr
      #expect(!isDatabase || text.contains("symbolic link"), "\(words) \(text)")
      #expect(try facts(workplace) == before, "\(words)")
    }
  }

  @Test(arguments: ["session.sqlite", "session.sqlite-wal", "recorder.lock", "NOTES.md"])
  func `a pipe in a session holds no command up`(name: String) throws {
    let workplace = try place()
    let path = workplace.folder.file("Recordings/yard/\(name)").path
    try? FileManager.default.removeItem(atPath: path)
    try #require(mkfifo(path, 0o600) == 0)
    for words in Self.reading {
      let result = try workplace.retake(words: words)
      #expect(!result.timedOut && result.signal == nil, "\(words)")
    }
  }

  @Test(.enabled(if: Faults.strace, "strace does not work here"), arguments: [true, false])
  func `a command that reads writes to nothing outside of its own folders`(isOpen: Bool) throws {
    let workplace = try place()
    if isOpen {
      // As a killed recorder leaves it.
      let database = workplace.folder.file("Recordings/yard/session.sqlite").path
      let opened = try runCommand(
        "python3",
        arguments: [
          "-c",
          """
          import os, sqlite3, sys
          c = sqlite3.connect(sys.argv[1], isolation_level=None)
          c.execute("PRAGMA journal_mode = WAL")
          version = c.execute("PRAGMA user_version").fetchone()[0]
          c.execute("PRAGMA user_version = %d" % version)
          os._exit(0)
          """, database,
        ])
      try #require(opened.status == 0, "\(opened.stderr)")
    }
    for words in Self.reading {
      let changes = try changes(words, in: workplace)
      let own = [
        FileManager.default.temporaryDirectory.path + "/retake-",
        FileManager.default.temporaryDirectory.path + "/.retake-run-",
        workplace.folder.file("Copies").path, workplace.folder.file("Goldens").path, "/dev/",
        "/proc/", "pipe:", "anon_inode", "Copies", "Goldens",
      ]
      let strange = changes.filter { path in
        isInRecordings(path, workplace) || !own.contains { path.hasPrefix($0) }
      }
      #expect(strange.isEmpty, "\(words): \(strange)")
    }
    // A command that writes there is detected.
    let written = try changes(["session", "recover", "yard"], in: workplace)
    #expect(written.contains { isInRecordings($0, workplace) })
  }

  private func isInRecordings(_ path: String, _ workplace: Workplace) -> Bool {
    path.hasPrefix(workplace.folder.file("Recordings").path) || path.hasPrefix("Recordings")
  }

  /// The paths that a command changes.
  private func changes(_ words: [String], in workplace: Workplace) throws -> [String] {
    let log = workplace.folder.file("calls").path
    let result = try workplace.retake(
      under: [
        "strace", "-f", "-qq", "-y", "-o", log, "-e",
        "trace=openat,open,creat,chmod,fchmod,fchmodat,unlink,unlinkat,rename,renameat,renameat2,"
          + "truncate,ftruncate,mkdir,symlink,link,linkat",
      ], words)
    #expect(result.signal == nil && !result.timedOut, "\(words)")
    return try ForeignCall.changes(in: log)
  }

  @Test func `the media of an import with links is read through them`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30", "-frames:v", "6", "-c:v", "ffv1",
      "clip.mkv")
    try #require(try workplace.retake("import", "clip.mkv", "--link").status == 0)
    // As on another disk, to which hard links are not possible.
    let media = workplace.folder.file("Recordings/clip/media/original.mkv").path
    try FileManager.default.removeItem(atPath: media)
    try FileManager.default.createSymbolicLink(
      atPath: media, withDestinationPath: workplace.folder.file("clip.mkv").path)
    let replay = try workplace.retake(
      "replay", "clip", "--pipeline", "example:motion-boxes", "--json")
    #expect(try replay.json().frames.delivered.int == 6)
    // The session's folder may be on another disk.
    let manager = FileManager.default
    try manager.moveItem(
      at: workplace.folder.file("Recordings/clip"), to: workplace.folder.file("disk"))
    try manager.createSymbolicLink(
      atPath: workplace.folder.file("Recordings/clip").path,
      withDestinationPath: workplace.folder.file("disk").path)
    #expect(try workplace.retake("session", "check", "clip").status == 0)
  }
}

/// A call that changes a file, as strace prints it with plain names.
private enum ForeignCall {
  /// The paths that the calls in a log changed or tried to change.
  static func changes(in log: String) throws -> [String] {
    try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap { line in
      let call = line.drop { $0.isNumber || $0 == " " }
      guard let open = call.firstIndex(of: "(") else { return nil }
      let name = call[..<open]
      if name.hasPrefix("open") {
        let writes = ["O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC"].contains { call.contains($0) }
        guard writes else { return nil }
      } else if name.hasPrefix("f") {
        // A descriptor with its file: `fchmod(5</a/file>, 0600)`.
        guard let start = call.firstIndex(of: "<"), let end = call.firstIndex(of: ">") else {
          return nil
        }
        return String(call[call.index(after: start)..<end])
      }
      let quoted = call.split(separator: "\"", omittingEmptySubsequences: false)
      return quoted.count > 1 ? String(quoted[1]) : nil
    }
  }
}
