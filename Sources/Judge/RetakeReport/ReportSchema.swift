/// The published schema of the report document (JSON Schema, draft 2020-12).
package enum ReportSchema {
  /// The schema, as in `Resources/report.schema.json`.
  package static let text = EmbeddedResources.reportSchemaJSON
}
