import Foundation

/// Names as the library reads them: an array of C strings that does not move.
struct NameList: ~Copyable {
  // SAFETY: this value allocated the array and the strings, only it has them, and deinit frees
  // them.
  private let list: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private let count: Int

  init(_ names: [String]) {
    count = names.count
    list = .allocate(capacity: max(1, count))
    list.initialize(repeating: nil, count: max(1, count))
    for (index, name) in names.enumerated() { list[index] = UnsafePointer(strdup(name)) }
  }

  deinit {
    for index in 0..<count { free(UnsafeMutableRawPointer(mutating: list[index])) }
    list.deallocate()
  }

  var pointer: UnsafePointer<UnsafePointer<CChar>?> { UnsafePointer(list) }
}
