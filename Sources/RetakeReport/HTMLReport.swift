import Mustache
import RetakeCore

/// The report as one HTML file that opens from disk and asks the network for nothing.
///
/// Verdicts, root causes, graphs and commands are plain HTML; the frame inspector, the timeline
/// and the tables of findings are made by the page's own script from the embedded document. The
/// page allows itself one script and one style, each by its hash.
package enum HTMLReport {
  /// What a page has more when it comes from a server that has the sessions at hand.
  package struct Served: Hashable, Sendable {
    /// The address of the server's first page without the host: `/TOKEN/`.
    package var root: String
    /// Whether the page may ask for an acceptance.
    package var canAccept: Bool

    package init(root: String, canAccept: Bool) {
      self.root = root
      self.canAccept = canAccept
    }
  }

  /// The page's bytes, UTF-8.
  ///
  /// - Parameter served: Nil for a page that opens from disk and asks nobody for anything.
  /// - Throws: `ReportError.template` where the program's own resources are damaged.
  package static func render(
    _ document: ReportDocument, served: Served? = nil
  ) throws(ReportError) -> [UInt8] {
    let data = PageData(document)
    do {
      let json = try data.embedded()
      let context = PageContext(data: data, json: json, served: served).values
      return Array(try template.get().render(context).utf8)
    } catch {
      throw .template(reason: "\(error)")
    }
  }

  /// SHA-256 of the style and the script as they stand in the page, in base64.
  ///
  /// A test computes them anew and prints what they must be after a change.
  static let styleHash = "Sfu+N2RL2L6Lt5FxCyuvnbDZfS6hVW09BSARLnbWMHw="
  static let scriptHash = "PiXJHunTVkiEefLFad6vbXqnAqKnJzSi0jUshabqBuY="

  /// What a served page may do: what the page's own policy says, and stand in no frame.
  package static let servedPolicy =
    "default-src 'none'; img-src data: 'self'; connect-src 'self'; "
    + "style-src 'sha256-\(styleHash)'; script-src 'sha256-\(scriptHash)'; base-uri 'none'; "
    + "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    + "trusted-types 'none'"

  /// Where a page shows one of a document's cases: what stands behind `#` in its address.
  package static func anchor(ofCase index: Int) -> String { "case-\(index + 1)" }

  package static let style = EmbeddedResources.pageCSS
  static let script = EmbeddedResources.pageJS

  private static let template = Result<MustacheTemplate, any Error> {
    MustacheContentTypes.register(PageText(), named: "RETAKE")
    return try MustacheTemplate(string: EmbeddedResources.pageMustache)
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
