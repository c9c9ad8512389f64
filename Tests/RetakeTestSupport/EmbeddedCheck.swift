import Foundation
import Testing

/// Checks that literals hold the bytes of a module's resource files, and that none is missing.
///
/// - Parameter embedded: The literals by the names of their files in Sources/MODULE/Resources.
package func expectEmbedded(
  _ embedded: [String: String], of module: String, at place: SourceLocation = #_sourceLocation
) throws {
  let folder = packageRoot.appending(path: "Sources/\(module)/Resources")
  let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
  #expect(files.sorted() == embedded.keys.sorted(), sourceLocation: place)
  for (file, text) in embedded {
    let bytes = try Data(contentsOf: folder.appending(path: file))
    #expect(Data(text.utf8) == bytes, "\(file)", sourceLocation: place)
  }
}
