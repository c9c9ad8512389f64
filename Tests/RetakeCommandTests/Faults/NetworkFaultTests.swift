import Foundation
import Retake
import RetakeProcess
import RetakeTestSupport
import Testing

/// A server of Tests/Faults in a separate process. It ends with its input.
final class FaultServer {
  /// The system's Python, which has Debian's packages.
  static let python = "/usr/bin/python3"
  static let isHere = Faults.works(python, "-c", "import socket")
  static let hasTLS = isHere && Faults.works("openssl", "version")
  static let hasRTSP = Faults.works(
    python, "-c", "import gi; gi.require_version('GstRtspServer', '1.0')")

  private let process: ChildProcess
  private let input: ChildPipe
  private let output: ChildPipe
  /// The numbers in its first line.
  let ports: [Int]

  init(_ script: String, _ arguments: String...) throws {
    (input, output) = (try ChildPipe(), try ChildPipe())
    var request = ChildProcess.Request(
      Self.python, [packageRoot.appending(path: "Tests/Faults/\(script)").path] + arguments)
    request.input = .pipe(input)
    request.output = .pipe(output)
    process = try ChildProcess(request)
    ports = output.readLine().split(separator: " ").compactMap { Int($0) }
    try #require(!ports.isEmpty, "the server does not start")
  }

  deinit { process.sendToGroup(SIGKILL) }

  /// SIGSTOP stops the server and its connections. SIGCONT continues it.
  func send(_ signal: Int32) { process.send(signal) }

  /// The next line of its output.
  func line() -> String { output.readLine() }

  /// - Returns: The last line of its output.
  @discardableResult
  func end() throws -> String {
    input.closeWriteEnd()
    let line = output.readLine()
    _ = try #require(process.wait(), "the server does not end")
    return line
  }
}

