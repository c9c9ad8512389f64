import Foundation
package import RetakeCore

/// ONNX Runtime: the library that computes models, loaded by name.
///
/// Everything but models works without it. `LibraryPlaces` says where it is looked for.
package final class OnnxLibrary: @unchecked Sendable {
  // SAFETY: @unchecked because pointers are not Sendable. All properties are constant after init,
  // and the library documents that its functions may be called with one environment from several
  // threads.

  /// The first version that has the table that is used.
  package static let versionMin = "1.16"
  private static let tableVersion: UInt32 = 16
  /// Only fatal errors would be written to standard error; all others are returned.
  private static let severityFatal: Int32 = 4
  /// The most providers that a library may list.
  private static let providersMax: Int32 = 64

  /// The file that the system's loader chose.
  package let path: String
  package let version: String
  /// The execution providers of this build, by their own names.
  package let providers: [String]
  /// Digest of the library's file: builds of one version may compute different bits.
  package let digest: Digest128

  let functions: OnnxFunctions
  // SAFETY: made once, and never released: the library's threads may use it until the process ends.
  let environment: OpaquePointer
  /// The default allocator; the library owns it.
  let allocator: OpaquePointer
  let memoryInfo: OpaquePointer

  /// The library for this process, loaded when it is requested first.
  ///
  /// - Throws: `InferenceError.noLibrary`, `.foreignLibrary`, `.oldLibrary`, `.libraryFailed`.
  package static func load() throws -> OnnxLibrary { try loaded.get() }

  private static let loaded = Result {
    try OnnxLibrary.open(LibraryPlaces(environment: ProcessInfo.processInfo.environment))
  }

  /// Opens the first library that can be used.
  ///
  /// - Throws: The error of the first library that exists and cannot be used, or `.noLibrary`.
  package static func open(_ places: LibraryPlaces) throws -> OnnxLibrary {
    var first: InferenceError?
    // Bounded by `LibraryPlaces`.
    for place in places.list {
      do {
        if let handle = try handle(place) { return try OnnxLibrary(handle, place) }
      } catch let error as InferenceError {
        first = first ?? error
      }
    }
    throw first ?? InferenceError.noLibrary
  }

  /// - Returns: `nil` if the system's loader knows no library of that name.
  private static func handle(
    _ place: LibraryPlaces.Place
  ) throws -> UnsafeMutableRawPointer? {
    if let handle = dlopen(place.text, RTLD_NOW | RTLD_LOCAL) { return handle }
    if case .loader = place { return nil }
    let cause = dlerror().map { String(cString: $0) } ?? ""
    throw InferenceError.foreignLibrary(path: place.text, cause: cause)
  }

  private init(
    _ handle: UnsafeMutableRawPointer, _ place: LibraryPlaces.Place
  ) throws {
    guard let symbol = dlsym(handle, "OrtGetApiBase") else {
      dlclose(handle)
      throw InferenceError.foreignLibrary(
        path: place.text, cause: "it has no function OrtGetApiBase")
    }
    let path = Self.file(of: symbol) ?? place.text
    let (functions, version) = try Self.functions(symbol, path: path)
    (self.functions, self.version, self.path) = (functions, version, path)
    digest = try Self.digest(path)
    do {
      var pointers: (OpaquePointer?, OpaquePointer?, OpaquePointer?)
      try functions.check(functions.createEnv(Self.severityFatal, "retake", &pointers.0))
      try functions.check(functions.defaultAllocator(&pointers.1))
      try functions.check(functions.createCPUMemoryInfo(0, 0, &pointers.2))
      guard let environment = pointers.0, let allocator = pointers.1, let memory = pointers.2 else {
        throw OnnxFailure(message: "the library returned nothing")
      }
      (self.environment, self.allocator, memoryInfo) = (environment, allocator, memory)
      providers = try Self.providers(functions)
    } catch let error as OnnxFailure {
      throw InferenceError.libraryFailed(path: path, cause: error.message)
    }
  }

  private static func functions(
    _ symbol: UnsafeMutableRawPointer, path: String
  ) throws -> (OnnxFunctions, version: String) {
    // SAFETY: the declarations of `OrtGetApiBase` and of the two functions of `OrtApiBase`, which
    // all versions have.
    typealias Base = @convention(c) () -> UnsafePointer<UnsafeRawPointer?>?
    typealias Table = @convention(c) (UInt32) -> UnsafePointer<UnsafeRawPointer?>?
    typealias Version = @convention(c) () -> UnsafePointer<CChar>?
    guard let base = unsafeBitCast(symbol, to: Base.self)(), let getTable = base[0],
      let getVersion = base[1], let text = unsafeBitCast(getVersion, to: Version.self)()
    else { throw InferenceError.foreignLibrary(path: path, cause: "OrtGetApiBase returns NULL") }
    let version = String(cString: text)
    // Compared first: a library that does not have the table says so on standard error.
    guard isRecent(version), let table = unsafeBitCast(getTable, to: Table.self)(tableVersion)
    else { throw InferenceError.oldLibrary(path: path, version: version) }
    do {
      return (try OnnxFunctions(table), version)
    } catch let error as OnnxFunctions.EmptySlot {
      throw InferenceError.foreignLibrary(
        path: path, cause: "its table has no function \(error.number)")
    }
  }

  /// `1.9` is before `1.16`.
  static func isRecent(_ version: String) -> Bool {
    func numbers(_ text: String) -> [Int] {
      text.split(separator: ".").prefix(2).map { Int($0) ?? 0 }
    }
    return !numbers(version).lexicographicallyPrecedes(numbers(versionMin))
  }

  /// The file that the system mapped for a function; `nil` if the system does not say.
  ///
  /// A name passed to the loader is not a path, and a path may be a link. `dladdr` would say
  /// it, and the C library declares it only as a GNU extension, so Swift does not see it.
  private static func file(of function: UnsafeMutableRawPointer) -> String? {
    let maps = SystemFile.text("/proc/self/maps") ?? ""
    let address = UInt(bitPattern: function)
    // man 5 proc: `55e1-55e2 r-xp 00000000 fe:01 1234   /path`, in hexadecimal digits.
    let line = maps.split(separator: "\n").first { line in
      let ends = line.prefix { $0 != " " }.split(separator: "-").map { UInt($0, radix: 16) ?? 0 }
      return ends.count == 2 && ends[0] <= address && address < ends[1]
    }
    return line.flatMap { line in line.firstIndex(of: "/").map { String(line[$0...]) } }
  }

  private static func digest(_ path: String) throws -> Digest128 {
    do {
      let file = try RegularFile.handle(path, links: .followed)
      defer { try? file.close() }
      var hasher = DigestHasher()
      // Ends with the file.
      while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
        hasher.append(piece)
      }
      return hasher.finish()
    } catch {
      throw InferenceError.libraryFailed(path: path, cause: "its file cannot be read")
    }
  }

  private static func providers(_ functions: OnnxFunctions) throws -> [String] {
    var names: OnnxFunctions.Texts?
    var count: Int32 = 0
    try functions.check(functions.availableProviders(&names, &count))
    guard let names else { return [] }
    // Its status only says whether there was a list.
    defer { functions.releaseProviders(names, count).map(functions.releaseStatus) }
    return (0..<Int(min(count, providersMax))).compactMap { index in
      names[index].map { String(cString: $0) }
    }
  }
}

extension LibraryPlaces.Place {
  /// The argument for the system's loader.
  fileprivate var text: String {
    switch self {
    case .file(let path), .named(let path), .loader(let path): path
    }
  }
}
