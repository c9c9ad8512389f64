import Foundation
import RetakeCore

/// The memory of one frame's planes. It is immutable once published, and shared by reference.
///
/// When the last reference is released, `release` is called once. So a decoder's buffer returns to
/// its pool without a copy.
public final class FrameStorage: @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. The planes are written only before the
  // storage is published and read only afterwards; `release` runs once, in deinit.

  /// One plane: the address of its first visible row, and the distance between rows in bytes.
  public struct Plane {
    /// Valid as long as the storage exists.
    public var base: UnsafePointer<UInt8>
    /// Bytes from the start of a row to the start of the next, which may be more than a visible
    /// row. Bytes between the rows are undefined.
    public var stride: Int

    /// The caller keeps the memory valid until the storage's `release` is called.
    public init(base: UnsafePointer<UInt8>, stride: Int) {
      self.base = base
      self.stride = stride
    }
  }

  /// How the memory is interpreted.
  struct Form: Hashable, Sendable {
    var format: PixelFormat
    var width: Int
    var height: Int
    var range: ColorRange
    var matrix: ColorMatrix
  }

  /// In the order of the format: luma first, then chroma; one plane for gray and for RGB.
  public let planes: [Plane]
  /// Whether `padding` bytes after the last visible row of each plane can be read.
  package let isPadded: Bool
  private let release: @Sendable () -> Void
  private let known = Locked<(form: Form, digest: Digest128)?>(nil)

  /// Storage in memory with another owner, valid until `release` is called.
  public convenience init(planes: [Plane], release: @escaping @Sendable () -> Void) {
    self.init(planes: planes, isPadded: true, release: release)
  }

  /// The same, for memory that may end with its last visible row.
  package init(planes: [Plane], isPadded: Bool, release: @escaping @Sendable () -> Void) {
    self.planes = planes
    self.isPadded = isPadded
    self.release = release
  }

  deinit {
    release()
  }

  /// The digest of the frame with this form, if it has been computed before.
  func knownDigest(of form: Form) -> Digest128? {
    known.withLock { $0?.form == form ? $0?.digest : nil }
  }

  func know(_ digest: Digest128, of form: Form) { known.withLock { $0 = (form, digest) } }

  /// Rows begin at multiples of this number of bytes in storage created here.
  package static let alignment = 64
  /// Bytes that may be read past the last row by vector code.
  package static let padding = 64

  /// New storage, which `fill` fills before any other code sees it.
  ///
  /// `fill` gets one writable buffer per plane and the plane's stride in bytes. Bytes that it does
  /// not write are undefined.
  public static func make<Failure: Error>(
    format: PixelFormat, width: Int, height: Int,
    fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws(Failure) -> Void
  ) throws(Failure) -> FrameStorage {
    try makeIfRoom(format: format, width: width, height: height, fill: fill)
      ?? withoutRoom(format: format, width: width, height: height)
  }

  /// The replacement for storage that got no memory. It ends the process, unless the work of this
  /// thread is checked (`FrameShortage`). In that case, all rows of a plane are the same row of
  /// zeros.
  package static func withoutRoom(
    format: PixelFormat, width: Int, height: Int
  ) -> FrameStorage {
    guard FrameShortage.note(.frameMemory(width: width, height: height)) else {
      preconditionFailure("out of memory: no room for a frame of \(width)x\(height)")
    }
    let count = PlaneLayout(format: format, width: width, height: 1).count + padding
    // SAFETY: as long as a row of each plane plus the padding; freed by the closure.
    guard let block = calloc(1, count) else {
      preconditionFailure("out of memory: no room for a row of \(width) pixels")
    }
    let address = UInt(bitPattern: block)
    let row = Plane(base: block.assumingMemoryBound(to: UInt8.self), stride: 0)
    return FrameStorage(planes: Array(repeating: row, count: format.planeCount)) {
      free(UnsafeMutableRawPointer(bitPattern: address))
    }
  }

  /// The same, but nil if there is no memory.
  package static func makeIfRoom<Failure: Error>(
    format: PixelFormat, width: Int, height: Int,
    fill: (_ planes: [UnsafeMutableRawBufferPointer], _ strides: [Int]) throws(Failure) -> Void
  ) throws(Failure) -> FrameStorage? {
    let layout = PlaneLayout(format: format, width: width, height: height)
    let byteCount = layout.count + padding
    // SAFETY: the lease holds the memory, and no other code uses it before `fill` has returned. If
    // `fill` throws, the memory is returned with the lease.
    guard let lease = PixelLease.make(byteCount) else { return nil }
    let memory = UnsafeMutableRawBufferPointer(start: lease.base, count: byteCount)
    let ends = layout.offsets.dropFirst() + [layout.count]
    let writable = zip(layout.offsets, ends).map {
      UnsafeMutableRawBufferPointer(rebasing: memory[$0..<$1])
    }
    try fill(writable, layout.strides)
    return FrameStorage(lease, layout)
  }

  /// Storage in leased memory, which has been written.
  convenience init(_ lease: PixelLease, _ layout: PlaneLayout) {
    // SAFETY: the memory has the planes of the layout, and the closure holds the lease.
    let planes = zip(layout.offsets, layout.strides).map {
      Plane(base: UnsafePointer((lease.base + $0).assumingMemoryBound(to: UInt8.self)), stride: $1)
    }
    self.init(planes: planes) { withExtendedLifetime(lease) {} }
  }
}
