import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeReport

@Suite struct FolderTests {
  @Test func `the folder holds the forms of one document`() throws {
    let folder = try TemporaryFolder("retake-report")
    let target = folder.file("a/b")
    let files = try ReportFolder.write(Samples.regression(), to: target)
    #expect(
      files.map(\.lastPathComponent) == [
        "report.json", "junit.xml", "codequality.json", "summary.md", "report.html",
      ])
    #expect(try names(target) == files.map(\.lastPathComponent).sorted())
    let json = try Data(contentsOf: target.appending(path: "report.json"))
    #expect(try ReportDocument(parsing: json) == Samples.regression())
  }

  @Test func `a second report takes the place of the first`() throws {
    let folder = try TemporaryFolder("retake-report")
    try ReportFolder.write(Samples.regression(), to: folder.url)
    try ReportFolder.write(Samples.allVerdicts(), to: folder.url)
    let json = try Data(contentsOf: folder.file("report.json"))
    #expect(try ReportDocument(parsing: json) == Samples.allVerdicts())
    #expect(try names(folder.url).count == 5)
  }

  @Test(arguments: ["report.html", "summary.md", "report.json", "codequality.json"])
  func `a file that no report has written is not replaced`(name: String) throws {
    let folder = try TemporaryFolder("retake-report")
    try folder.write("{\"mine\": 1}", to: name)
    let error = #expect(throws: ReportError.self) {
      try ReportFolder.write(Samples.regression(), to: folder.url)
    }
    #expect(error?.code == "report.folder.otherFile")
    #expect(error?.place?.file?.hasSuffix(name) == true)
    #expect(try names(folder.url) == [name])
    #expect(try String(contentsOf: folder.file(name), encoding: .utf8) == "{\"mine\": 1}")
  }

  @Test func `a folder that cannot be made is an error with its name`() throws {
    let folder = try TemporaryFolder("retake-report")
    try folder.write("in the way", to: "taken")
    let error = #expect(throws: ReportError.self) {
      try ReportFolder.write(Samples.regression(), to: folder.file("taken/report"))
    }
    #expect(error?.code == "report.folder.notWritten")
    #expect(error?.place?.file?.hasSuffix("taken/report") == true)
  }

  private func names(_ folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
