import RetakeCore
import RetakeStore
package import RetakeTimePlane

extension SessionReader {
  /// The time that each stage of a live run took, as it was recorded with the session.
  ///
  /// - Parameter run: The number of the run; `nil` selects the newest run that has stage times.
  /// - Throws: `SessionError.noCosts`, `SessionError.unknownRun`, `SessionError.badCosts`.
  package func recordedTimings(run: Int? = nil) throws -> RecordedTimings {
    try requireWholeRows()
    let runs = try index.store.runsWithSpans()
    guard let newest = runs.last else { throw SessionError.noCosts(session: folder.path) }
    let chosen = run ?? newest
    guard runs.contains(chosen) else {
      throw SessionError.unknownRun(session: folder.path, run: chosen, known: runs)
    }
    var builder = RecordedTimings.Builder()
    var problem: RecordedTimings.Problem?
    try index.store.eachSpan(run: chosen) { span in
      do throws(RecordedTimings.Problem) {
        try builder.append(span)
        return true
      } catch {
        // `eachSpan` throws only the store's errors, so this one is thrown when
        // the walk has ended.
        problem = error
        return false
      }
    }
    do {
      if let problem { throw problem }
      return try builder.finish(name: "run \(chosen) of \(folder.name)", session: folder.name)
    } catch let error as RecordedTimings.Problem {
      throw SessionError.badCosts(session: folder.path, run: chosen, detail: error.detail)
    }
  }
}

extension RecordedTimings.Builder {
  fileprivate mutating func append(_ span: SpanRecord) throws(RecordedTimings.Problem) {
    let (cost, isTooLong) = span.endNanoseconds
      .subtractingReportingOverflow(span.startNanoseconds)
    try append(
      node: span.node, frame: FrameID(track: span.track, sequence: span.sequence),
      item: span.item, nanoseconds: isTooLong ? .max : cost)
  }
}
