import RetakeBuffers
import RetakeCore
import RetakeRuntime
import RetakeStore

/// Both pipelines of a recording that keeps moments.
struct ShadowRun: Sendable {
  let comparison: ShadowComparison
  /// The shadow pipeline; the first one is the recorder's own.
  let shadow: LiveRecording

  /// Hands a frame to both pipelines. It never blocks.
  func push(_ record: FrameRecord, _ frame: Frame, to first: LiveRecording) {
    comparison.capture(record.sequence, arrival: record.arrivalNanoseconds)
    for (index, pipeline) in [first, shadow].enumerated() where !pipeline.push(record, frame) {
      comparison.settle(index, record.sequence, nil)
    }
  }

  /// A frame without pixels is not compared.
  func miss(_ record: FrameRecord) {
    comparison.capture(record.sequence, arrival: record.arrivalNanoseconds)
    for pipeline in 0..<2 { comparison.settle(pipeline, record.sequence, nil) }
  }

  /// Passes the changes of the device on.
  var deviceWatch: RecordingWatch {
    RecordingWatch(captured: { _ in }, happened: { [shadow] in shadow.session.push($0) })
  }

  func sourceLost(code: String) { shadow.sourceLost(code: code) }

  /// After the first pipeline has finished.
  func finish() {
    shadow.finish()
    comparison.finish()
  }
}
