import Foundation
import RetakeBuffers

extension Frame {
  /// The planes in the layout of a pack. Bytes between the rows are zero.
  func packed() -> [UInt8] {
    let layout = PlaneLayout(format: format, width: width, height: height)
    return [UInt8](unsafeUninitializedCapacity: layout.count) { buffer, count in
      guard let target = UnsafeMutableRawPointer(buffer.baseAddress) else { return }
      for plane in 0..<format.planeCount {
        var offset = layout.offsets[plane]
        let stride = layout.strides[plane]
        forEachRow(of: plane) { row in
          guard let base = row.baseAddress else { return }
          // SAFETY: the layout has `stride` bytes for each row, which is at least the row's count.
          (target + offset).copyMemory(from: base, byteCount: row.count)
          memset(target + offset + row.count, 0, stride - row.count)
          offset += stride
        }
      }
      count = layout.count
    }
  }

  /// A frame over a checked part of a file; `nil` if the part has another size.
  init?(_ outline: FrameOutline, in file: MappedFile, at offset: Int, count: Int) {
    let layout = PlaneLayout(
      format: outline.format, width: outline.width, height: outline.height)
    // The padding after the last row must be mapped as well, because vector code may read past it.
    guard layout.count == count, file.contains(offset, count + FrameStorage.padding) else {
      return nil
    }
    // SAFETY: the planes are inside the file, which the storage keeps.
    let planes = zip(layout.offsets, layout.strides).map {
      FrameStorage.Plane(
        base: (file.base + offset + $0).assumingMemoryBound(to: UInt8.self), stride: $1)
    }
    let storage = FrameStorage(planes: planes) { file.release(at: offset, count: count) }
    self = outline.frame(storage)
    know(outline.digest)
  }
}
