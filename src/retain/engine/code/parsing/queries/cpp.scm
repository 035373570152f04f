(function_definition
  declarator: [
    (function_declarator declarator: (_) @name)
    (pointer_declarator declarator: (function_declarator declarator: (_) @name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (_) @name)))
    (reference_declarator (function_declarator declarator: (_) @name))
  ] body: (_) @body) @definition.function
(class_specifier name: (_) @name body: (_) @body) @definition.class
(struct_specifier name: (_) @name body: (_) @body) @definition.struct
(union_specifier name: (_) @name body: (_) @body) @definition.struct
(enum_specifier name: (_) @name body: (_) @body) @definition.enum
(type_definition type: (struct_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (union_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.struct
(type_definition type: (enum_specifier body: (_) @body) declarator: (type_identifier) @name) @definition.enum
(alias_declaration name: (type_identifier) @name) @definition.type
(concept_definition name: (identifier) @name) @definition.type
(preproc_function_def name: (identifier) @name) @definition.function

(namespace_definition name: (_) @name) @scope

(comment) @comment
(template_declaration "template" @attached)

(call_expression function: [
  (identifier) @reference
  (field_expression field: (field_identifier) @reference)
  (field_expression field: (template_method name: (field_identifier) @reference))
  (template_function name: (identifier) @reference)
  (qualified_identifier name: (identifier) @reference)
  (qualified_identifier name: (template_function name: (identifier) @reference))
  (qualified_identifier name: (qualified_identifier name: (identifier) @reference))
])
(type_identifier) @reference.use
(qualified_identifier scope: (namespace_identifier) @reference.capitalised)
(using_declaration (qualified_identifier name: (identifier) @reference))
(preproc_include path: (_) @reference.path)
