package import Foundation

/// Opens the files of sessions, projects and goldens for reading.
///
/// Such a file may come from someone else: Git stores symbolic links, and an archive stores named
/// pipes. Only a regular file of a bounded size is opened here. Opening never blocks, never writes,
/// and does not change permissions.
package enum RegularFile {
  /// How a path that ends in a symbolic link is treated.
  package enum Links: Sendable {
    /// The link is rejected. Folders on the path may be links.
    case refused
    /// The link is followed: for media, to which `import --link` links, and for files that a person
    /// names.
    case followed
  }

  /// Why a file is not opened.
  package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    case missing
    case link
    case folder
    /// Neither a file nor a folder: `a named pipe`.
    case special(String)
    case tooLarge(bytes: Int64, bytesMax: Int64)
    case system(Int32)

    package var description: String {
      switch self {
      case .missing: "there is no such file"
      case .link: "it is a symbolic link"
      case .folder: "it is a folder"
      case .special(let kind): "it is \(kind), not a file"
      case .tooLarge(let bytes, let most): "it has \(bytes) bytes; at most \(most) are read"
      case .system(let number): String(cString: strerror(number))
      }
    }
  }

  /// The file to which a path leads, and its size.
  package struct Facts: Hashable, Sendable {
    package var bytes: Int64
    /// The space on the disk; less than `bytes` if the file has holes.
    package var allocatedBytes: Int64
    package var device: UInt64
    package var number: UInt64
    /// The time of the last change of its bytes.
    package var modifiedNanoseconds: Int64

    fileprivate init(_ status: stat) {
      bytes = Int64(status.st_size)
      // man 3type stat: blocks of 512 bytes, whatever the file system's own block size is.
      allocatedBytes = Int64(status.st_blocks) * 512
      device = UInt64(truncatingIfNeeded: status.st_dev)
      number = UInt64(status.st_ino)
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      modifiedNanoseconds = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    package func isSameFile(as other: Facts) -> Bool {
      (device, number) == (other.device, other.number)
    }
  }

  /// Reads the attributes of a file without opening it.
  package static func facts(
    of path: String, links: Links = .refused
  ) throws -> Facts {
    // The system would read the path up to the NUL byte, which is the path of another file.
    guard !path.utf8.contains(0) else { throw Refusal.system(EINVAL) }
    var status = stat()
    let result = links == .refused ? lstat(path, &status) : stat(path, &status)
    guard result == 0 else { throw refusal(ofError: errno) }
    try check(status)
    return Facts(status)
  }

  /// Whether anything has this name, even a link to a missing target.
  package static func isTaken(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  /// An open descriptor, which the caller closes, and the facts of its file.
  package static func descriptor(
    _ path: String, links: Links = .refused, bytesMax: Int64 = .max
  ) throws -> (number: Int32, facts: Facts) {
    // Checked first: opening a device may have an effect, and only O_NONBLOCK prevents it from
    // blocking.
    _ = try facts(of: path, links: links)
    // O_CLOEXEC: a program that another thread starts meanwhile must not inherit the descriptor.
    let flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
    let number = open(path, links == .refused ? flags | O_NOFOLLOW : flags)
    guard number >= 0 else { throw refusal(ofError: errno) }
    do {
      // Asked again of the open file: since the check above, the path may lead to another one.
      var status = stat()
      guard fstat(number, &status) == 0 else { throw Refusal.system(errno) }
      try check(status)
      let facts = Facts(status)
      guard facts.bytes <= bytesMax else {
        throw Refusal.tooLarge(bytes: facts.bytes, bytesMax: bytesMax)
      }
      return (number, facts)
    } catch let error as Refusal {
      close(number)
      throw error
    }
  }

  package static func handle(
    _ path: String, links: Links = .refused, bytesMax: Int64 = .max
  ) throws -> FileHandle {
    let number = try descriptor(path, links: links, bytesMax: bytesMax).number
    return FileHandle(fileDescriptor: number, closeOnDealloc: true)
  }

  /// All bytes of a file. A file that grows meanwhile is rejected if it becomes too large.
  package static func contents(
    _ path: String, links: Links = .refused, bytesMax: Int64
  ) throws -> Data {
    let handle = try handle(path, links: links, bytesMax: bytesMax)
    let limit = Int(clamping: bytesMax)
    // One byte more than allowed distinguishes a file that grew from a file of exactly the limit.
    let data = try read(handle, count: limit == .max ? limit : limit + 1)
    guard data.count <= limit else {
      throw Refusal.tooLarge(bytes: Int64(data.count), bytesMax: bytesMax)
    }
    return data
  }

  /// The first bytes of a file, at most `count`.
  package static func head(
    _ path: String, links: Links = .refused, count: Int
  ) throws -> Data {
    try read(try handle(path, links: links), count: count)
  }

  private static func read(_ handle: FileHandle, count: Int) throws -> Data {
    defer { try? handle.close() }
    do {
      return try handle.read(upToCount: count) ?? Data()
    } catch {
      throw Refusal.system(EIO)
    }
  }

  private static func check(_ status: stat) throws {
    switch status.st_mode & S_IFMT {
    case S_IFREG: return
    case S_IFLNK: throw Refusal.link
    case S_IFDIR: throw Refusal.folder
    case S_IFIFO: throw Refusal.special("a named pipe")
    case S_IFSOCK: throw Refusal.special("a socket")
    default: throw Refusal.special("a device")
    }
  }

  private static func refusal(ofError number: Int32) -> Refusal {
    switch number {
    case ENOENT, ENOTDIR: .missing
    // man 2 open: with O_NOFOLLOW, a link as the last component of the path causes ELOOP.
    case ELOOP: .link
    default: .system(number)
    }
  }
}
