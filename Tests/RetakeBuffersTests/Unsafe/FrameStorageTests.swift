import RetakeBuffers
import RetakeCore
import Synchronization
import Testing

@Suite struct FrameStorageTests {
  private struct Refused: Error {}

  /// Counts how often it was released.
  private final class Counter: Sendable {
    private let count = Atomic<Int>(0)
    var value: Int { count.load(ordering: .sequentiallyConsistent) }
    func add() { count.add(1, ordering: .sequentiallyConsistent) }
  }

  /// A frame in which byte `b` of row `r` of plane `p` is `p + 16 r + b`, and the padding has
  /// another value.
  private func frame(
    _ format: PixelFormat, width: Int, height: Int, padding: UInt8, seed: Int = 0
  ) -> Frame {
    let storage = FrameStorage.make(format: format, width: width, height: height) {
      planes, strides in
      for plane in planes.indices {
        for index in planes[plane].indices { planes[plane][index] = padding }
        for row in 0..<format.rowCount(plane: plane, height: height) {
          for byte in 0..<format.rowBytes(plane: plane, width: width) {
            planes[plane][row * strides[plane] + byte] = UInt8(
              truncatingIfNeeded: plane + 16 * row + byte + seed)
          }
        }
      }
    }
    return Frame(format: format, width: width, height: height, storage: storage)
  }

  @Test(arguments: PixelFormat.allCases)
  func `digests see the visible bytes and never the padding`(format: PixelFormat) {
    let clean = frame(format, width: 5, height: 3, padding: 0)
    let dirty = frame(format, width: 5, height: 3, padding: 0xa5)
    let other = frame(format, width: 5, height: 3, padding: 0, seed: 1)
    for plane in 0..<format.planeCount { #expect(clean.bytes(of: plane) == dirty.bytes(of: plane)) }
    #expect(clean.pixelDigest == dirty.pixelDigest)
    #expect(clean.pixelDigest != other.pixelDigest)
    var left = DigestHasher()
    var right = DigestHasher()
    clean.digest(into: &left)
    dirty.digest(into: &right)
    #expect(left.finish() == right.finish())
  }

  @Test(arguments: PixelFormat.allCases)
  func `a frame made of planes gives the same planes back`(format: PixelFormat) {
    let planes = (0..<format.planeCount).map { plane in
      (0..<format.rowBytes(plane: plane, width: 7) * format.rowCount(plane: plane, height: 5)).map {
        UInt8(truncatingIfNeeded: $0 &* 37 &+ plane)
      }
    }
    let frame = Frame(format: format, width: 7, height: 5, planes: planes)
    #expect((0..<format.planeCount).map { frame.bytes(of: $0) } == planes)
    for plane in frame.storage.planes {
      #expect(plane.stride % FrameStorage.alignment == 0)
      #expect(UInt(bitPattern: plane.base) % UInt(FrameStorage.alignment) == 0)
    }
  }

  @Test func `rows come top down, each as long as the picture is wide`() {
    let frame = Frame(format: .gray, width: 2, height: 3, planes: [[1, 2, 3, 4, 5, 6]])
    var rows: [[UInt8]] = []
    frame.forEachRow(of: 0) { rows.append(Array($0)) }
    #expect(rows == [[1, 2], [3, 4], [5, 6]])
  }

  @Test func `size, format, range and matrix belong to a frame's digest as a result`() {
    let bytes = (0..<12).map { UInt8($0) }
    let frames = [
      Frame(format: .gray, width: 4, height: 3, planes: [bytes]),
      Frame(format: .gray, width: 3, height: 4, planes: [bytes]),
      Frame(format: .gray, width: 4, height: 3, range: .limited, planes: [bytes]),
      Frame(format: .rgb, width: 2, height: 2, planes: [bytes]),
      Frame(format: .rgba, width: 3, height: 1, planes: [bytes]),
      Frame(format: .bgra, width: 3, height: 1, planes: [bytes]),
    ]
    let digests = frames.map { frame in
      var hasher = DigestHasher()
      frame.digest(into: &hasher)
      return hasher.finish()
    }
    #expect(Set(digests).count == frames.count)
    #expect(Set(frames.map(\.pixelDigest)).count == 1)
  }

  @Test func `memory is released once, when the last holder lets go`() {
    let counter = Counter()
    // SAFETY: freed by the release closure, after the last use.
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: 4)
    memory.initialize(repeating: 9, count: 4)
    let address = UInt(bitPattern: memory)
    var frames = [
      Frame(
        format: .gray, width: 2, height: 2,
        storage: FrameStorage(planes: [.init(base: memory, stride: 2)]) {
          counter.add()
          UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate()
        })
    ]
    frames.append(frames[0])
    var copy: Frame? = frames[1]
    copy?.id = FrameID(track: 1, sequence: 1)
    frames.removeFirst()
    #expect(counter.value == 0)
    frames.removeAll()
    #expect(counter.value == 0)
    #expect(copy?.bytes(of: 0) == [9, 9, 9, 9])
    copy = nil
    #expect(counter.value == 1)
  }

  @Test func `an error while filling is passed on and leaves nothing`() {
    #expect(throws: Refused.self) {
      _ = try FrameStorage.make(format: .i420, width: 64, height: 64) {
        planes, _ in
        planes[0][0] = 1
        throw Refused()
      }
    }
  }
}
