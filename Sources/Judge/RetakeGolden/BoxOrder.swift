import Foundation

/// Whether the boxes of two runs are in an order that can be compared.
package enum BoxOrder {
  /// Why not, for a run that was written with its own rules; `nil` if the order can be compared.
  package static func problem(golden: GoldenManifest, run: GoldenManifest) -> String? {
    let sinks = golden.compare.bySink.keys.sorted().filter { sink in
      // Boxes are sorted when they are written, so their original order cannot be found again in
      // the run.
      golden.compare.bySink[sink]?.order == .significant
        && run.compare.bySink[sink].map { $0.order != .significant } ?? false
    }
    guard let sink = sinks.first else { return nil }
    return "the order of the boxes at '\(sink)' counts in the golden, and the run has them sorted; "
      + "write 'compare: {\(sink): {order: significant}}' into retake.yml and replay again"
  }
}
