(class_declaration name: (identifier) @name body: (_) @body) @definition.class
(record_declaration name: (identifier) @name body: (_) @body) @definition.class
(interface_declaration name: (identifier) @name body: (_) @body) @definition.interface
(annotation_type_declaration name: (identifier) @name body: (_) @body) @definition.interface
(enum_declaration name: (identifier) @name body: (_) @body) @definition.enum
(method_declaration name: (identifier) @name body: (_) @body) @definition.method
(constructor_declaration name: (identifier) @name body: (_) @body) @definition.method
(compact_constructor_declaration name: (identifier) @name body: (_) @body) @definition.method

(line_comment) @comment
(block_comment) @comment
(marker_annotation) @attached
(annotation) @attached

(method_invocation name: (identifier) @reference)
(method_invocation object: (identifier) @reference.capitalised)
(field_access object: (identifier) @reference.capitalised)
(method_reference (identifier) @reference)
(type_identifier) @reference.use
(marker_annotation name: (identifier) @reference)
(annotation name: (identifier) @reference)
(import_declaration (scoped_identifier name: (identifier) @reference))
