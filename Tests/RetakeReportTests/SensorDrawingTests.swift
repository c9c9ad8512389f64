import RetakeCore
import Testing

@testable import RetakeReport

/// The curves of sensors on the page.
@Suite struct SensorDrawingTests {
  private func strip(
    _ sensor: String = "gyroscope", times: [Int64] = [-1_000, 0, 500, 1_000],
    values: [Double?] = [0, 5, nil, 10]
  ) -> ReportSensorStrip {
    ReportSensorStrip(
      frame: FrameID(track: 0, sequence: 12), sensor: sensor, unit: "rad/s", node: "steady",
      windowNanoseconds: 250, reachNanoseconds: 1_000, times: times,
      curves: [.init(channel: "x", values: values)])
  }

  @Test func `a curve runs from the first sample to the last, with gaps where there is none`() {
    #expect(
      SensorDrawing.svg(strip()) == """
        <svg class="curves" role="img" viewBox="0 0 1000 100" preserveAspectRatio="none">\
        <title>gyroscope, 1e-06 s before and after frame 0:12</title>\
        <rect class="band" x="375" width="125" height="100"/><path class="head" d="M500 0V100"/>\
        <path class="curve-0" d="M0 96h0L500 50M1000 4h0"/></svg>
        """)
  }

  @Test func `a name from outside is escaped`() {
    let text = SensorDrawing.svg(strip(#"</title><script>"&'"#))
    #expect(!text.contains("<script>") && text.contains("&lt;/title&gt;&lt;script&gt;"))
  }

  @Test func `values of a report that was altered end nothing`() {
    for values: [Double?] in [
      [], [.nan, .infinity, -.infinity, nil], [-1.7e308, 1.7e308, 0, 1], [3, 3, 3, 3],
    ] {
      let text = SensorDrawing.svg(strip(times: [.min, .max, 0, -1], values: values))
      #expect(text.hasSuffix("</svg>") && !text.contains("nan"))
    }
    var odd = strip()
    odd.reachNanoseconds = .min
    odd.windowNanoseconds = .max
    #expect(SensorDrawing.svg(odd).hasSuffix("</svg>"))
    odd.reachNanoseconds = .max
    odd.times = [.min, .max]
    #expect(SensorDrawing.svg(odd).hasSuffix("</svg>"))
  }

  @Test func `a case has the strips of its sensors, and without any no section`() {
    var item = ReportCase(
      session: "turn", name: "steady", pipeline: "steady", mode: "every-frame", verdict: .changed,
      reason: "it differs")
    item.sensors = (0..<20).map { _ in strip("<b>") }
    func html() -> String? { CaseMarkup(item: item, number: 1, isOnly: true).sensors?.html }
    #expect(html()?.matches(of: /<figure>/).count == CaseMarkup.stripsMax)
    item.sensors = nil
    #expect(html() == nil)
  }
}
