import Foundation
import RetakeInference
import RetakeTestSupport
import Testing

@Suite struct LibraryPlacesTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-places") }

  private func library(_ path: String) throws -> LibraryPlaces.Place {
    let file = try folder.write("", to: "\(path)/onnxruntime/capi/libonnxruntime.so.1.32.0")
    return .file(file.path)
  }

  private func python(_ path: String) throws {
    let file = try folder.write("", to: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
  }

  #if os(Linux)
    private let loader: [LibraryPlaces.Place] = [
      .loader("libonnxruntime.so"), .loader("libonnxruntime.so.1"),
    ]

    @Test func `a path that is named is the only place`() throws {
      let named = LibraryPlaces(environment: [
        "RETAKE_ONNXRUNTIME": "/x/lib.so", "VIRTUAL_ENV": folder.url.path, "PATH": "/usr/bin",
      ])
      #expect(named.list == [.named("/x/lib.so")])
      #expect(LibraryPlaces(environment: ["RETAKE_ONNXRUNTIME": ""]).list == loader)
      #expect(LibraryPlaces(environment: [:]).list == loader)
    }

    @Test func `environments come before the system, and installations after it`() throws {
      let active = try library("venv/lib/python3.11/site-packages")
      let conda = try library("conda/lib/python3.13/site-packages")
      let first = try library("usr/lib/python3/dist-packages")
      let second = try library("opt/lib64/python3.9/site-packages")
      let user = try library("home/.local/lib/python3.11/site-packages")
      let older = try library("home/.pyenv/versions/3.9.18/lib/python3.9/site-packages")
      let newer = try library("home/.pyenv/versions/3.12.1/lib/python3.12/site-packages")
      for place in ["venv", "usr", "opt"] { try python("\(place)/bin/python3") }
      // A folder in PATH without Python is not an installation.
      _ = try library("empty/lib/python3.11/site-packages")
      let root = folder.url.path
      let places = LibraryPlaces(environment: [
        "VIRTUAL_ENV": "\(root)/venv", "CONDA_PREFIX": "\(root)/conda", "HOME": "\(root)/home",
        "PATH": "\(root)/venv/bin:\(root)/empty/bin:\(root)/usr/bin:\(root)/opt/bin",
      ])
      #expect(places.list == [active, conda] + loader + [first, second, user, newer, older])
    }

    @Test func `the newest version comes first, by number`() throws {
      let old = try library("venv/lib/python3.9/site-packages")
      let new = try library("venv/lib/python3.12/site-packages")
      let capi = "venv/lib/python3.12/site-packages/onnxruntime/capi"
      let older = try folder.write("", to: "\(capi)/libonnxruntime.so.1.4.0")
      try folder.write("", to: "\(capi)/libonnxruntime_providers_shared.so")
      let places = LibraryPlaces(environment: ["VIRTUAL_ENV": "\(folder.url.path)/venv"])
      #expect(places.list == [new, .file(older.path), old] + loader)
    }
  #endif
}

@Suite struct OnnxLibraryTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-library") }

  private func refusal(_ environment: [String: String]) throws -> InferenceError {
    do {
      let library = try OnnxLibrary.open(LibraryPlaces(environment: environment))
      Issue.record("\(library.path) was opened")
      return .noLibrary
    } catch {
      return try #require(error as? InferenceError)
    }
  }

  private func named(_ path: String) throws -> InferenceError {
    try refusal([LibraryPlaces.variable: path])
  }

  @Test func `a missing library is reported with how to get it`() throws {
    let none = LibraryPlaces(environment: ["RETAKE_ONNXRUNTIME": "/none/libonnxruntime.so"])
    let error = #expect(throws: InferenceError.self) { try OnnxLibrary.open(none) }
    #expect(error?.code == "inference.library.foreign")
    #expect(error?.description.hasPrefix("/none/libonnxruntime.so: ") == true)
    #expect(
      InferenceError.noLibrary.description
        == "ONNX Runtime is not on this machine. Install it in a virtual environment: python3 -m "
        + "venv .venv && . .venv/bin/activate && pip install onnxruntime; or set "
        + "RETAKE_ONNXRUNTIME to its library")
  }

  @Test func `a file that is no library is refused`() throws {
    let text = try folder.write("this is no library", to: "libonnxruntime.so")
    let error = try named(text.path)
    #expect(error.code == "inference.library.foreign")
    #expect(error.description.hasPrefix(text.path))
  }

  #if os(Linux)
    @Test func `a library of something else is refused`() throws {
      let error = try named("libm.so.6")
      #expect(error.code == "inference.library.foreign")
      #expect(error.cause == "it has no function OrtGetApiBase")
    }
  #endif

  private func fake(version: String, table: String) throws -> String {
    try FakeOnnxLibrary.write(version: version, table: table, into: folder)
  }

  @Test(.enabled(if: compiler != nil, "gcc is not here"))
  func `an older library is refused with both versions`() throws {
    let old = try fake(version: "1.9.0", table: "NULL")
    let error = try named(old)
    #expect(error == .oldLibrary(path: old, version: "1.9.0"))
    #expect(error.message == "ONNX Runtime 1.9.0 is too old; 1.16 or later is needed")
    // Its table may be another one.
    #expect(try named(try fake(version: "1.15.1", table: "table")).code == "inference.library.old")
    // A version that should have the table and does not return it.
    #expect(try named(try fake(version: "1.40.0", table: "NULL")).code == "inference.library.old")
  }

  @Test(.enabled(if: compiler != nil, "gcc is not here"))
  func `a library with an empty table is refused`() throws {
    let error = try named(try fake(version: "1.32.0", table: "table"))
    #expect(error.code == "inference.library.foreign")
    #expect(error.cause == "its table has no function 2")
  }

  @Test(.enabled(if: compiler != nil, "gcc is not here"))
  func `if no place has a usable library, what is wrong with the first is reported`() throws {
    let old = try fake(version: "1.9.0", table: "NULL")
    let text = try folder.write("this is no library", to: "text.so")
    let none = LibraryPlaces.Place.loader("libretake-has-no-such-library.so")
    func refusal(_ places: [LibraryPlaces.Place]) -> InferenceError? {
      do {
        _ = try OnnxLibrary.open(LibraryPlaces(places))
        return nil
      } catch {
        return error as? InferenceError
      }
    }
    #expect(refusal([none, .file(old), .file(text.path)])?.code == "inference.library.old")
    #expect(refusal([.file(text.path), .file(old), none])?.code == "inference.library.foreign")
    #expect(refusal([none]) == .noLibrary)
    #expect(refusal([]) == .noLibrary)
  }

  @Test(.enabled(if: installedLibrary != nil, SkipReason.noOnnxRuntime))
  func `the first library that can be used is taken`() throws {
    let text = try folder.write("this is no library", to: "libonnxruntime.so")
    let installed = try OnnxLibrary.load()
    let library = try OnnxLibrary.open(
      LibraryPlaces([.loader("libnone.so"), .file(text.path), .file(installed.path)]))
    #expect(library.path == installed.path && library.digest == installed.digest)
  }

  @Test(.enabled(if: installedLibrary != nil, SkipReason.noOnnxRuntime))
  func `the library says where it is, its version and its providers`() throws {
    let library = try OnnxLibrary.load()
    #expect(library.path.hasPrefix("/") && FileManager.default.fileExists(atPath: library.path))
    #expect(library.version.split(separator: ".").count >= 2)
    #expect(library.providers.contains(OnnxOptions.cpu))
    #expect(try OnnxLibrary.load() === library)
  }
}

private let compiler = FakeOnnxLibrary.compiler
