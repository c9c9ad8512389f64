import Foundation
import RetakeProcess
import RetakeTestSupport
import Testing

/// Deep and rarer pixels through the command: replayed, verified, compared and shown.
@Suite(.oneAtATime) struct PixelCommandTests {
  /// Moving noise with all bits, in a format that FFV1 keeps.
  private func clip(_ pixels: String, in workplace: Workplace, _ options: [String] = []) throws {
    let noise =
      "testsrc2=size=64x48:rate=20,format=gbrp16le"
      + ",geq=r='mod(X*2053+Y*811+N*9777,65536)'"
      + ":g='mod(X*613+Y*3001+N*5113,65536)':b='mod(X*Y*127+N*3331,65536)'"
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", noise, "-frames:v", "12",
        "-pix_fmt", pixels, "-c:v", "ffv1", "-level", "3",
      ] + options + [workplace.folder.file("deep.mkv").path])
    try #require(made.status == 0, "\(made.stderr)")
    let imported = try workplace.retake("import", "deep.mkv")
    try #require(imported.status == 0, "\(imported.stderr)")
  }

  @Test func `what h264 does not keep of colors is said, as text and as JSON`() throws {
    let workplace = try Workplace()
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=20", "-frames:v", "6",
        "-pix_fmt", "bgra", "-c:v", "ffv1", workplace.folder.file("colours.mkv").path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let words = "h264 stores BGRA as I444: colors are rounded, and their opacity is left out"
    let arguments = ["record", "colours.mkv", "--preset", "h264", "--speed", "max", "--name"]

    let text = try workplace.retake(words: arguments + ["one"])
    #expect(text.status == 0)
    #expect(text.stderr.components(separatedBy: "note: \(words)").count == 2, "\(text.stderr)")
    let json = try workplace.retake(words: arguments + ["two", "--json"])
    #expect(json.status == 0)
    let last = try #require(json.stdout.split(separator: "\n").last)
    #expect(last.contains("\"notes\":[\"\(words)"), "\(last)")
    let exact = try workplace.retake(words: [
      "record", "colours.mkv", "--preset", "ffv1", "--speed", "max", "--name", "three", "--json",
    ])
    #expect(exact.status == 0 && !exact.stdout.contains("\"notes\""))
  }

  @Test func `a bag's tracks are shown with their topics, and its irregular times are said`()
    throws
  {
    let workplace = try Workplace()
    let bag = workplace.folder.file("run.db3").path
    try FileManager.default.copyItem(
      atPath: packageRoot.appending(path: "Tests/RetakeBagsTests/Fixtures/plain.db3").path,
      toPath: bag)
    // The third image of the track has the time of its first.
    let changed = try runSQLite(
      arguments: [
        bag,
        """
        UPDATE messages SET data = (SELECT data FROM messages WHERE topic_id = 2 ORDER BY id LIMIT 1)
        WHERE id = (SELECT id FROM messages WHERE topic_id = 2 ORDER BY id LIMIT 1 OFFSET 2)
        """,
      ])
    try #require(changed.status == 0, "\(changed.stderr)")

    let imported = try workplace.retake("import", "run.db3", "--name", "run")
    #expect(imported.status == 0, "\(imported.stderr)")
    let info = try workplace.retake("session", "info", "run")
    let times = info.stdout.split(separator: "\n").filter { $0.hasPrefix("  time: ") }
    #expect(!times.isEmpty)
    for time in times {
      #expect(imported.stderr.contains("note: \(time.dropFirst(8))"), "\(imported.stderr)")
    }
    #expect(info.stdout.contains("  track 0  /cam/bgr  rawvideo  "), "\(info.stdout)")
    #expect(info.stdout.contains("  track 1  /cam/mono  rawvideo  "))
    let json = try workplace.retake("session", "info", "run", "--json").json()
    #expect(json.tracks[0].topic.text == "/cam/bgr" && json.tracks[0].codec.text == "rawvideo")
    let list = try workplace.retake("session", "list")
    #expect(list.stdout.contains(" rawvideo") && !list.stdout.contains("rawvideo+"))
  }

  private static let digests = """
    {"v": 1, "name": "digests",
     "nodes": [
      {"id": "camera", "kind": "session"}, {"id": "digest", "kind": "digest"},
      {"id": "values", "kind": "results", "primary": true}],
     "edges": [{"from": "camera", "to": "digest"}, {"from": "digest", "to": "values"}]}
    """

  private static let motionAndDigests = """
    {"v": 1, "name": "both",
     "nodes": [
      {"id": "camera", "kind": "session"}, {"id": "digest", "kind": "digest"},
      {"id": "values", "kind": "results", "primary": true},
      {"id": "grey", "kind": "grey"},
      {"id": "motion", "kind": "motion", "options": {"threshold": 24}},
      {"id": "boxes", "kind": "results"}],
     "edges": [
      {"from": "camera", "to": "digest"}, {"from": "digest", "to": "values"},
      {"from": "camera", "to": "grey"}, {"from": "grey", "to": "motion"},
      {"from": "motion", "to": "boxes"}]}
    """

  @Test(arguments: ["yuv420p10le", "yuv440p12le", "gbrp12le", "gray16le", "yuva444p10le"])
  func `motion and digests replay and verify`(pixels: String) throws {
    let workplace = try Workplace()
    try clip(pixels, in: workplace)
    // In one pipeline: a verification starts many runs and processes.
    try workplace.folder.write(Self.motionAndDigests, to: "both.json")
    let replayed = try workplace.retake("replay", "deep", "-p", "both.json", "--json").json()
    #expect(replayed.frames.delivered.number == 12)
    let verified = try workplace.retake("verify", "deep", "-p", "both.json")
    #expect(verified.status == 0, "\(verified.stdout)\(verified.stderr)")
    #expect(verified.stdout.contains("deterministic: 12 frames"), "\(verified.stdout)")
    let doctor = try workplace.retake("session", "check", "deep", "--deep")
    #expect(doctor.status == 0, "\(doctor.stdout)")
  }

  @Test func `the inserted conversion is shown with both of its formats`() throws {
    let workplace = try Workplace()
    try clip("yuv420p10le", in: workplace)
    try workplace.writePipeline()
    try workplace.folder.write(Self.digests, to: "digests.json")

    let checked = try workplace.retake(
      "pipeline", "check", "motion.json", "--session", "deep")
    #expect(
      checked.stdout.contains("grey/convert  convert I420P10 to I420 (inserted)"),
      "\(checked.stdout)")
    let drawn = try workplace.retake(
      "pipeline", "draw", "motion.json", "--session", "deep", "--dot")
    #expect(drawn.stdout.contains("to I420\\nfrom I420P10 · inserted"), "\(drawn.stdout)")
    let whole = try workplace.retake(
      "pipeline", "check", "digests.json", "--session", "deep")
    #expect(!whole.stdout.contains("inserted"), "\(whole.stdout)")
  }

  /// A branch with a digest for each tone map.
  private static func toneMapped(_ maps: [String]) -> String {
    let nodes = maps.enumerated().map { index, map in
      """
      {"id": "sdr\(index)", "kind": "convert", "options": {"format": "RGB24", "toneMap": "\(map)"}},
      {"id": "digest\(index)", "kind": "digest"},
      {"id": "values\(index)", "kind": "results", "primary": \(index == 0)}
      """
    }
    let edges = maps.indices.map { index in
      """
      {"from": "camera", "to": "sdr\(index)"}, {"from": "sdr\(index)", "to": "digest\(index)"},
      {"from": "digest\(index)", "to": "values\(index)"}
      """
    }
    return """
      {"v": 1, "name": "sdr",
       "nodes": [{"id": "camera", "kind": "session"}, \(nodes.joined(separator: ", "))],
       "edges": [\(edges.joined(separator: ", "))]}
      """
  }

  @Test func `tone mapping is an option of convert, and changes the pixels`() throws {
    let workplace = try Workplace()
    try clip("yuv420p10le", in: workplace)
    let maps = ["none", "pq", "hlg"]
    let results = try maps.map { map in
      try workplace.folder.write(Self.toneMapped([map]), to: "sdr.json")
      let replayed = try workplace.retake("replay", "deep", "-p", "sdr.json", "--json")
      try #require(replayed.status == 0, "\(replayed.stderr)")
      return try #require(try replayed.json().resultDigest.text)
    }
    #expect(Set(results).count == 3)
    try workplace.folder.write(Self.toneMapped(maps), to: "sdr.json")
    let verified = try workplace.retake("verify", "deep", "-p", "sdr.json")
    #expect(verified.status == 0, "\(verified.stdout)")
    try workplace.folder.write(
      #"{"v": 1, "name": "x", "nodes": [{"id": "c", "kind": "convert", "#
        + #""options": {"toneMap": "pk"}}], "edges": []}"#, to: "bad.json")
    let refused = try workplace.retake("pipeline", "check", "bad.json")
    #expect(refused.status == 2)
    #expect(refused.stderr.contains("'none', 'pq', 'hlg'"), "\(refused.stderr)")
  }

  private static func program(_ formats: String) -> String {
    StageProgram.conversation + """
      while True:
          message = receive()
          if "hello" in message:
              size = message["hello"]["slotBytes"]
              send({"ready": {"v": 1, "name": "peak", "version": 1, "output": "scalars",
                              "state": "pure", "formats": \(formats)}})
          elif "frame" in message:
              frame = message["frame"]
              offset, stride = frame["planes"][0]
              offset += frame["slot"] * size
              deep = frame["format"] == "I420P10"
              peak = 0
              for y in range(frame["height"]):
                  row = pixels[offset + y * stride:offset + y * stride
                               + frame["width"] * (2 if deep else 1)]
                  if deep:
                      peak = max(peak, max(struct.unpack("<%dH" % frame["width"], row)))
                  else:
                      peak = max(peak, max(row))
              send({"sequence": frame["sequence"],
                    "value": {"scalars": [{"name": "peak", "value": peak},
                                          {"name": frame["format"], "value": 1}]}})
          else:
              break

      """
  }

  @Test(.enabled(if: ChildProcess.path(of: "python3") != nil, SkipReason.noPython))
  func `a program gets 8 bits unless it names a deep format`() throws {
    let workplace = try Workplace()
    try clip("yuv420p10le", in: workplace, ["-color_range", "pc"])
    try workplace.folder.write(
      """
      {"v": 1, "name": "peak",
       "nodes": [
        {"id": "camera", "kind": "session"},
        {"id": "peak", "kind": "process",
         "options": {"command": ["python3", "peak.py"], "output": "scalars"}},
        {"id": "values", "kind": "results", "primary": true}],
       "edges": [{"from": "camera", "to": "peak"}, {"from": "peak", "to": "values"}]}
      """, to: "peak.json")
    for (formats, name, range) in [
      ("[]", "I420", 200.0...255), (#"["I420P10"]"#, "I420P10", 800.0...1023),
    ] {
      try workplace.folder.write(Self.program(formats), to: "peak.py")
      let followed = try workplace.retake(
        "replay", "deep", "-p", "peak.json", "--follow", "--allow-processes")
      try #require(followed.status == 0, "\(followed.stderr)")
      let peaks = followed.stdout.matches(of: /"name":"peak","value":([0-9.]+)/)
        .compactMap { Double($0.output.1) }
      #expect(peaks.count == 12 && peaks.allSatisfy { range.contains($0) }, "\(peaks)")
      #expect(followed.stdout.contains("\"\(name)\""), "\(followed.stdout)")
    }
  }
}
