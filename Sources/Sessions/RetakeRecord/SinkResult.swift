import Foundation

/// A sink, or the system's error number.
enum SinkResult {
  case sink(any SegmentSink)
  case failed(Int32)
}
