/// A device profile that comes with Retake.
package struct ExampleProfile: Sendable {
  package var name: String
  package var summary: String
  package var document: String

  package static let all = [
    ExampleProfile(
      name: "vm-x86-2",
      summary: "a virtual machine with two processors; copies measured, heat assumed",
      document: EmbeddedResources.vmX862JSON),
    ExampleProfile(
      name: "vm-x86-1",
      summary: "the same machine with one processor; copies measured, heat assumed",
      document: EmbeddedResources.vmX861JSON),
    ExampleProfile(
      name: "phone-derived",
      summary: "no phone was measured: from size, weight and published powers",
      document: EmbeddedResources.phoneDerivedJSON),
    ExampleProfile(
      name: "phone-calibrated", summary: "the same, calibrated on 90 seconds with three copies",
      document: EmbeddedResources.phoneCalibratedJSON),
  ]
}
