import Foundation
import RetakeCore

/// The pages of an SQLite file.
enum SQLitePages {
  private static let headerBytes = 100

  /// The bytes of the complete pages of a file that ends inside of a page; nil for other files.
  ///
  /// SQLite fills a page that is cut by the file's end with zeros, and would return rows that end
  /// in zeros. Without that page it reports the rows as damaged.
  static func cut(_ path: String) throws -> Int64? {
    do {
      let bytes = try RegularFile.facts(of: path, links: .followed).bytes
      let header = try RegularFile.head(path, links: .followed, count: headerBytes)
      guard header.count == headerBytes else {
        throw RegularFile.Refusal.tooLarge(bytes: bytes, bytesMax: 0)
      }
      let size = Int64(header[16]) << 8 | Int64(header[17])
      // A page of 65,536 bytes is stored as 1 (SQLite, Database File Format, 1.3.2).
      let pageBytes = size == 1 ? 65_536 : size
      guard pageBytes >= 512, !bytes.isMultiple(of: pageBytes) else { return nil }
      return bytes - bytes % pageBytes
    } catch let error as RegularFile.Refusal {
      guard case .tooLarge = error else { throw BagError.unreadable(path: path, cause: "\(error)") }
      throw BagError.damaged(
        BagPlace(file: path), cause: "it is shorter than the header of a database")
    }
  }
}
