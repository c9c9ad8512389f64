import Foundation

/// The text that Git LFS stores in place of a large file, until `git lfs pull` fetches the file.
///
/// Format: https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md.
package struct LargeFilePointer: Hashable, Sendable {
  /// A pointer has less than 1,024 bytes.
  package static let bytesMax = 1_024
  private static let mark = "version https://git-lfs.github.com/spec/v1\n"
  /// The advice of errors about a pointer.
  package static let advice = "Fetch the file itself: git lfs pull"

  /// SHA-256 of the file itself, in lowercase hexadecimal digits.
  package let sha256: String

  /// `nil` for anything but a pointer.
  package init?(_ data: some Collection<UInt8>) {
    guard data.count < Self.bytesMax, data.starts(with: Self.mark.utf8) else { return nil }
    let text = String(decoding: data, as: UTF8.self)
    let name = "oid sha256:"
    let line = text.split(separator: "\n").first { $0.hasPrefix(name) }
    guard let digest = line?.dropFirst(name.count), digest.utf8.count == 64 else { return nil }
    sha256 = String(digest)
  }

  /// Reads the beginning of a file; `nil` if it is not a pointer, or cannot be read.
  package init?(file: String, links: RegularFile.Links = .followed) {
    guard let facts = try? RegularFile.facts(of: file, links: links),
      facts.bytes < Int64(Self.bytesMax),
      let data = try? RegularFile.head(file, links: links, count: Self.bytesMax)
    else { return nil }
    self.init(data)
  }
}
