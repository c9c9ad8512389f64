import Foundation
import RetakeCore
import RetakeMedia
import RetakeProcess

/// The files on which the values of a program depend, as far as its command and its processes name
/// them.
struct ProgramInputs: Hashable, Sendable {
  /// SHA-256 of files and folders: by the name in the command, or by the path from the program's
  /// folder. They are the same on each machine with the same files.
  private(set) var digests: [String: String] = [:]
  /// Of this machine alone: the sizes of interpreters and installed libraries, the digests of other
  /// libraries, and the sizes and times of change of files that are too large for a digest.
  private(set) var facts: [String: String] = [:]

  /// The largest file, and the largest folder, with a digest.
  private static let bytesMax: Int64 = 256 << 20
  /// The most files of a folder with a digest.
  private static let filesMax = 1_000
  /// Further files of a folder are not read.
  private static let listedMax = 100_000

  /// The program, and the files and folders that the command names. A program may read them at any
  /// time, so this is made before it starts.
  ///
  /// - Parameter searched: Where PATH has the program; `nil` if it is named by its path.
  init(of program: ForeignProgram, searched: String?) {
    if let searched { add(program.name, program: searched) }
    let working = Self.realPath(program.workingFolder) + "/"
    for name in program.files where !name.isEmpty {
      let path = program.place(of: name)
      // The folder of the project changes with each result.
      if working.hasPrefix(Self.realPath(path) + "/") { continue }
      add(name, at: path)
    }
  }

  /// The programs and libraries that the processes of a program have loaded: a script may have
  /// started another program.
  init(loadedBy processes: [Int32], in folder: String) {
    let root = Self.realPath(folder)
    for id in processes.sorted() {
      if let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")
      {
        add(Self.name(of: program, in: root), program: program)
      }
      for library in Self.libraries(of: id) {
        if Self.isInstalled(library, in: root) {
          facts[library] = Self.size(of: library)
        } else if library.hasPrefix(root + "/") {
          add(Self.name(of: library, in: root), at: library)
        } else {
          facts[library] = Self.digest(of: library) ?? Self.facts(of: library)
        }
      }
    }
  }

  mutating func merge(_ other: Self) {
    digests.merge(other.digests) { first, _ in first }
    facts.merge(other.facts) { first, _ in first }
  }

  // MARK: Programs

  /// The interpreter of a script is part of the machine, as the system's libraries are.
  private mutating func add(_ name: String, program path: String) {
    let real = Self.realPath(path)
    if Self.isInterpreter(path) || Self.isInterpreter(real) || Self.isOfSystem(real) {
      facts[real] = Self.size(of: real)
    } else {
      add(name, at: real)
    }
  }

  private static func isInterpreter(_ path: String) -> Bool {
    let name = URL(fileURLWithPath: path).lastPathComponent
    return ["python", "pypy"].contains { name.hasPrefix($0) } || interpreters.contains(name)
  }

  private static let interpreters: Set = [
    "bash", "dash", "sh", "zsh", "env", "java", "julia", "node", "perl", "ruby", "Rscript", "uv",
  ]

  private static func isOfSystem(_ path: String) -> Bool {
    ["/bin/", "/sbin/", "/lib", "/usr/bin/", "/usr/sbin/", "/usr/lib"].contains {
      path.hasPrefix($0)
    }
  }

  /// The libraries outside of the system's folders that a process has mapped. Sorted, each once.
  private static func libraries(of id: Int32) -> [String] {
    guard let data = FileManager.default.contents(atPath: "/proc/\(id)/maps") else { return [] }
    // proc(5): address, rights, offset, device, inode, path.
    let paths = String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { line in
      let words = line.split(separator: " ", maxSplits: 5)
      guard words.count == 6, words[1].contains("x") else { return String?.none }
      return words[5].trimmingCharacters(in: .whitespaces)
    }
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")
    return Set(paths).filter { $0.hasPrefix("/") && $0 != program && !isOfSystem($0) }.sorted()
  }

  /// Whether a library belongs to an installed package, or to an environment of packages.
  private static func isInstalled(_ path: String, in root: String) -> Bool {
    if path.contains("/site-packages/") || path.contains("/dist-packages/") { return true }
    var folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    while folder.path.count >= root.count {
      for mark in ["pyvenv.cfg", "conda-meta"]
      where FileManager.default.fileExists(atPath: folder.appending(path: mark).path) {
        return true
      }
      folder.deleteLastPathComponent()
    }
    return false
  }

  /// The path from the program's folder; for a file that is elsewhere, its last component.
  private static func name(of path: String, in root: String) -> String {
    path.hasPrefix(root + "/")
      ? String(path.dropFirst(root.count + 1)) : URL(fileURLWithPath: path).lastPathComponent
  }

  private static func realPath(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  // MARK: Files

  private mutating func add(_ name: String, at path: String) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return }
    if isFolder.boolValue { return addFolder(name, at: path) }
    if let digest = Self.digest(of: path) {
      digests[name] = digest
    } else {
      facts[name] = Self.facts(of: path)
    }
  }

  private static func digest(of path: String) -> String? {
    let content = try? RegularFile.contents(path, links: .followed, bytesMax: bytesMax)
    return content.map { Sha256.digest(of: $0) }
  }

  /// Without the time, because an installation of the same version has another one.
  private static func size(of path: String) -> String? {
    (try? RegularFile.facts(of: path, links: .followed)).map { "\($0.bytes)" }
  }

  /// `nil` if it is no regular file.
  private static func facts(of path: String) -> String? {
    guard let facts = try? RegularFile.facts(of: path, links: .followed) else { return nil }
    return "\(facts.bytes) \(facts.modifiedNanoseconds)"
  }

  /// One digest of the names and contents of all files. Hidden files and compiled modules belong
  /// to tools, not to the program.
  private mutating func addFolder(_ name: String, at path: String) {
    var files: [(name: String, path: String, bytes: Int64)] = []
    let root = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let found = FileManager.default.enumerator(
      at: root, includingPropertiesForKeys: nil, options: .skipsHiddenFiles)
    while files.count < Self.listedMax, let file = found?.nextObject() as? URL {
      if file.lastPathComponent == "__pycache__" { found?.skipDescendants() }
      guard let facts = try? RegularFile.facts(of: file.path, links: .followed) else { continue }
      files.append((String(file.path.dropFirst(root.path.count)), file.path, facts.bytes))
    }
    files.sort { $0.name < $1.name }
    let isSmall =
      files.count <= Self.filesMax && files.reduce(0) { $0 + $1.bytes } <= Self.bytesMax
    let lines = files.map { file in
      "\((isSmall ? Self.digest(of: file.path) : Self.facts(of: file.path)) ?? "-") \(file.name)\n"
    }
    let digest = Sha256.digest(of: Array(lines.joined().utf8))
    if isSmall { digests[name] = digest } else { facts[name] = digest }
  }
}

extension ForeignProgram {
  /// Where PATH has the program, if it is named without a folder.
  var searchedPath: String? { name.contains("/") ? nil : ChildProcess.path(of: name) }

  var workingFolder: String { folder ?? FileManager.default.currentDirectoryPath }
}
