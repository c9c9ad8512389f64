import Foundation
import RetakeTestSupport
import Testing

/// libretake as `make libretake` leaves it, and programs that are linked with it.
enum BuiltLibrary {
  static let folder = packageRoot.appending(path: ".build/libretake")
  static let file = folder.appending(path: "libretake.so")

  static let isBuilt = FileManager.default.fileExists(atPath: file.path)
  static let reason: Comment = "libretake is not built: make libretake"

  /// Whether the library is as new as the files that it is linked from.
  static func isCurrent() throws -> Bool {
    func date(_ file: URL) throws -> Date? {
      let values = try file.resolvingSymlinksInPath().resourceValues(
        forKeys: [.contentModificationDateKey])
      return values.contentModificationDate
    }
    let archive = productsFolder.appending(path: "libretake-c.a")
    guard let made = try date(file), let from = try date(archive) else { return false }
    return made >= from
  }

  /// Compiles a program with the toolchain's C compiler, and links it with the library.
  ///
  /// - Parameter options: More options of the compiler.
  /// - Returns: The program.
  static func compile(
    _ source: URL, in folder: TemporaryFolder, options: [String] = []
  ) throws -> URL {
    let program = folder.file(source.deletingPathExtension().lastPathComponent)
    let result = try runCommand(
      "clang",
      arguments: [
        "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-pthread", "-I", Self.folder.path,
      ] + options + [
        source.path, "-o", program.path, "-L", Self.folder.path, "-lretake",
        "-Wl,-rpath,\(Self.folder.path)",
      ])
    try #require(result.status == 0, "\(result.stderr)")
    return program
  }

  /// A program of Tests/Embedders.
  static func embedder(_ name: String) -> URL {
    packageRoot.appending(path: "Tests/Embedders/\(name).c")
  }
}

/// Programs in Python that use libretake.
enum Python {
  /// Python 3.11 or later, as the package needs.
  static let isHere: Bool = {
    let check = "import sys; sys.exit(sys.version_info < (3, 11))"
    return (try? runCommand("python3", arguments: ["-c", check]))?.status == 0
  }()

  static func run(
    _ program: String, arguments: [String] = [], folder: URL? = nil
  ) throws -> CommandResult {
    try runCommand(
      "python3", arguments: ["-B", "-c", program] + arguments,
      environment: [
        "PYTHONPATH": packageRoot.appending(path: "Python").path,
        "RETAKE_LIBRARY": BuiltLibrary.file.path,
      ], folder: folder)
  }
}

/// The fenced blocks of docs/libretake.md.
enum Guide {
  static func blocks(_ language: String) throws -> [String] {
    let text = try String(
      contentsOf: packageRoot.appending(path: "docs/libretake.md"), encoding: .utf8)
    return text.components(separatedBy: "\n```\(language)\n").dropFirst().compactMap {
      $0.components(separatedBy: "\n```").first.map { $0 + "\n" }
    }
  }
}

/// A session of the repository with 320x240 I420 frames, and its decoded frames.
enum Figures {
  static let session = packageRoot.appending(path: "Recordings/figures")

  /// All frames, one after another, as FFmpeg decodes them.
  static func frames() throws -> Data {
    let result = try runCommand(
      "ffmpeg",
      arguments: [
        "-v", "error", "-i", session.appending(path: "media/video-00000.mkv").path,
        "-f", "rawvideo", "-pix_fmt", "yuv420p", "-fps_mode", "passthrough", "-",
      ])
    try #require(result.status == 0, "\(result.stderr)")
    return result.stdoutBytes
  }
}
