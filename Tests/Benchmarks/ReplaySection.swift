import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestSupport

/// Whole programs, from their start to their end: a session replayed, downsampled to 640x480 and
/// digested, against what people would type instead. Beside each rival stands the ratio of its time
/// to ours.
///
/// Footage is made here, once with short and once with long groups of pictures, or named by
/// `RETAKE_BENCH_FOOTAGE`.
struct ReplaySection {
  let scale: Scale

  private static let retake = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    .deletingLastPathComponent().appending(path: "retake").path

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
      let contest = try contest(clip, in: folder)
      hashes.append(contest.hash)
      report.figures += figures(contest, clip)
    }
    report.hash =
      hashes.contains("unsteady")
      ? "unsteady" : Digest128(of: hashes.joined(separator: " ")).description
    return report
  }

  private static let rivals = ["framemd5", "framecrc", "halves"]

  private func contest(_ clip: Footage, in folder: TemporaryFolder) throws -> Contest {
    _ = try Self.done(
      Self.retake, ["import", clip.path, "--name", clip.name, "--into", folder.url.path])
    let session = folder.file(clip.name).path
    let half = String(format: "%.3f", clip.seconds / 2)
    return try Contest(
      rounds: scale.isTiny ? 1 : 3,
      [
        {
          try Self.done(
            Self.retake,
            ["replay", session, "--pipeline", "example:downsample-digest", "--follow"])
        },
        {
          try Self.ffmpeg(["-i", clip.path, "-vf", "scale=640:480", "-f", "framemd5", "-"])
        },
        {
          let exact = "scale=640:480:flags=area+accurate_rnd+bitexact"
          return try Self.ffmpeg(["-i", clip.path, "-vf", exact, "-f", "framecrc", "-"])
        },
        {
          // Two decoders of one thread, each with its half: what the machine can do at best.
          let one = ["-threads", "1", "-filter_threads", "1"]
          let scaled = ["-vf", "scale=640:480", "-f", "null", "-"]
          return try Self.together([
            one + ["-i", clip.path, "-t", half] + scaled,
            one + ["-ss", half, "-i", clip.path] + scaled,
          ])
        },
      ])
  }

  private func figures(_ contest: Contest, _ clip: Footage) -> [Figure] {
    let seconds = contest.bestSeconds
    let name = "replay.\(clip.name)"
    return [
      Figure(name: name, value: Double(clip.frames) / seconds[0], unit: "frames/s")
    ]
      + Self.rivals.enumerated().map { index, rival in
        Figure(name: "\(name).\(rival)", value: seconds[index + 1] / seconds[0], unit: "times ours")
      }
  }

  private static func ffmpeg(_ arguments: [String]) throws -> String {
    try done("ffmpeg", ["-v", "error", "-nostdin"] + arguments)
  }

  private static func together(_ runs: [[String]]) throws -> String {
    let results = Locked<[String?]>(Array(repeating: nil, count: runs.count))
    DispatchQueue.concurrentPerform(iterations: runs.count) { index in
      let text = try? ffmpeg(runs[index])
      results.withLock { $0[index] = text }
    }
    guard results.withLock({ $0.allSatisfy { $0 != nil } }) else {
      throw RunFailed(description: "one of two ffmpegs failed")
    }
    return "together"
  }

  /// - Returns: What it wrote, as a digest, without the times at the end of ours.
  private static func done(_ command: String, _ arguments: [String]) throws -> String {
    let result = try runCommand(command, arguments: arguments, timeoutSeconds: 600)
    guard result.status == 0 else {
      throw RunFailed(
        description: "\(command) \(arguments.joined(separator: " ")): \(result.stderr)")
    }
    let lines = result.stdout.split(separator: "\n").filter { !$0.hasPrefix(#"{"summary""#) }
    return Digest128(of: lines.joined(separator: "\n")).description
  }

  struct RunFailed: Error, CustomStringConvertible { var description: String }
}

/// A clip to replay.
struct Footage {
  var name: String
  var path: String
  var frames: Int
  var seconds: Double

  /// - Parameter frames: Of clips that are made here.
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
    guard result.status == 0 else { throw ReplaySection.RunFailed(description: result.stderr) }
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
      throw ReplaySection.RunFailed(description: "\(path) is no footage: \(result.stderr)")
    }
    return Footage(name: "footage", path: path, frames: frames, seconds: seconds)
  }
}
