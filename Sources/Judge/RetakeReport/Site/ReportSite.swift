package import Foundation
import RetakeCore

/// A folder of published reports that a web server, or a browser from disk, shows as a static site.
///
/// `runs/ID` is a folder with the page of a run and its `entry.json`; `images` has each image of all
/// pages once, by its digest; `index.html` lists the runs. A run appears by a rename, so it is
/// complete or absent, and several processes can publish to one folder at once.
package struct ReportSite: Sendable {
  /// The largest `entry.json` that is read.
  private static let entryBytesMax: Int64 = 64 << 20
  /// How often the first page is written again because other processes have published meanwhile.
  private static let roundsMax = 100

  /// The runs of a site.
  package struct Listing: Hashable, Sendable {
    package struct Item: Hashable, Sendable {
      /// The name of its folder.
      package var id: String
      package var run: PublishedRun
    }

    /// Newest first.
    package var items: [Item] = []
    /// Folders that have no readable `entry.json`.
    package var unreadable: [String] = []
  }

  package let folder: URL

  package init(_ folder: URL) { self.folder = folder }

  private var runs: URL { folder.appending(path: "runs") }

  /// The runs, read again on each call.
  ///
  /// - Throws: `ReportError` for a folder without published runs.
  package func listing() throws -> Listing { listing(of: try names()) }

  /// The names of the runs, newest first: a name begins with the run's time.
  private func names() throws -> [String] {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: runs.path) else {
      throw ReportError(
        "report.site.none", "no report was published here", at: folder.path,
        advice: "Publish one with: retake report publish DIR")
    }
    return names.filter { !$0.hasPrefix(".") }.sorted(by: >)
  }

  private func listing(of names: [String]) -> Listing {
    var listing = Listing()
    for name in names {
      let file = runs.appending(path: "\(name)/entry.json").path
      if let data = try? RegularFile.contents(file, bytesMax: Self.entryBytesMax),
        let run = try? PublishedRun(parsing: data)
      {
        listing.items.append(Listing.Item(id: name, run: run))
      } else {
        listing.unreadable.append(name)
      }
    }
    return listing
  }

  /// Adds a run and writes the first page again. Publishing the same run twice adds it once.
  ///
  /// - Parameter check: Called before each step, until the run has its name; an error that it throws
  ///   leaves the site as it was, apart from images.
  /// - Returns: The run's page.
  /// - Throws: `report.folder.otherFile` for a folder with another first page;
  ///   `report.folder.notWritten`; errors of `check`.
  package func publish(
    _ document: ReportDocument, branch: String, commit: String?, check: () throws -> Void = {}
  ) throws -> URL {
    try requireSite()
    let entry = try PublishedRun(document, branch: branch, commit: commit).encoded()
    let id = Self.id(at: document.generatedAt, entry)
    let images = folder.appending(path: "images")
    for needed in [runs, images] { try ReportFolder.makeFolder(needed) }
    let page = try HTMLReport.render(withImageFiles(document, in: images, check))
    // In the site itself: a rename does not cross disks. A publisher that is killed leaves this
    // folder, and no page names it.
    let staging = folder.appending(path: ".staging-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: staging) }
    try ReportFolder.makeFolder(staging)
    _ = try ReportFolder.write(entry, "entry.json", staging)
    _ = try ReportFolder.write(Data(page), "report.html", staging)
    try check()
    let place = runs.appending(path: id)
    if rename(staging.path, place.path) != 0, errno != ENOTEMPTY, errno != EEXIST {
      throw ReportError.notWritten(file: place.path, reason: String(cString: strerror(errno)))
    }
    try writeIndex()
    return place.appending(path: "report.html")
  }

  private func requireSite() throws {
    let index = folder.appending(path: "index.html")
    guard RegularFile.isTaken(index.path), !RegularFile.isTaken(runs.path) else { return }
    throw ReportError(
      "report.folder.otherFile", "the site would replace a page that Retake did not write",
      at: index.path, advice: "Choose an empty folder, or move the page away first")
  }

  /// A name whose order is the order of the runs, and that contains no character with a meaning in a
  /// path or an address.
  private static func id(at time: String?, _ entry: Data) -> String {
    let stamp = (time ?? "unknown").utf8.prefix(20).map { byte in
      (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte)
        ? Character(Unicode.Scalar(byte)) : "-"
    }
    return String(stamp) + "-" + Digest128(of: entry).description
  }

  /// The document with the addresses of its images instead of their bytes, after the images were
  /// written.
  private func withImageFiles(
    _ document: ReportDocument, in images: URL, _ check: () throws -> Void
  ) throws -> ReportDocument {
    var document = document
    for place in document.cases.indices {
      try check()
      document.cases[place].pictures = try document.cases[place].pictures.compactMap { picture in
        guard let data = Data(base64Encoded: picture.png), !data.isEmpty else { return nil }
        let name = "\(Digest128(of: data)).png"
        if !RegularFile.isTaken(images.appending(path: name).path) {
          _ = try ReportFolder.write(data, name, images)
        }
        var picture = picture
        (picture.png, picture.file) = ("", "../../images/\(name)")
        return picture
      }
    }
    return document
  }

  /// Writes the first page, until it has all runs that exist after it was written. Of several
  /// processes, the one that writes last has seen the runs of all others.
  private func writeIndex() throws {
    var shown: [String]?
    for _ in 0..<Self.roundsMax {
      let names = try names()
      guard names != shown else { return }
      let page = SitePage.render(listing(of: names))
      _ = try ReportFolder.write(Data(page.utf8), "index.html", folder)
      shown = names
    }
  }
}
