import Foundation
import RetakeCore
import RetakeTestSupport

/// Programs from start to end: a session is replayed, downsampled to 640x480 and digested, compared
/// with the programs that a user would run instead. Each rival is listed with the ratio of its time
/// to Retake's.
///
/// The footage is created here, once with short and once with long groups of pictures, or is named
/// by `RETAKE_BENCH_FOOTAGE`.
struct ReplaySection {
  let scale: Scale

  func run() throws -> SectionReport {
    let folder = try TemporaryFolder("retake-replay-bench")
    let footage = try Footage.all(frames: scale.count(1_800, tiny: 12), in: folder)
    var report = SectionReport(
      name: "replay",
      title:
        "Whole runs: decode, downsample to 640x480, digest; frames a second, and how many times "
        + "as long a rival takes",
      hash: "")
    var hashes: [String] = []
    for clip in footage {
      let outcome = try contest(clip, in: folder)
      hashes.append(outcome.hash)
      report.figures += outcome.figures
      report.notes = outcome.notes
    }
    report.hash =
      hashes.contains("unsteady")
      ? "unsteady" : Digest128(of: hashes.joined(separator: " ")).description
    return report
  }

  private func contest(_ clip: Footage, in folder: TemporaryFolder) throws -> Outcome {
    _ = try Program.run(
      Program.retake, ["import", clip.path, "--name", clip.name, "--into", folder.url.path])
    let replays = try Replays(session: folder.file(clip.name).path, in: folder)
    let rivals = ReplayRival.all(clip)
    let present = rivals.filter { $0.absence == nil }
    let contest = try Contest(
      rounds: scale.isTiny ? 1 : 3, replays.all.map(\.run) + present.map(\.run))
    // A cache affects the speed only.
    guard Set(contest.hashes.prefix(3)).count == 1 else {
      throw Program.Failed(description: "\(clip.name): with a cache other results came out")
    }
    let name = "replay.\(clip.name)"
    let seconds = contest.bestSeconds
    var figures: [Figure] = []
    for (index, replay) in replays.all.enumerated() {
      let own = replay.name.map { "\(name).\($0)" } ?? name
      figures.append(
        Figure(name: own, value: Double(clip.frames) / seconds[index], unit: "frames/s"))
      for (place, rival) in present.enumerated() {
        let rivalSeconds = seconds[replays.all.count + place]
        figures.append(
          Figure(
            name: "\(own).\(rival.name)", value: rivalSeconds / seconds[index], unit: "times ours"))
      }
    }
    return Outcome(
      hash: contest.hash, figures: figures,
      notes: rivals.compactMap { rival in rival.absence.map { "\(rival.name) \($0)" } })
  }

  private struct Outcome {
    var hash: String
    var figures: [Figure]
    var notes: [String]
  }
}

/// The ways in which a session is replayed: without a cache; with a cache when only a later stage
/// is new, so that every kept pixel is read; and with a cache when all stages are known.
private struct Replays {
  /// The first replay, without a cache, has no name.
  let all: [(name: String?, run: () throws -> String)]

  init(session: String, in folder: TemporaryFolder) throws {
    let replay = ["replay", session, "--pipeline", "example:downsample-digest", "--follow"]
    let pixels = folder.file("pixels-\(UUID().uuidString)").path
    try folder.write(Self.pixelsDocument, to: "pixels.json")
    // Keeps the downsampled pixels, but no digests.
    _ = try Program.run(
      Program.retake,
      ["replay", session, "--pipeline", folder.file("pixels.json").path, "--cache", pixels])
    let whole = pixels + "-whole"
    _ = try Program.run(Program.retake, replay + ["--cache", whole])
    all = [
      (nil, { try Program.run(Program.retake, replay) }),
      (
        "later",
        {
          let copy = folder.file("copy-\(UUID().uuidString)")
          try FileManager.default.linkItem(at: URL(filePath: pixels), to: copy)
          defer { try? FileManager.default.removeItem(at: copy) }
          return try Program.run(Program.retake, replay + ["--cache", copy.path])
        }
      ),
      ("same", { try Program.run(Program.retake, replay + ["--cache", whole]) }),
    ]
  }

  private static let pixelsDocument = """
    {"v": 1, "name": "pixels",
     "nodes": [
      {"id": "camera", "kind": "session"},
      {"id": "downsample", "kind": "downsample", "options": {"width": 640, "height": 480}},
      {"id": "end", "kind": "discard"}],
     "edges": [{"from": "camera", "to": "downsample"}, {"from": "downsample", "to": "end"}]}
    """
}

/// A clip to replay.
struct Footage {
  var name: String
  var path: String
  var frames: Int
  var seconds: Double

  /// - Parameter frames: The length of clips that are created here.
  static func all(frames: Int, in folder: TemporaryFolder) throws -> [Footage] {
    if let path = ProcessInfo.processInfo.environment["RETAKE_BENCH_FOOTAGE"] {
      return [try named(path)]
    }
    return try [
      made("short", ["-g", "8", "-bf", "0"], frames: frames, in: folder),
      made(
        "long", ["-g", "250", "-keyint_min", "250", "-sc_threshold", "0", "-bf", "3"],
        frames: frames, in: folder),
    ]
  }

  private static func made(
    _ name: String, _ groups: [String], frames: Int, in folder: TemporaryFolder
  ) throws -> Footage {
    let path = folder.file("\(name).mp4").path
    let result = try runCommand(
      "ffmpeg",
      arguments: [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i",
        "testsrc2=size=854x480:rate=30,noise=alls=6:allf=t", "-frames:v", "\(frames)",
        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-preset", "veryfast",
      ] + groups + [path], timeoutSeconds: 600)
    guard result.status == 0 else { throw Program.Failed(description: result.stderr) }
    return Footage(name: name, path: path, frames: frames, seconds: Double(frames) / 30)
  }

  private static func named(_ path: String) throws -> Footage {
    let result = try runCommand(
      "ffprobe",
      arguments: [
        "-v", "error", "-select_streams", "v:0", "-count_packets", "-show_entries",
        "stream=nb_read_packets:format=duration", "-of", "default=nw=1:nk=1", path,
      ])
    let words = result.stdout.split(separator: "\n")
    guard words.count == 2, let frames = Int(words[0]), let seconds = Double(words[1]) else {
      throw Program.Failed(description: "\(path) is no footage: \(result.stderr)")
    }
    return Footage(name: "footage", path: path, frames: frames, seconds: seconds)
  }
}
