import Foundation

/// A metadata sink, and the file that its lines are written to.
package struct MetadataOutput: Hashable, Sendable {
  /// `nil` means the only metadata sink of the pipeline.
  package var sink: String?
  package var path: String

  package init(sink: String? = nil, path: String) {
    self.sink = sink
    self.path = path
  }
}
