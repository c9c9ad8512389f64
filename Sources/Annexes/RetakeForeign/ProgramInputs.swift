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
  /// SHA-256 of programs in other folders, by their names.
  private(set) var programs: [String: String] = [:]
  /// Of this machine alone: the sizes of interpreters and installed libraries, the digests of other
  /// libraries, and the sizes and times of change of files that are too large for a digest.
  private(set) var facts: [String: String] = [:]

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
      if let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe") {
        add(path.hasPrefix(root + "/") ? Self.name(of: path, in: root) : nil, program: path)
      }
      for library in Self.libraries(of: id) {
        if Self.isInstalled(library, in: root) {
          facts[library] = Self.size(of: library)
        } else if library.hasPrefix(root + "/") {
          add(Self.name(of: library, in: root), at: library)
        } else {
          facts[library] = TreeDigest(of: library).map { "\($0)" }
        }
      }
    }
  }

  mutating func merge(_ other: Self) {
    digests.merge(other.digests) { first, _ in first }
    programs.merge(other.programs) { first, _ in first }
    facts.merge(other.facts) { first, _ in first }
  }

  // MARK: Programs

  /// The interpreter of a script is part of the machine, as the system's libraries are.
  ///
  /// - Parameter name: In the command or the program's folder; `nil` for another one.
  private mutating func add(_ name: String?, program path: String) {
    let real = Self.realPath(path)
    if Self.isInterpreter(path) || Self.isInterpreter(real) || Self.isOfSystem(real) {
      facts[real] = Self.size(of: real)
    } else if let name {
      add(name, at: real)
    } else if case .contents(let digest)? = TreeDigest(of: real) {
      programs[URL(fileURLWithPath: path).lastPathComponent] = digest
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
    // proc(5): address, rights, offset, device, inode, path.
    let paths = (SystemFile.text("/proc/\(id)/maps") ?? "").split(separator: "\n")
      .compactMap { line in
        let words = line.split(separator: " ", maxSplits: 5)
        guard words.count == 6, words[1].contains("x") else { return String?.none }
        return words[5].trimmingCharacters(in: .whitespaces)
      }
    let program = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(id)/exe")
    return Set(paths).filter { $0.hasPrefix("/") && $0 != program && !isOfSystem($0) }.sorted()
  }

  /// Whether a library belongs to Python, to an installed package or to an environment of packages.
  private static func isInstalled(_ path: String, in root: String) -> Bool {
    let ofPython = ["/site-packages/", "/dist-packages/", "/lib-dynload/", "/lib/libpython"]
    if ofPython.contains(where: path.contains) { return true }
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

  /// The path from the program's folder.
  private static func name(of path: String, in root: String) -> String {
    String(path.dropFirst(root.count + 1))
  }

  private static func realPath(_ path: String) -> String {
    URL(fileURLWithPath: path).resolvingSymlinksInPath().path
  }

  // MARK: Files

  private mutating func add(_ name: String, at path: String) {
    switch TreeDigest(of: path) {
    case .contents(let digest)?: digests[name] = digest
    case .facts(let text)?: facts[name] = text
    case nil: break
    }
  }

  /// Without the time, because an installation of the same version has another one.
  private static func size(of path: String) -> String? {
    (try? RegularFile.facts(of: path, links: .followed)).map { "\($0.bytes)" }
  }
}

extension ForeignProgram {
  /// Where PATH has the program, if it is named without a folder.
  var searchedPath: String? { name.contains("/") ? nil : ChildProcess.path(of: name) }

  var workingFolder: String { folder ?? FileManager.default.currentDirectoryPath }
}
