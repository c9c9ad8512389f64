import Foundation

/// Messages of one origin, by rising time.
protocol ExportSource: AnyObject {
  /// The virtual time of the next message; nil at the end.
  var nextTime: Int64? { get }
  func write(to writer: MCAPWriter) throws
}
