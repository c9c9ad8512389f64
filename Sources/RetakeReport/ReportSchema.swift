import Foundation

/// The published schema of the report document (JSON Schema, draft 2020-12).
package enum ReportSchema {
  /// The schema's text, as it lies in `Resources/report.schema.json`.
  package static var text: String {
    String(decoding: PackageResources.report_schema_json, as: UTF8.self)
  }
}
