package import RetakeCore

/// Options of the import of a bag, or of a folder of images.
package struct BagImportOptions: Hashable, Sendable {
  let path: String
  let name: String?
  let into: String
  let topics: [String]
  let rate: TimeBase?

  /// By default, makes a session in `Recordings` with a track for each topic that has images, and
  /// sensors for each topic that has numbers. The options are checked only when the import runs.
  ///
  /// - Parameters:
  ///   - path: A `.db3` or `.mcap` file, also compressed with the ending `.zstd`, or the folder of
  ///     a bag.
  ///   - name: The session's name, which has to be safe for a folder; `nil` uses the bag's name.
  ///   - into: The parent folder of the session's folder.
  ///   - topics: Names of topics, in the order of their tracks; empty selects all with images or
  ///     numbers.
  ///   - rate: The time from one number to the next, for a folder of images that are numbered.
  package init(
    path: String, name: String? = nil, into: String = "Recordings", topics: [String] = [],
    rate: TimeBase? = nil
  ) {
    (self.path, self.name, self.into, self.topics) = (path, name, into, topics)
    self.rate = rate
  }

  /// Whether the path is a bag and not a video file: a folder, or a file that begins as one of a
  /// bag.
  package static func isBag(_ path: String) -> Bool { BagFiles.isBag(path) }
}
