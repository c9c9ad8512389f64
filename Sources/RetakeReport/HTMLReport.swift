import Mustache
import RetakeCore

/// The report as one HTML file that opens from disk and asks the network for nothing.
///
/// Verdicts, root causes, graphs and commands are plain HTML; the frame inspector, the timeline
/// and the tables of findings are made by the page's own script from the embedded document. The
/// page allows itself one script and one style, each by its hash.
package enum HTMLReport {
  /// The page's bytes, UTF-8.
  ///
  /// - Throws: `ReportError.template` where the program's own resources are damaged.
  package static func render(_ document: ReportDocument) throws(ReportError) -> [UInt8] {
    let data = PageData(document)
    do {
      let context = PageContext(data: data, json: try data.embedded()).values
      return Array(try template.get().render(context).utf8)
    } catch {
      throw .template(reason: "\(error)")
    }
  }

  /// SHA-256 of the style and the script as they stand in the page, in base64.
  ///
  /// A test computes them anew and prints what they must be after a change.
  static let styleHash = "izc1gwOMcej/6PlaXVuAzezceC3pW4xcD+BnJaPHNeI="
  static let scriptHash = "0VXnqw/4eABSsOIRpjZUXZtXMpRLZxT2o+QX9S+1X4k="

  static var style: String { String(decoding: PackageResources.page_css, as: UTF8.self) }
  static var script: String { String(decoding: PackageResources.page_js, as: UTF8.self) }

  private static let template = Result<MustacheTemplate, any Error> {
    MustacheContentTypes.register(PageText(), named: "RETAKE")
    return try MustacheTemplate(
      string: String(decoding: PackageResources.page_mustache, as: UTF8.self))
  }
}

/// Escapes by Unicode scalars; Mustache's own escape works on characters, and passes over a quote
/// that a combining mark follows.
private struct PageText: MustacheContentType {
  /// Characters of one text; labels can come from anywhere.
  private static let lengthMax = 2000

  func escapeText(_ text: String) -> String {
    MarkupText.escaped(
      text.utf8.count > Self.lengthMax ? text.visible(limit: Self.lengthMax) : text)
  }
}
