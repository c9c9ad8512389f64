import Foundation
package import RetakeBuffers
import RetakeCore

/// A restricted process that decodes pictures of one session (`PictureServer`), one at a time.
///
/// Only one thread at a time uses it.
package protocol PictureProcess: AnyObject {
  /// The memory into which the process writes pictures.
  var memory: PictureMemory { get }

  /// Sends a request and waits for the answer; `nil` if the process ended first.
  func answer(to request: String) -> String?

  /// Ends the process, and waits for its end.
  func end() -> PictureProcessEnd
}

/// Memory that two processes share.
package struct PictureMemory: Sendable {
  package var address: UInt
  package var byteCount: Int
  /// Keeps the memory.
  package var owner: any AnyObject & Sendable

  package init(address: UInt, byteCount: Int, owner: any AnyObject & Sendable) {
    (self.address, self.byteCount, self.owner) = (address, byteCount, owner)
  }
}

/// Why a process that decodes pictures ended.
package enum PictureProcessEnd: Sendable {
  /// For example `signal 11`.
  case crashed(cause: String)
  /// An interruption or a lack of memory. It says nothing about the session.
  case stopped(any Error)
}

/// The restricted processes that decode the pictures of one reader. Safe to use from any thread.
package final class PictureProcesses: @unchecked Sendable {
  // SAFETY: @unchecked because of `state`, which `lock` guards. A process leaves the list of idle
  // processes while a thread uses it.

  /// Starts a process for a session.
  ///
  /// - Parameter poisons: Whether memory is filled before use (`ReadOptions.poisonsMemory`).
  package typealias Start =
    @Sendable (
      _ session: SessionFolder, _ poisons: Bool
    ) throws -> any PictureProcess

  /// Starts the processes of all readers that this process opens from now on; `nil` = readers
  /// decode in this process.
  package static let ofReaders = Locked<Start?>(nil)

  /// Groups of pictures that may end their process. Later groups are errors without a new process.
  static let lossesMax = 16
  /// Processes that are kept while no run uses them. A run that ends is usually replaced by another.
  private static let idleMax = 2
  /// Idle decoders of a reader. Each has a process, and the start of a process costs more than
  /// another decoder.
  static let idleRunsMax = 2

  private struct Group: Hashable {
    var track: Int
    var entry: Int
  }

  private struct State {
    var idle: [PictureLink] = []
    /// The causes of the ends, by the group of pictures that was decoded.
    var losses: [Group: String] = [:]
    var lastCause = ""
  }

  private let folder: SessionFolder
  private let poisons: Bool
  private let start: Start
  private let lock = NSLock()
  private var state = State()

  init(_ folder: SessionFolder, poisons: Bool, start: @escaping Start) {
    (self.folder, self.poisons, self.start) = (folder, poisons, start)
  }

  deinit {
    for link in state.idle { _ = link.process.end() }
  }

  func take() throws -> PictureLink {
    if let idle = lock.withLock({ state.idle.popLast() }) { return idle }
    return PictureLink(try start(folder, poisons))
  }

  func giveBack(_ link: PictureLink) {
    let isKept = lock.withLock {
      guard state.idle.count < Self.idleMax else { return false }
      state.idle.append(link)
      return true
    }
    if !isKept { _ = link.process.end() }
  }

  /// The frames of the group cannot be decoded from now on, because one of them ended a process.
  func lose(_ picture: FrameRun.Picture, of track: Int, cause: String) {
    lock.withLock {
      state.losses[Group(track: track, entry: picture.entry)] = cause
      state.lastCause = cause
    }
  }

  /// - Throws: `SessionError.undecodable` for a frame of a lost group.
  func requireKept(_ picture: FrameRun.Picture, of id: FrameID) throws {
    let group = Group(track: id.track, entry: picture.entry)
    let cause = lock.withLock {
      state.losses[group] ?? (state.losses.count < Self.lossesMax ? nil : state.lastCause)
    }
    if let cause { throw crash(id, cause) }
  }

  func crash(_ id: FrameID, _ cause: String) -> SessionError {
    .undecodable(
      session: folder.path, frame: id,
      cause: "the process that decodes its group of pictures was ended by \(cause)")
  }
}
