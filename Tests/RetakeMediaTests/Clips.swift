import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeMedia

/// Clips that the tests create with the ffmpeg command, each once, and ffmpeg's information about
/// them.
enum Clips {
  static let hasFFmpeg = (try? runFFmpeg(arguments: ["-version"]).status) == 0

  private static let folder = Result { try TemporaryFolder("retake-media") }

  static var root: TemporaryFolder {
    get throws { try folder.get() }
  }

  /// Runs ffmpeg with `arguments` and the output file last; returns the file's path.
  static func make(_ name: String, _ arguments: [String]) throws -> String {
    let file = try root.file("\(UUID().uuidString)-\(name)").path
    try ffmpeg(arguments + [file])
    return file
  }

  /// A moving test image of `frames` frames at 25 per second. The source itself only produces even
  /// sizes, so it is scaled.
  static func picture(_ size: String, frames: Int = 30) -> [String] {
    let graph = "testsrc2=size=160x120:rate=25,scale=\(size.replacing("x", with: ":")),setsar=1"
    return ["-f", "lavfi", "-i", graph, "-frames:v", "\(frames)"]
  }

  @discardableResult
  static func ffmpeg(_ arguments: [String]) throws -> Data {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(result.status == 0, "ffmpeg: \(result.stderr)")
    return result.stdoutBytes
  }

  /// The hashes of a track's decoded frames, as ffmpeg's own framehash muxer writes them.
  static func frameHashes(
    _ file: String, track: Int = 0, flags: String = "bitexact"
  ) throws -> [String] {
    let text = try ffmpeg([
      "-flags", flags, "-idct", "simple", "-noautorotate", "-i", file, "-map", "0:v:\(track)",
      "-fps_mode", "passthrough", "-f", "framehash", "-",
    ])
    return String(decoding: text, as: UTF8.self).split(separator: "\n")
      .filter { !$0.hasPrefix("#") }
      .compactMap { $0.split(separator: ",").last.map { $0.trimmingCharacters(in: .whitespaces) } }
  }
}

/// All frames of a file's n-th video track, in the order of the decoder.
func decodeAll(
  _ file: String, track: Int = 0, threads: Int = 1, memory: ImageMemory = ImageMemory()
) throws -> [DecodedFrame] {
  let demuxer = try MediaDemuxer(path: file)
  let stream = demuxer.videoStreams[track]
  let decoder = try MediaDecoder(stream: stream, file: file, threads: threads, memory: memory)
  var frames: [DecodedFrame] = []
  while let packet = try demuxer.nextPacket() {
    if packet.stream == stream.index { frames += try decoder.decode(packet) }
  }
  return frames + (try decoder.decode(nil))
}

/// The code of the error that `body` throws; `nil` without an error.
func errorCode(_ body: () throws -> Void) -> String? {
  do {
    try body()
    return nil
  } catch {
    return (error as? any CodedError)?.code ?? "\(error)"
  }
}
