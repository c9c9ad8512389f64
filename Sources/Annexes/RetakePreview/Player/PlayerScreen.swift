import RetakeCore
import RetakeStages

/// Draws a player's window.
struct PlayerScreen {
  /// The time span that the lanes cover on either side of the shown frame.
  static let laneReachNanoseconds: Int64 = 1_000_000_000

  let content: PlayerContent
  let view: PreviewImageView

  /// The frame to draw, and the text and results to draw over it.
  struct Shown: Hashable {
    /// An index of the content's entries.
    var index: Int
    /// Why the frame has no image.
    var complaint: String?
    var showsResults = true
    var showsKeys = false
  }

  private var canvas: any CanvasPainter { view.canvas.painter }
  private var lanes: Int { content.marks.map { max(1, $0.laneCount) } ?? 0 }

  var layout: PlayerLayout {
    PlayerLayout(canvas.area, lanes: lanes, strips: content.sensors.count)
  }

  /// - Throws: `PreviewError.renderer`.
  func draw(_ shown: Shown, _ state: PlayerState) throws {
    let layout = layout
    let entry = content.entries[shown.index]
    let result = content.result(at: entry.timestamp)
    let age = result.map { entry.timestamp - $0.timestamp.nanoseconds }
    canvas.clear(ScreenColors.ground)
    view.place(in: layout.picture)
    try view.draw(shown.showsResults ? result : nil, ageNanoseconds: age)
    if let complaint = shown.complaint { tell(complaint, in: layout.picture) }
    drawStatus(layout, shown, state, result: result)
    drawScrub(layout, state)
    drawStrips(layout, at: entry.timestamp)
    drawLanes(layout, at: entry.timestamp)
    if shown.showsKeys { drawKeys(in: layout.picture) }
  }

  private func write(_ text: String, _ x: Int, _ y: Int, _ color: CanvasColor) {
    view.glyphs.write(text, x: x, y: y, color)
  }

  private func tell(_ text: String, in area: CanvasRect) {
    let width = GlyphAtlas.width(of: text, scale: 1)
    let (x, y) = (area.x + max(8, (area.width - width) / 2), area.y + area.height / 2 - 8)
    canvas.fill([CanvasRect(x - 8, y - 4, width + 16, 24)], ScreenColors.shade)
    write(text, x, y, ScreenColors.warning)
  }

  private func drawStatus(
    _ layout: PlayerLayout, _ shown: Shown, _ state: PlayerState, result: PreviewResult?
  ) {
    let entry = content.entries[shown.index]
    let time = PlayerText.time(entry.timestamp - content.entries[0].timestamp)
    var text =
      "frame \(entry.id.sequence) of \(content.entries.count)  \(time)  "
      + PlayerText.speed(state.speed) + (state.isPaused ? "  paused" : "")
    if let place = content.uncertain.firstIndex(of: shown.index) {
      text += "  uncertain frame \(place + 1) of \(content.uncertain.count)"
    }
    if let result, shown.showsResults { text += "  result of frame \(result.id.sequence)" }
    if content.marks != nil, result == nil { text += "  no result yet" }
    write(text, 8, layout.status.y + 1, ScreenColors.text)
    let hint = "h: keys"
    let x = layout.status.width - GlyphAtlas.width(of: hint, scale: 1) - 8
    if x > 16 + GlyphAtlas.width(of: text, scale: 1) {
      write(hint, x, layout.status.y + 1, ScreenColors.faint)
    }
  }

  private func drawScrub(_ layout: PlayerLayout, _ state: PlayerState) {
    let bar = layout.scrub
    let place = layout.scrubPlace(state.fraction)
    canvas.fill([CanvasRect(bar.x, bar.y + 4, bar.width, 4)], ScreenColors.bar)
    var marks: [CanvasRect] = []
    for frame in content.uncertain {
      let x = layout.scrubPlace(state.fraction(of: frame))
      // Frames at one pixel have one mark: a long session has many frames.
      if marks.last?.x != x { marks.append(CanvasRect(x, bar.y, 2, 3)) }
    }
    canvas.fill(marks, ScreenColors.warning)
    canvas.fill(
      [
        CanvasRect(bar.x, bar.y + 4, place - bar.x, 4), CanvasRect(place - 3, bar.y, 6, bar.height),
      ], ScreenColors.knob)
  }

