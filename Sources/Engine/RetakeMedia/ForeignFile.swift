import RetakeCore

/// A file of another kind that may contain media, recognized by its first bytes.
///
/// FFmpeg finds H.264, HEVC or JPEG anywhere in such a file, and would read all of it as a raw
/// stream.
package struct ForeignFile: Hashable, Sendable {
  /// The kind of file, after "this is".
  package var kind: String
  /// The command that leads to a video.
  package var remedy: String

  /// Bytes that are needed to recognize a file.
  package static let headBytes = 512

  /// - Parameters:
  ///   - head: The file's first bytes.
  ///   - path: Named by the command.
  package init?(head: [UInt8], path: String) {
    guard let form = Self.forms.first(where: { $0.matches(head) }) else { return nil }
    kind = form.kind
    let isTar = [".tgz", ".tar.gz", ".tar.bz2", ".tar.xz", ".tar.zst"].contains(
      where: path.hasSuffix)
    let command = isTar ? "tar -xf FILE" : form.command
    remedy = form.reason + ": " + command.replacing("FILE", with: path.shellWord)
  }

  private struct Form: Sendable {
    var magic: [UInt8]
    var offset = 0
    var kind: String
    var reason = "Unpack it first"
    var command: String

    func matches(_ head: [UInt8]) -> Bool {
      head.count >= offset + magic.count && head[offset...].starts(with: magic)
    }
  }

  private static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  private static let forms = [
    Form(
      magic: text("#ROSBAG V"), kind: "a bag of ROS 1", reason: "Make a bag of ROS 2 of it first",
      command: "rosbags-convert --src FILE --dst BAG && retake import BAG"),
    Form(
      magic: [0x89] + text("MCAP0\r\n"), kind: "an MCAP file", reason: "Import it",
      command: "retake import FILE"),
    Form(
      magic: text("SQLite format 3\0"), kind: "a database (SQLite), such as a bag of ROS 2",
      reason: "Import it if it is a bag", command: "retake import FILE"),
    Form(
      magic: text("version https://git-lfs"), kind: "a pointer of Git LFS, without the file itself",
      reason: "Get the file, in its repository", command: "git lfs pull"),
    Form(
      magic: text("ustar"), offset: 257, kind: "an archive (tar)", command: "tar -xf FILE"),
    Form(magic: text("PK\u{3}\u{4}"), kind: "an archive (ZIP)", command: "unzip FILE"),
    Form(
      magic: text("7z") + [0xBC, 0xAF, 0x27, 0x1C], kind: "an archive (7z)", command: "7z x FILE"),
    Form(magic: text("Rar!"), kind: "an archive (RAR)", command: "unrar x FILE"),
    Form(magic: [0x1F, 0x8B, 0x08], kind: "compressed with gzip", command: "gunzip -c FILE > OUT"),
    Form(magic: text("BZh"), kind: "compressed with bzip2", command: "bunzip2 -c FILE > OUT"),
    Form(
      magic: [0xFD] + text("7zXZ\0"), kind: "compressed with xz", command: "unxz -c FILE > OUT"),
    Form(
      magic: [0x28, 0xB5, 0x2F, 0xFD], kind: "compressed with zstd",
      command: "zstd -d -c FILE > OUT"),
    Form(
      magic: [0x04, 0x22, 0x4D, 0x18], kind: "compressed with LZ4",
      command: "lz4 -d -c FILE > OUT"),
  ]
}
