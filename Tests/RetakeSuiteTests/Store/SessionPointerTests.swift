import Foundation
import RetakeTestProjects
import Testing

@testable import RetakeSuite

/// Pointers that came with a repository, and how they are refused.
@Suite struct SessionPointerTests {
  private static let digest = String(repeating: "0a", count: 32)

  private func document(
    files: String = "session.sqlite: {bytes: 5, sha256: \"\(Self.digest)\"}", bytes: String = "5",
    remotes: String = "[store]"
  ) -> String {
    "v: 1\nbytes: \(bytes)\nremotes: \(remotes)\nfiles:\n  \(files)\n"
  }

  private func problem(_ text: String) throws -> SuiteError? {
    let fixture = try ProjectFixture()
    let file = try fixture.folder.write(text, to: "Recordings/yard.session.yml")
    do {
      _ = try SessionPointer(reading: file.path)
      return nil
    } catch let error as SuiteError {
      return error
    }
  }

  @Test func `a pointer is read as it was written`() throws {
    let store = try StoreFixture()
    try store.write("yard", media: 2)
    try store.store("yard")
    var pointer = try store.pointer("yard")
    #expect(pointer.name == "yard" && pointer.remotes == ["store"])
    #expect(
      pointer.files.map(\.path)
        == ["media/video-00000.mkv", "media/video-00001.mkv", "session.sqlite"])
    #expect(pointer.bytes == 6_000 + 12)
    pointer.remotes = ["/mnt/a: [b]", "s3://footage/yard"]
    try store.fixture.folder.write(pointer.text, to: "Recordings/yard.session.yml")
    #expect(try store.pointer("yard") == pointer)
    #expect(try problem(document()) == nil)
  }

  @Test(arguments: [
    "../evil", "/etc/passwd", "media/../../evil", "media/a/b", "media/.hidden", "media/", "media",
    "session.sqlite-wal", "recorder.lock", "NOTES.md/x", "other/clip.mkv",
    "Media/clip.mkv",
  ])
  func `a path outside of a session's files is refused`(path: String) throws {
    let error = try problem(
      document(
        files: "session.sqlite: {bytes: 5, sha256: \"\(Self.digest)\"}\n"
          + "  \(path): {bytes: 0, sha256: \"\(Self.digest)\"}"))
    #expect(error?.facts.code == "suite.project.malformed")
    #expect(error?.message == "a session has no file with this path")
  }

  @Test(arguments: [
    digest.uppercased(), String(digest.dropLast()), "\(digest)0", "g\(digest.dropFirst())", "",
    "../\(digest.dropFirst(3))",
  ])
  func `a digest is 64 lowercase hexadecimal digits`(digest: String) throws {
    let error = try problem(
      document(files: "session.sqlite: {bytes: 5, sha256: \"\(digest)\"}"))
    #expect(error?.message == "must be 64 lowercase hexadecimal digits")
  }

  @Test(arguments: [
    ("-1", "-1"), ("281474976710657", "281474976710657"),
    ("9223372036854775808", "9223372036854775808"), ("5", "6"), ("1.5", "1.5"), ("\"5\"", "5"),
  ])
  func `sizes are bounded, and the sum is checked`(bytes: String, sum: String) throws {
    let files = "session.sqlite: {bytes: \(bytes), sha256: \"\(Self.digest)\"}"
    let error = try problem(document(files: files, bytes: sum))
    #expect(error?.facts.code == "suite.project.malformed")
  }

  @Test func `paths that differ in case alone are refused, and a session has a database`() throws {
    let entry = "{bytes: 0, sha256: \"\(Self.digest)\"}"
    let twins = "session.sqlite: \(entry)\n  media/a.mkv: \(entry)\n  media/A.mkv: \(entry)"
    #expect(
      try problem(document(files: twins, bytes: "0"))?.message
        == "two paths in 'files' differ only in the case of letters")
    #expect(
      try problem(document(files: "media/a.mkv: \(entry)", bytes: "0"))?.message
        == "'files' has no session.sqlite")
    #expect(try problem(document() + "mode: x\n")?.facts.code == "suite.project.malformed")
  }

  /// rclone would run the program of `ssh=`, or read an option.
  @Test(arguments: [
    "\":sftp,ssh=touch evil:x\"", "\"rclone::sftp,ssh=x:y\"", "\"rclone:a,b=c:y\"",
    "\"rclone:-v:y\"", "\"rclone:a\"", "\"rclone:a:\"", "\"--config=x\"", "http://a/b", "s3://",
    "s3://a/../b", "\"s3://a,b/c\"", "\"\"", "\"a\\nb\"",
  ])
  func `a remote cannot contain options of rclone`(remote: String) throws {
    let error = try problem(document(remotes: "[\(remote)]"))
    #expect(error?.message.contains("is not a store: write a folder") == true, "\(remote)")
  }

  @Test func `addresses of buckets are in the notation of rclone`() {
    #expect(StoreAddress("s3://footage/a/b") == .rclone(":s3:footage/a/b"))
    #expect(StoreAddress("gs://footage") == .rclone(":gcs:footage"))
    #expect(StoreAddress("rclone:lab:/srv/a b") == .rclone("lab:/srv/a b"))
    #expect(StoreAddress("../store") == .folder("../store"))
  }

  @Test func `a pointer of Git LFS is named with the command that fetches it`() throws {
    let error = try problem(
      "version https://git-lfs.github.com/spec/v1\noid sha256:\(Self.digest)\nsize 5\n")
    #expect(error?.facts.code == "suite.store.lfs")
    #expect(error?.facts.advice == "Fetch the file itself: git lfs pull")
  }

  @Test func `a link, a folder and a large file in the place of a pointer are refused`() throws {
    let store = try StoreFixture()
    try store.write("yard")
    try store.store("yard")
    let file = store.file("Recordings/yard.session.yml")
    let text = try Data(contentsOf: file)
    try FileManager.default.moveItem(at: file, to: store.file("outside"))
    try FileManager.default.createSymbolicLink(
      at: file, withDestinationURL: store.file("outside"))
    #expect(try store.refusal("yard") == "suite.store.unreadable")
    try FileManager.default.removeItem(at: file)
    try FileManager.default.createDirectory(at: file, withIntermediateDirectories: false)
    #expect(try store.refusal("yard") == "suite.store.unreadable")
    try FileManager.default.removeItem(at: file)
    try (text + Data(repeating: 10, count: 4 << 20)).write(to: file)
    #expect(try store.refusal("yard") == "suite.store.unreadable")
    try text.write(to: file)
    #expect(try store.refusal("yard") == nil)
  }
}