  private func drawStrips(_ layout: PlayerLayout, at timestamp: Int64) {
    guard let reader = content.reader.sensorReader else { return }
    let letters = (PlayerLayout.laneNameWidth - 16) / GlyphAtlas.width
    for (index, sensor) in content.sensors.enumerated() {
      let area = layout.strip(index)
      canvas.fill([area], CanvasColor(39, 39, 42))
      write(PlayerText.cut(sensor.name, letters), 8, area.y, ScreenColors.faint)
      // A session whose samples cannot be read is shown without them: its frames still can be.
      guard
        let strip = try? SensorStrip(
          sensor, in: reader, at: timestamp, reach: Self.laneReachNanoseconds)
      else { continue }
      write(PlayerText.cut(strip.text, letters), 8, area.y + 16, ScreenColors.text)
      for (channel, curve) in strip.curves(in: area).enumerated() {
        canvas.fill(curve, ScreenColors.curve(channel))
      }
      canvas.fill([CanvasRect(area.x + area.width / 2, area.y, 1, area.height)], ScreenColors.now)
    }
  }

  private func drawLanes(_ layout: PlayerLayout, at timestamp: Int64) {
    guard let marks = content.marks else { return }
    let now = timestamp - content.originNanoseconds
    let reach = Self.laneReachNanoseconds
    let lanes = marks.lanes(from: now - reach, to: now + reach)
    for (index, lane) in lanes.prefix(layout.laneCount).enumerated() {
      let area = layout.lane(index)
      let letters = (PlayerLayout.laneNameWidth - 16) / GlyphAtlas.width
      write(PlayerText.cut(lane.node, letters), 8, area.y - 1, ScreenColors.faint)
      canvas.fill([area], CanvasColor(39, 39, 42))
      // One call of the renderer for each color. Starts are first, so that no rarer mark is
      // hidden.
      for kind in DecisionMarks.Kind.allCases {
        // Less a mark's 3 pixels, so that the last one stays inside the lane.
        let places = lane.marks.filter { $0.kind == kind }.map { mark in
          CanvasRect(
            area.x + Int((mark.time - now + reach) * Int64(area.width - 3) / (2 * reach)),
            area.y + (kind == .start ? 3 : 0), 3, area.height - (kind == .start ? 6 : 0))
        }
        canvas.fill(places, ScreenColors.mark(kind))
      }
      canvas.fill([CanvasRect(area.x + area.width / 2, area.y, 1, area.height)], ScreenColors.now)
    }
    drawLegend(layout, marks, lanes: lanes.count)
  }

  private func drawLegend(_ layout: PlayerLayout, _ marks: DecisionMarks, lanes: Int) {
    var x = PlayerLayout.laneNameWidth
    let y = layout.legend.y + 1
    for kind in DecisionMarks.Kind.allCases {
      canvas.fill([CanvasRect(x, y + 4, 8, 8)], ScreenColors.mark(kind))
      write(kind.rawValue, x + 12, y, ScreenColors.faint)
      x += GlyphAtlas.width(of: kind.rawValue, scale: 1) + 28
    }
    var note = "1 s before and after"
    if lanes > layout.laneCount { note += ", \(lanes - layout.laneCount) nodes more" }
    if marks.isCut { note += ", cut after \(DecisionMarks.marksMax) marks" }
    if lanes == 0 { note = "no decisions: every frame goes through; see --mode simulate" }
    write(note, x, y, ScreenColors.faint)
  }

  private func drawKeys(in area: CanvasRect) {
    let width = PlayerKeys.texts.map(\.keys.count).max() ?? 0
    let meaning = PlayerKeys.texts.map(\.meaning.count).max() ?? 0
    let box = CanvasRect(
      area.x + 16, area.y + 16, (width + meaning + 6) * GlyphAtlas.width,
      (PlayerKeys.texts.count + 1) * PlayerLayout.rowHeight)
    canvas.fill([box], ScreenColors.shade)
    for (row, text) in PlayerKeys.texts.enumerated() {
      let y = box.y + PlayerLayout.rowHeight / 2 + row * PlayerLayout.rowHeight
      write(text.keys, box.x + 16, y, ScreenColors.text)
      write(text.meaning, box.x + 16 + (width + 2) * GlyphAtlas.width, y, ScreenColors.faint)
    }
  }
}

/// Strings of a player's window.
enum PlayerText {
  /// `1:02.345`.
  static func time(_ nanoseconds: Int64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    let (seconds, rest) = (milliseconds / 1_000 % 60, milliseconds % 1_000)
    return "\(milliseconds / 60_000):" + (seconds < 10 ? "0" : "") + "\(seconds)."
      + String(repeating: "0", count: 3 - "\(rest)".count) + "\(rest)"
  }

  static func speed(_ speed: Double) -> String {
    Int(exactly: speed).map { "\($0)x" } ?? "\(speed)x"
  }

  static func cut(_ text: String, _ count: Int) -> String {
    text.count <= count ? text : text.prefix(count - 1) + "~"
  }
}
