import Foundation
import RetakeProcess
import Synchronization

/// Runs the `ffmpeg` command, or returns what the same command made before: the same version of
/// ffmpeg, the same arguments, and inputs with the same bytes.
///
/// Clips are the input of tests and references for them, not what the tests check. They stay next
/// to the program of the tests, in a folder for each version of ffmpeg.
///
/// - Parameter arguments: The output last: a file, or `-` for standard output.
package func runFFmpeg(arguments: [String], folder: URL? = nil) throws -> CommandResult {
  let job = FFmpegJob(arguments: arguments, folder: folder)
  guard let recipe = try job.recipe() else { return try job.run() }
  // Another test that needs the same output waits for it.
  return try FFmpegOutputs.turn(of: recipe).mutex.withLock { _ in
    if let kept = FFmpegOutputs.kept(recipe) { return try job.place(kept) }
    let result = try job.run()
    if let made = try job.made(result, by: recipe) { FFmpegOutputs.keep(made) }
    return result
  }
}

private struct FFmpegJob {
  var arguments: [String]
  var folder: URL?

  private var words: [String] { arguments.dropLast() }
  private var printsOutput: Bool { arguments.last == "-" }

  func run() throws -> CommandResult {
    try runCommand("ffmpeg", arguments: arguments, folder: folder)
  }

  /// Everything that the output depends on; `nil` if the command is about ffmpeg itself, or names a
  /// file in a way that is not understood.
  func recipe() throws -> [String]? {
    guard words.contains("-i"), let output = arguments.last else { return nil }
    var recipe: [String] = []
    for word in words {
      if let file = file(word) {
        recipe.append("file \(Self.digest(of: try Data(contentsOf: file)))")
      } else if word.hasPrefix("/") || ["file=", "movie=", "concat"].contains(where: word.contains)
      {
        return nil
      } else {
        recipe.append(word)
      }
    }
    return recipe + [URL(filePath: output).lastPathComponent]
  }

  /// The output, if the command made only this one.
  func made(_ result: CommandResult, by recipe: [String]) throws -> FFmpegOutput? {
    // A word that names a file now, and was no input, was another output.
    guard result.status == 0, try self.recipe() == recipe else { return nil }
    var output = FFmpegOutput(
      recipe: recipe, stdout: result.stdoutBytes, stderr: result.stderrBytes)
    guard !printsOutput else { return output }
    guard let file = file(arguments.last ?? "") else { return nil }
    output.file = try Data(contentsOf: file)
    return output
  }

  func place(_ output: FFmpegOutput) throws -> CommandResult {
    if let bytes = output.file, let name = arguments.last { try bytes.write(to: url(name)) }
    return CommandResult(
      status: 0, timedOut: false, stdoutBytes: output.stdout, stderrBytes: output.stderr)
  }

  private func url(_ word: String) -> URL {
    folder.map { URL(filePath: word, relativeTo: $0) } ?? URL(filePath: word)
  }

  /// The regular file that a word names.
  private func file(_ word: String) -> URL? {
    guard folder != nil || word.hasPrefix("/") else { return nil }
    let kind = try? url(word).resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
    return kind == true ? url(word) : nil
  }

  /// FNV-1a, which is the same in every process, with the number of bytes.
  static func digest(of bytes: some Collection<UInt8>) -> String {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return "\(String(hash, radix: 16))-\(bytes.count)"
  }
}

/// What ffmpeg made.
private struct FFmpegOutput: Codable {
  var recipe: [String]
  var stdout: Data
  var stderr: Data
  var file: Data?
}

private enum FFmpegOutputs {
  final class Turn: Sendable {
    let mutex = Mutex(())
  }

  private static let turns = Mutex<[[String]: Turn]>([:])

  static func turn(of recipe: [String]) -> Turn {
    turns.withLock { turns in
      let turn = turns[recipe] ?? Turn()
      turns[recipe] = turn
      return turn
    }
  }

  /// The folder of this version of ffmpeg, with the outputs of other versions removed; `nil` if
  /// nothing can be kept.
  private static let folder: URL? = {
    guard let version = try? runCommand("ffmpeg", arguments: ["-version"]), version.status == 0
    else { return nil }
    let parent = productsFolder.appending(path: "test-clips")
    let folder = parent.appending(path: FFmpegJob.digest(of: version.stdoutBytes))
    let files = FileManager.default
    for other in (try? files.contentsOfDirectory(atPath: parent.path)) ?? []
    where other != folder.lastPathComponent {
      try? files.removeItem(at: parent.appending(path: other))
    }
    try? files.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }()

  private static func url(_ recipe: [String]) -> URL? {
    folder?.appending(path: FFmpegJob.digest(of: recipe.joined(separator: "\0").utf8))
  }

  static func kept(_ recipe: [String]) -> FFmpegOutput? {
    guard let url = url(recipe), let bytes = try? Data(contentsOf: url),
      let output = try? PropertyListDecoder().decode(FFmpegOutput.self, from: bytes)
    else { return nil }
    return output.recipe == recipe ? output : nil
  }

  static func keep(_ output: FFmpegOutput) {
    let encoder = PropertyListEncoder()
    encoder.outputFormat = .binary
    guard let url = url(output.recipe), let bytes = try? encoder.encode(output) else { return }
    // Atomically: another process of the tests may read it. It is made again if it is missing.
    try? bytes.write(to: url, options: .atomic)
  }
}