@Suite(.serialized, .oneAtATime(.displays)) struct NetworkFaultTests {
  private func record(
    _ workplace: Workplace, _ address: String, _ more: String...
  ) throws -> (CommandResult, Double) {
    let start = DispatchTime.now().uptimeNanoseconds
    let result = try workplace.retake(
      words: ["record", address, "--name", "live", "--into", ".", "--json"] + more)
    return (result, Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9)
  }

  @Test(.enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"))
  func `a stream that never answers is given up within six seconds`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("stub-server.py", "rtsp-silent")
    let (result, seconds) = try record(workplace, "rtsp://127.0.0.1:\(server.ports[0])/x")
    try server.end()
    #expect(result.status == 2)
    #expect(result.stderr.contains("[media.live.timedOut]"), "\(result.stderr)")
    #expect(Int64(1_000 * seconds) < Faults.limit(milliseconds: 6_500), "\(seconds) s")
    #expect(!workplace.exists("live"))
    Faults.print(row: "11", "RTSP stall", cases: 1, "given up after \(Int(seconds * 1_000)) ms")
  }

  @Test(.enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"))
  func `while a stream says nothing, patience and Ctrl-C are heard at once`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("stub-server.py", "rtsp-silent")
    let address = "rtsp://127.0.0.1:\(server.ports[0])/x"
    let (impatient, seconds) = try record(workplace, address, "--reconnect-timeout", "1s")
    #expect(impatient.status == 2)
    #expect(impatient.stderr.contains("[media.live.timedOut]"), "\(impatient.stderr)")
    #expect(Int64(1_000 * seconds) < Faults.limit(milliseconds: 3_000), "\(seconds) s")
    let other = try FaultServer("stub-server.py", "rtsp-asked")
    var request = ChildProcess.Request(
      Workplace.binary,
      ["record", "rtsp://127.0.0.1:\(other.ports[0])/x", "--name", "live", "--into", "."])
    request.folder = workplace.folder.url.path
    request.environment = ProcessInfo.processInfo.environment.filter { $0.key != "CI" }
    request.errors = .file(workplace.folder.file("words").path)
    let process = try ChildProcess(request)
    #expect(other.line() == "asked")
    let start = DispatchTime.now().uptimeNanoseconds
    process.send(SIGINT)
    #expect(process.wait() == .exited(130))
    let milliseconds = Int64(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000
    try server.end()
    try other.end()
    #expect(milliseconds < Faults.limit(milliseconds: 2_000))
    let said = try String(contentsOf: workplace.folder.file("words"), encoding: .utf8)
    #expect(said.contains("[record.stopped]"), "\(said)")
    #expect(!workplace.exists("live"))
    Faults.print(
      row: "11", "silent source", cases: 2,
      "--reconnect-timeout 1s heard after \(Int(1_000 * seconds)) ms, Ctrl-C after \(milliseconds) ms"
    )
  }

  @Test(.enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"))
  func `a file behind a URL is imported, not recorded`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("stub-server.py", "http-file")
    let (result, _) = try record(workplace, "http://127.0.0.1:\(server.ports[0])/x.mp4")
    try server.end()
    #expect(result.status == 2)
    #expect(result.stderr.contains("this is a file of 9000 bytes"), "\(result.stderr)")
    #expect(result.stderr.contains("retake import FILE"), "\(result.stderr)")
    #expect(!workplace.exists("live"))
  }

  @Test(
    .enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"),
    arguments: [
      ("http", "rubbish", "it speaks neither HTTP nor RTSP"), ("http", "mute", "server closed"),
      ("rtsp", "rubbish", "it speaks neither HTTP nor RTSP"), ("rtsp", "mute", "server closed"),
      ("http", "http-missing", "status 404"), ("http", "http-words", "Invalid data"),
    ])
  func `somebody who answers with no stream is not said to be silent`(
    scheme: String, mode: String, says: String
  ) throws {
    let workplace = try Workplace()
    let server = try FaultServer("stub-server.py", mode)
    let (result, _) = try record(workplace, "\(scheme)://127.0.0.1:\(server.ports[0])/x")
    try server.end()
    #expect(result.status == 2)
    #expect(result.stderr.contains("[media.live.notStream]"), "\(result.stderr)")
    #expect(result.stderr.contains(says), "\(result.stderr)")
    #expect(!workplace.exists("live"))
  }

  @Test(
    .enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"),
    arguments: [("rtsp", "redirect"), ("rtsp", "late-redirect"), ("http", "redirect")])
  func `a redirection is refused, and nobody goes there`(scheme: String, mode: String) throws {
    let workplace = try Workplace()
    let server = try FaultServer("stub-server.py", "\(scheme)-\(mode)")
    let (result, _) = try record(
      workplace, "\(scheme)://me:secret@127.0.0.1:\(server.ports[0])/x")
    #expect(result.status == 2)
    #expect(result.stderr.contains("[media.live.redirected]"), "\(result.stderr)")
    let target = mode == "redirect" ? "\(scheme)://127.0.0.1:\(server.ports[1])/there" : "another"
    #expect(result.stderr.contains(target), "\(result.stderr)")
    #expect(!result.stderr.contains("secret"))
    let strangers = try server.end()
    #expect(strangers == "0")
    Faults.print(row: "11", "\(scheme) \(mode)", cases: 1, "\(strangers) stray connections")
  }

  @Test(.enabled(if: FaultServer.hasTLS, "/usr/bin/python3 or openssl is not there"))
  func `a certificate that no known authority signed is refused, for another host too`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "60", "-f", "mpjpeg", "a")
    let server = try FaultServer(
      "stub-server.py", "https-again", workplace.folder.file("a").path)
    let own = workplace.folder.file("a.pem").path
    let wrong: [(host: String, authorities: String?, says: String)] = [
      ("localhost", nil, "SSL_CERT_FILE=FILE"), ("localhost", "/dev/null", "SSL_CERT_FILE=FILE"),
      ("127.0.0.1", own, "is for another host than 127.0.0.1"),
      ("localhost", "/nowhere.pem", "SSL_CERT_FILE names a file that does not exist: /nowhere.pem"),
    ]
    for (host, authorities, says) in wrong {
      let refused = try workplace.retake(
        "record", "https://\(host):\(server.ports[0])/x", "--name", "live", "--into", ".",
        environment: ["SSL_CERT_FILE": authorities])
      #expect(refused.status == 2)
      #expect(refused.stderr.contains("[media.live.unreachable]"), "\(refused.stderr)")
      #expect(refused.stderr.contains(says), "\(refused.stderr)")
      #expect(!workplace.exists("live"))
    }
    let accepted = try workplace.retake(
      "record", "https://localhost:\(server.ports[0])/x", "--name", "live", "--into", ".",
      "--frames", "5", "--probe", "skip", environment: ["SSL_CERT_FILE": own])
    try server.end()
    #expect(accepted.status == 0, "\(accepted.stderr)")
    #expect(workplace.exists("live"))
  }

  @Test(.enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"))
  func `a stream that falls silent is noticed, and ends the recording when patience does`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "60", "-f", "mpjpeg", "a")
    let server = try FaultServer(
      "stub-server.py", "http-stall", workplace.folder.file("a").path)
    let address = "http://127.0.0.1:\(server.ports[0])/x"
    let (result, _) = try record(workplace, address, "--reconnect-timeout", "2s", "--probe", "skip")
    try server.end()
    #expect(result.status == 2)
    #expect(result.stderr.contains("[record.source.lost]"), "\(result.stderr)")
    var session = workplace.session("live", result)
    try session.check()
    #expect(session.frames >= 55)
    let events = try SessionReader(opening: session.path).events()
    let first = try #require(events.first { $0.kind == "source.stalled" })
    let last = try #require(session.last).lastArrivalNanoseconds
    let noticed = first.timestamp.nanoseconds - last
    #expect(noticed < 1_000_000 * Faults.limit(milliseconds: 2_000))
    Faults.print(
      row: "11", "stream falls silent", cases: 1, "noticed after \(noticed / 1_000_000) ms")
  }

  @Test(.enabled(if: FaultServer.isHere, "/usr/bin/python3 is not there"))
  func `a stream that ends is connected again`() throws {
    let workplace = try Workplace()
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25", "-frames:v", "30", "-f", "mpjpeg", "a")
    let server = try FaultServer(
      "stub-server.py", "http-again", workplace.folder.file("a").path)
    let address = "http://127.0.0.1:\(server.ports[0])/x"
    let (result, _) = try record(workplace, address, "--frames", "70", "--probe", "skip")
    try server.end()
    #expect(result.status == 0, "\(result.stderr)")
    var session = workplace.session("live", result)
    try session.check()
    #expect(session.frames == 70)
    let kinds = try SessionReader(opening: session.path).events().map(\.kind)
    #expect(kinds.count { $0 == "source.back" } >= 2)
  }

  @Test(.enabled(if: FaultServer.hasRTSP, "apt-get install gir1.2-gst-rtsp-server-1.0 python3-gi"))
  func `a real RTSP server is recorded`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("rtsp-server.py")
    let port = try #require(server.ports.first)
    let (result, _) = try record(
      workplace, "rtsp://127.0.0.1:\(port)/test", "--frames", "60", "--probe", "warn")
    try server.end()
    #expect(result.status == 0, "\(result.stderr)")
    var session = workplace.session("live", result)
    try session.check()
    #expect(session.frames == 60)
    Faults.print(
      row: "11", "GStreamer's RTSP server", cases: 1,
      "\(session.frames) frames, \(session.missing) without pixels")
  }

  private func hevc(_ workplace: Workplace, format: String) throws -> String {
    try workplace.ffmpeg(
      "-f", "lavfi", "-i", "testsrc2=size=160x120:rate=30", "-frames:v", "240", "-c:v", "libx265",
      "-preset", "ultrafast", "-x265-params", "keyint=15:bframes=0:log-level=none:pools=1",
      "-pix_fmt", format, "camera.mkv")
    return workplace.folder.file("camera.mkv").path
  }

  @Test(.enabled(if: FaultServer.hasRTSP, "apt-get install gir1.2-gst-rtsp-server-1.0 python3-gi"))
  func `a camera's HEVC is recorded packet by packet`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("rtsp-server.py", try hevc(workplace, format: "yuv420p"))
    let port = try #require(server.ports.first)
    let (result, _) = try record(
      workplace, "rtsp://127.0.0.1:\(port)/test", "--frames", "60", "--preset", "copy")
    try server.end()
    #expect(result.status == 0, "\(result.stderr)")
    var session = workplace.session("live", result)
    try session.check()
    #expect(session.frames == 60)
    let doctor = try workplace.retake("session", "check", "live", "--deep")
    #expect(doctor.status == 0, "\(doctor.stdout)")
    for name in ["out.mp4", "out.mkv", "out.ts"] {
      let export = try workplace.retake("session", "export", "./live", "--media", name)
      #expect(export.status == 0 && workplace.exists(name), "\(export.stderr)")
    }
  }

  @Test(.enabled(if: FaultServer.hasRTSP, "apt-get install gir1.2-gst-rtsp-server-1.0 python3-gi"))
  func `a camera of 12 bits is recorded at its depth`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("rtsp-server.py", try hevc(workplace, format: "yuv420p12le"))
    let port = try #require(server.ports.first)
    let address = "rtsp://127.0.0.1:\(port)/test"
    let (result, _) = try record(workplace, address, "--frames", "60", "--preset", "copy")
    try server.end()
    #expect(result.status == 0, "\(result.stderr)")
    var session = workplace.session("live", result)
    try session.check()
    let info = try workplace.retake("session", "info", "./live", "--json").json()
    #expect(info.tracks[0].format.text == "I420P12")
    let doctor = try workplace.retake("session", "check", "live", "--deep")
    #expect(doctor.status == 0, "\(doctor.stdout)")
  }

  /// A recording of a server that has answered. The first connection is tried for five seconds and
  /// not again, and on a busy machine the server may need longer.
  private func connected(_ address: String, _ workplace: Workplace) throws -> LiveRecording {
    let end = ContinuousClock.now + .seconds(ChildProcess.secondsMax)
    var attempts = 0
    while true {
      // Another name, because a recording that ended may have left a session.
      let recording = try LiveRecording(
        [address, "--probe", "skip"], name: "live\(attempts)", into: workplace.folder.url)
      if recording.waitForCommit({ $0.frames.captured >= 5 }) { return recording }
      try #require(ContinuousClock.now < end, "the server has not answered in \(attempts) attempts")
      attempts += 1
    }
  }

  @Test(.enabled(if: FaultServer.hasRTSP, "apt-get install gir1.2-gst-rtsp-server-1.0 python3-gi"))
  func `an RTSP server that stands still is noticed, and recorded again when it goes on`() throws {
    let workplace = try Workplace()
    let server = try FaultServer("rtsp-server.py")
    let port = try #require(server.ports.first)
    let recording = try connected("rtsp://127.0.0.1:\(port)/test", workplace)
    // On a busy machine a connection may be missing in the table at times, so it is checked after
    // each commit.
    #expect(recording.wait { recording.connectionCount >= 1 })
    // A busy machine makes the source stall by itself.
    let before = recording.eventCount
    server.send(SIGSTOP)
    #expect(recording.waitForCommit { $0.events >= before + (Faults.isLong ? 2 : 1) })
    // Connections fail in the meantime, each after its own five seconds.
    if Faults.isLong { recording.wait(milliseconds: 12_000) }
    let stalled = recording.eventCount
    server.send(SIGCONT)
    #expect(recording.waitForCommit { $0.events > stalled })
    // A connection that was given up may remain in the table for a moment.
    #expect(recording.wait { recording.connectionCount <= 1 })
    // The recording ends after every event that this test waits for, however late it comes.
    recording.send(SIGINT)
    #expect(recording.commits.last?.line.closed == true)
    try server.end()
    try checkGap(of: recording)
  }

  /// The source stalled and came back, once or, on a very busy machine, several times. In between
  /// it was lost when a call was given up, and new connections were tried. A server that stood
  /// still may also close the connection after it has come back.
  private func checkGap(of recording: LiveRecording) throws {
    let reader = try SessionReader(opening: recording.path)
    let events = try reader.events()
    let kinds = events.map { String($0.kind.dropFirst("source.".count)) }.joined(separator: " ")
    #expect(
      kinds.wholeMatch(of: /((stalled( lost)?|lost) back ?)+(stalled( lost)?|lost)?/) != nil
        && (!Faults.isLong || kinds.hasPrefix("stalled lost back")), "\(kinds)")
    let count = try #require(reader.tracks.first).frameCount
    let arrivals = try reader.entries(of: 0, sequences: 0..<count).map(\.arrival.nanoseconds)
    #expect(arrivals.count >= 5)
    let times = events.map(\.timestamp.nanoseconds)
    try #require(times.count >= 2)
    let last = try #require(arrivals.last { $0 < times[0] })
    #expect(times[0] - last < 1_000_000 * Faults.limit(milliseconds: 2_000))
    let call = times[1] - last
    if Faults.isLong { #expect(call < 6_000_000_000, "\(call) ns until the call was given up") }
    let place = try #require(events.lastIndex { $0.kind == "source.back" })
    let back = try JSON(Data(events[place].json.utf8))
    let attempts = try #require(back.attempts.int)
    let wasLost = place > 0 && events[place - 1].kind == "source.lost"
    #expect(wasLost ? attempts >= 1 : attempts == 0, "\(events)")
    if Faults.isLong { #expect((2...4).contains(attempts), "\(events)") }
    var session = FaultSession(
      recording.path, commits: recording.commits.map(\.line))
    try session.check()
    #expect(session.frames == count && session.decoded + session.missing == count)
    Faults.print(
      row: "11", "RTSP server stands still", cases: 1,
      "noticed after \((times[0] - last) / 1_000_000) ms, \(attempts) new "
        + "connections, 0 stray sockets, \(count) produced = \(session.decoded) accepted + "
        + "\(session.missing) dropped"
        + (Faults.isLong ? ", longest call \(call / 1_000_000) ms" : ""))
  }

  @Test(arguments: [
    ("ftp://host/x", "media.live.protocol"), ("rtsp:///x", "media.live.address"),
    ("lavfi:movie=/etc/passwd", "media.live.testImage"),
    ("lavfi:testsrc2,drawtext=textfile=/etc/passwd", "media.live.testImage"),
    ("lavfi:testsrc2[a];[a]scale", "media.live.testImage"),
    ("lavfi:testsrc2=size=banana", "media.live.testImage"),
    ("/dev/video99", "media.live.unreachable"), ("http://127.0.0.1:1/x", "media.live.unreachable"),
    ("http://nobody.invalid/x", "media.live.unknownHost"),
    ("udp://127.0.0.1", "media.live.address"), ("rtp://127.0.0.1/x", "media.live.address"),
  ])
  func `what cannot be opened is said with advice, and nothing is written`(
    input: String, code: String
  ) throws {
    let workplace = try Workplace()
    let result = try workplace.retake("record", input)
    #expect(result.status == (code.hasPrefix("media.live.un") ? 2 : 64))
    #expect(result.stderr.contains("[\(code)]"), "\(result.stderr)")
    #expect(result.stderr.split(separator: "\n").count == 2, "with advice: \(result.stderr)")
    #expect(try workplace.listing() == [])
  }
}
