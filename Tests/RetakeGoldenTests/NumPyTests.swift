import RetakeCore
import Testing

@testable import RetakeGolden

@Suite struct NumPyTests {
  private static let arrays = [
    PixelArray(width: 3, height: 2, [0.5, -1, .nan, .infinity, 0, 1e-30]),
    PixelArray(width: 2, height: 1, channels: 2, element: .uint8, bytes: [1, 2, 3, 255]),
    PixelArray(width: 1, height: 2, channels: 1, element: .uint16, bytes: [1, 2, 0, 128]),
  ]

  @Test func `an array is read as it was written`() throws {
    for array in Self.arrays {
      let array = try #require(array)
      let file = try #require(array.npy)
      let read = try #require(PixelArray(npy: file))
      #expect(read == array && read.bytes == array.bytes)
      #expect(PixelArray(npy: Array(file.dropLast())) == nil)
      #expect(PixelArray(npy: file + [0]) == nil)
      #expect(PixelArray(npy: [0] + file) == nil)
    }
  }

  /// As `numpy.save` writes the first array.
  @Test func `the header is that of NumPy's format`() throws {
    let file = try #require(Self.arrays[0]?.npy)
    #expect(file.count == 128 + 24)
    #expect(Array(file.prefix(10)) == [0x93, 0x4E, 0x55, 0x4D, 0x50, 0x59, 1, 0, 118, 0])
    let header = String(decoding: file[10..<128], as: UTF8.self)
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, 1), }"
    #expect(header == text + String(repeating: " ", count: 117 - text.utf8.count) + "\n")
    #expect(PixelArray(npy: []) == nil)
  }
}
