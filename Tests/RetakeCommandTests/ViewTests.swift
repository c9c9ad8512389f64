import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeCommand

/// Windows, as users open them. Tests that need a display are skipped without Xvfb, and say so.
@Suite(.oneAtATime(.displays)) struct ViewTests {
  private static let noDisplay: [String: String?] = [
    "DISPLAY": nil, "WAYLAND_DISPLAY": nil, "SDL_VIDEODRIVER": nil,
  ]

  private func onDisplay(_ xvfb: Xvfb) -> [String: String?] {
    ["DISPLAY": xvfb.display, "WAYLAND_DISPLAY": nil, "SDL_VIDEODRIVER": nil]
  }

  @Test func `a run that was ended early says how long it was`() {
    #expect(BenchWindowCommand.length(seconds: 20, endedAfter: nil) == "20 s")
    #expect(BenchWindowCommand.length(seconds: 20, endedAfter: 1_870_000_000) == "1.9 of 20 s")
  }

  @Test func `a picture that was not written is not announced`() {
    #expect(ViewCommand.note("a.png", isWritten: true) == "the screenshot is in a.png")
    #expect(ViewCommand.note("-", isWritten: true) == nil)
    let closed = "the window was closed before the last frame"
    #expect(
      ViewCommand.note("a.png", isWritten: false)
        == "warning: no screenshot was written to a.png: \(closed)")
    #expect(
      ViewCommand.note("-", isWritten: false)
        == "warning: no screenshot was written to standard output: \(closed)")
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `an interrupted view writes no picture`() throws {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    // Minutes at this speed: on a busy machine the window is noticed late.
    try workplace.record("figures", frames: 1_200, size: "64x48")
    let run = try LongRun(
      ["view", "figures", "--speed", "0.1", "--frames", "1200", "--screenshot", "window.png"],
      in: workplace, environment: ["DISPLAY": xvfb.display])
    #expect(run.wait { xvfb.clients > 0 })
    #expect(run.end(SIGINT) == 130)
    #expect(!workplace.exists("window.png"))
  }

  @Test func `a picture replaces nothing that is read, and has a folder`() throws {
    let workplace = try Workplace()
    try workplace.record("figures", frames: 10)
    try workplace.writePipeline()
    try workplace.folder.write("vec3 grade(vec3 rgb, vec2 at) { return rgb; }", to: "warm.png")
    try workplace.folder.write(#"{"v": 1, "name": "slow", "scale": {"*": 2}}"#, to: "slow.png")
    let before = try workplace.listing()
    let once = ["view", "figures", "--once", "--screenshot"]
    let costs = ["--pipeline", "motion.json", "--costs", "profile:slow.png"]
    for (words, error) in [
      (once + ["warm.png", "--shader", "warm.png"], "over the shader that is read"),
      (once + ["./warm.png", "--shader", "warm.png"], "[suite.output.overInput]"),
      (once + ["slow.png"] + costs, "over the timings or profile that is read"),
      (once + ["nodir/a.png"], "no such folder) [preview.screenshot.notWritten]"),
      (once + ["Recordings/figures/a.png"], "[suite.output.overInput]"),
      // It ends before anything is measured: without a display, it would say that instead.
      (["bench", "window", "--screenshot", "nodir/a.png"], "[preview.screenshot.notWritten]"),
    ] {
      let result = try workplace.retake(words: words, environment: Self.noDisplay)
      #expect(result.status == 2 && result.stdout.isEmpty)
      #expect(result.stderr.contains(error), "\(result.stderr)")
    }
    #expect(try workplace.listing() == before)
    let other = try workplace.retake(words: once + ["b.png"], environment: Self.noDisplay)
    #expect(other.stderr.contains("[preview.display.none]"), "\(other.stderr)")
  }

  @Test func `without a display it says what to type`() throws {
    let workplace = try Workplace()
    try workplace.record("figures", frames: 10)
    let result = try workplace.retake("view", "figures", "--once", environment: Self.noDisplay)
    #expect(result.status == 2)
    #expect(result.stdout.isEmpty)
    #expect(result.stderr.contains("[preview.display.none]"))
    #expect(result.stderr.contains("xvfb-run"))

    let driver = try workplace.retake(
      "view", "figures", "--once", environment: ["SDL_VIDEODRIVER": "nosuch"])
    #expect(driver.status == 2)
    #expect(driver.stderr.contains("unset SDL_VIDEODRIVER"), "\(driver.stderr)")
  }

  @Test func `a list of uncertain frames that is damaged is only a warning`() throws {
    let workplace = try Workplace()
    try workplace.record("figures", frames: 10)
    try workplace.folder.write("{}\n", to: "Recordings/figures/media/redaction.jsonl")
    let result = try workplace.retake("view", "figures", "--once", environment: Self.noDisplay)
    #expect(result.stderr.contains("line 1 is not a frame of the list"), "\(result.stderr)")
    #expect(result.stderr.contains("[preview.display.none]"))
  }

  @Test func `without the library it says what to install`() throws {
    let workplace = try Workplace()
    try workplace.record("figures", frames: 10)
    try workplace.folder.write("", to: "broken/libSDL2-2.0.so.0")
    let result = try workplace.retake(
      "view", "figures", "--once",
      environment: ["LD_LIBRARY_PATH": workplace.folder.file("broken").path])
    #expect(result.status == 2)
    #expect(result.stderr.contains("[preview.sdl.missing]"))
    #expect(result.stderr.contains("apt-get install libsdl2-2.0-0"))
  }

  @Test func `a session that is not there is an error before a window opens`() throws {
    let result = try Workplace().retake("view", "nosuch", environment: Self.noDisplay)
    #expect(result.status == 2)
    #expect(!result.stderr.contains("preview."))
    #expect(result.stderr.contains("nosuch"))
  }

  @Test func `a pipeline that reads no session cannot be drawn over one`() throws {
    let workplace = try Workplace()
    try workplace.record("figures", frames: 10)
    try workplace.folder.write(
      """
      {"v": 1, "name": "drawn",
       "nodes": [
        {"id": "camera", "kind": "synthetic", "options": {"scene": "figures", "frames": 3}},
        {"id": "out", "kind": "results"}],
       "edges": [{"from": "camera", "to": "out"}]}
      """, to: "drawn.json")
    let result = try workplace.retake(
      "view", "figures", "--pipeline", "drawn.json", "--once", environment: Self.noDisplay)
    #expect(result.status == 2)
    #expect(result.stderr.contains("[suite.overlay.noSession]"), "\(result.stderr)")
  }

  @Test func `a recording whose window cannot open does not begin`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake(
      "record", "synthetic:figures", "--frames", "10", "--preview", environment: Self.noDisplay)
    #expect(result.status == 2)
    #expect(result.stderr.contains("[preview.display.none]"))
    #expect(!FileManager.default.fileExists(atPath: workplace.folder.file("Recordings").path))
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `a frame is shown with what a pipeline found, and a picture of the window is written`()
    throws
  {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    try workplace.record("figures", frames: 60, size: "320x240")
    let result = try workplace.retake(
      words: [
        "view", "figures", "--pipeline", "example:motion-boxes", "--mode", "simulate", "--start",
        "40", "--once", "--screenshot", "window.png", "--json",
      ], environment: onDisplay(xvfb))
    try #require(result.status == 0, "\(result.stderr)")
    #expect(try result.json().shown.int == 1)
    let picture = try Data(contentsOf: workplace.folder.file("window.png"))
    #expect(picture.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    let bare = try workplace.retake(
      words: [
        "view", "figures", "--pipeline", "example:motion-boxes", "--mode", "simulate", "--start",
        "40", "--once", "--screenshot", "bare.png", "--no-overlay",
      ], environment: onDisplay(xvfb))
    try #require(bare.status == 0, "\(bare.stderr)")
    #expect(try Data(contentsOf: workplace.folder.file("bare.png")) != picture)
    let piped = try workplace.retake(
      words: [
        "view", "figures", "--pipeline", "example:motion-boxes", "--mode", "simulate", "--start",
        "40", "--once", "--screenshot", "-",
      ], environment: onDisplay(xvfb))
    try #require(piped.status == 0, "\(piped.stderr)")
    #expect(piped.stdoutBytes.starts(with: [0x89, 0x50, 0x4E, 0x47]))
    // A PNG ends with its last chunk: standard output has no other text.
    #expect(piped.stdoutBytes.suffix(8).prefix(4) == Data("IEND".utf8))
    #expect(!workplace.exists("-"))
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `a session is played to its end`() throws {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    try workplace.record("figures", frames: 60)
    let result = try workplace.retake(
      words: ["view", "figures", "--speed", "16", "--frames", "1000", "--json"],
      environment: onDisplay(xvfb))
    try #require(result.status == 0, "\(result.stderr)")
    let report = try result.json()
    #expect((report.shown.int ?? 0) + (report.skipped.int ?? 0) == 60)
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `a grading that does not compile is refused with its line, before a frame is shown`() throws
  {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    try workplace.record("figures", frames: 3, size: "160x120")
    try workplace.folder.write(
      "vec3 grade(vec3 rgb, vec2 at) {\n  return rgb * warmth;\n}\n", to: "warm.glsl")
    let wrong = try workplace.retake(
      "view", "figures", "--once", "--shader", "warm.glsl", environment: onDisplay(xvfb))
    #expect(wrong.status == 2)
    #expect(wrong.stderr.contains("warm.glsl, line 2: "), "\(wrong.stderr)")
    #expect(wrong.stderr.contains("[preview.shader.invalid]"))
    let missing = try workplace.retake(
      "view", "figures", "--once", "--shader", "nosuch.glsl", environment: onDisplay(xvfb))
    #expect(missing.status == 2 && missing.stderr.contains("nosuch.glsl: "))
    try workplace.folder.write(
      "vec3 grade(vec3 rgb, vec2 at) { return rgb.bgr; }\n", to: "warm.glsl")
    let right = try workplace.retake(
      "view", "figures", "--once", "--shader", "warm.glsl", environment: onDisplay(xvfb))
    #expect(right.status == 0, "\(right.stderr)")
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `without OpenGL the software renderer draws, and the report says why`() throws {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    try workplace.record("figures", frames: 3, size: "160x120")
    var environment = onDisplay(xvfb)
    environment["SDL_OPENGL_LIBRARY"] = "/nosuch/libGL.so"
    environment["SDL_RENDER_DRIVER"] = .some(nil)
    let result = try workplace.retake(
      "view", "figures", "--once", "--json", environment: environment)
    try #require(result.status == 0, "\(result.stderr)")
    let report = try #require(
      try JSONSerialization.jsonObject(with: result.stdoutBytes) as? [String: Any])
    #expect(report["renderer"] as? String == "software")
    #expect(report["isSoftware"] as? Bool == true)
    #expect((report["fallbackCause"] as? String)?.contains("/nosuch/libGL.so") == true)
    let steps = report["steps"] as? [String: Any]
    #expect(Set(steps?.keys.map { $0 } ?? []) == ["convert", "upload", "draw", "present"])
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `a recording is watched and every frame is accounted for`() throws {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    let words = [
      "record", "synthetic:figures", "--frames", "45", "--size", "160x120", "--probe", "skip",
      "--preview", "--pipeline", "example:motion-boxes",
    ]
    let result = try workplace.retake(
      words: words + ["--name", "seen", "--json"], environment: onDisplay(xvfb))
    try #require(result.status == 0, "\(result.stderr)")
    let line = try #require(
      result.stdout.split(separator: "\n").first { $0.hasPrefix("{\"preview\"") })
    let figures = try #require(
      (try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])?["preview"]
        as? [String: Any])
    func number(_ name: String) -> Int { figures[name] as? Int ?? -1 }
    #expect(number("offered") == 45)
    #expect(number("shown") > 0)
    #expect(
      number("offered")
        == number("shown") + number("dropped") + number("throttled") + number("waiting"))
    let text = try workplace.retake(
      words: words + ["--name", "told"], environment: onDisplay(xvfb))
    #expect(text.stdout.contains("of 45 frames shown"))
    #expect(text.stdout.contains(" of 45 frames recorded"))
  }

  @Test(.enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"))
  func `a recording goes on when the display goes away`() throws {
    var xvfb: Xvfb? = try Xvfb()
    let workplace = try Workplace()
    let run = try LongRun(
      [
        "record", "synthetic:figures", "--name", "yard", "--frames", "90", "--size", "160x120",
        "--probe", "skip", "--preview",
      ], in: workplace, environment: ["DISPLAY": xvfb?.display ?? ""])
    let database = workplace.folder.file("Recordings/yard/session.sqlite").path
    #expect(run.wait { FileManager.default.fileExists(atPath: database) })
    xvfb = nil
    #expect(run.end(0) == 0)
    #expect(try workplace.isClosed("yard"))
    let info = try workplace.retake("session", "info", "yard")
    #expect(info.stdout.contains(" frames, 0 damaged"), "\(info.stdout)")
  }

  @Test(
    .enabled(if: Xvfb.command != nil, "Xvfb is not installed: Scripts/setup installs it"),
    arguments: [false, true])
  func `a display that stands still keeps no command from ending`(records: Bool) throws {
    let xvfb = try Xvfb()
    let workplace = try Workplace()
    if !records { try workplace.record("figures", frames: 30) }
    let run = try LongRun(
      records
        ? [
          "record", "synthetic:figures", "--name", "yard", "--size", "160x120", "--probe", "skip",
          "--preview", "--json",
        ] : ["view", "figures", "--speed", "0.1"],
      in: workplace, environment: ["DISPLAY": xvfb.display])
    #expect(run.wait { xvfb.clients > 0 })
    if records { #expect(!run.firstLine().isEmpty) }
    xvfb.hold()
    #expect(run.end(SIGINT) == 130)
    guard records else { return }
    #expect(try workplace.isClosed("yard"))
  }
}
