/// The JUnit format that Jenkins accepts, written from its documentation: elements, their order and
/// their attributes. GitLab reads a part of it.
enum JUnitSchema {
  static let text = """
    <?xml version="1.0" encoding="UTF-8"?>
    <xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">
      <xs:simpleType name="count"><xs:restriction base="xs:string">
        <xs:pattern value="[0-9]+"/></xs:restriction></xs:simpleType>
      <xs:simpleType name="seconds"><xs:restriction base="xs:string">
        <xs:pattern value="[0-9]+([.][0-9]+)?"/></xs:restriction></xs:simpleType>
      <xs:complexType name="outcome" mixed="true">
        <xs:attribute name="type" type="xs:string"/>
        <xs:attribute name="message" type="xs:string"/>
      </xs:complexType>
      <xs:element name="testsuites"><xs:complexType>
        <xs:sequence><xs:element ref="testsuite" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
        <xs:attribute name="name" type="xs:string"/>
        <xs:attribute name="time" type="seconds"/>
        <xs:attribute name="tests" type="count"/>
        <xs:attribute name="failures" type="count"/>
        <xs:attribute name="errors" type="count"/>
      </xs:complexType></xs:element>
      <xs:element name="testsuite"><xs:complexType>
        <xs:sequence><xs:element ref="testcase" minOccurs="0" maxOccurs="unbounded"/></xs:sequence>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="tests" type="count" use="required"/>
        <xs:attribute name="failures" type="count" use="required"/>
        <xs:attribute name="errors" type="count" use="required"/>
        <xs:attribute name="skipped" type="count"/>
        <xs:attribute name="time" type="seconds"/>
        <xs:attribute name="timestamp" type="xs:string"/>
      </xs:complexType></xs:element>
      <xs:element name="testcase"><xs:complexType>
        <xs:choice minOccurs="0">
          <xs:element name="skipped" type="outcome"/>
          <xs:element name="error" type="outcome"/>
          <xs:element name="failure" type="outcome"/>
        </xs:choice>
        <xs:attribute name="name" type="xs:string" use="required"/>
        <xs:attribute name="classname" type="xs:string"/>
        <xs:attribute name="time" type="seconds"/>
      </xs:complexType></xs:element>
    </xs:schema>

    """

  /// The permitted attributes of each element; attributes with `!` are required.
  static let attributes: [String: [String]] = [
    "testsuites": ["name", "time", "tests", "failures", "errors"],
    "testsuite": [
      "name!", "tests!", "failures!", "errors!", "skipped", "time", "timestamp",
    ],
    "testcase": ["name!", "classname", "time"],
    "failure": ["type", "message"], "error": ["type", "message"], "skipped": ["type", "message"],
  ]
}
