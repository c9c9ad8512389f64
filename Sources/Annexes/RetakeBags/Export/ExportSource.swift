import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

/// Messages of one origin, by rising time.
protocol ExportSource: AnyObject {
  /// The virtual time of the next message; nil at the end.
  var nextTime: Int64? { get }
  func write(to writer: MCAPWriter) throws
}
