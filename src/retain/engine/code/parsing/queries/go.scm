(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(method_declaration
  receiver: (parameter_list (parameter_declaration type: [
    (type_identifier) @parent
    (pointer_type (type_identifier) @parent)
    (generic_type type: (type_identifier) @parent)
    (pointer_type (generic_type type: (type_identifier) @parent))
  ]))
  name: (field_identifier) @name body: (_) @body) @definition.method
(type_spec name: (type_identifier) @name type: (struct_type (field_declaration_list) @body)) @definition.struct
(type_spec name: (type_identifier) @name type: (interface_type "{" @body)) @definition.interface
(type_spec name: (type_identifier) @name
  type: [
    (type_identifier) (qualified_type) (generic_type) (pointer_type) (slice_type) (array_type) (map_type)
    (channel_type) (function_type)
  ]) @definition.type
(type_alias name: (type_identifier) @name) @definition.type
(source_file (var_declaration (var_spec name: (identifier) @name
  value: (expression_list . (func_literal body: (_) @body) .))) @definition.function)

(comment) @comment

(call_expression function: [
  (identifier) @reference
  (selector_expression field: (field_identifier) @reference)
  (index_expression operand: (identifier) @reference)
  (type_instantiation_expression type: (type_identifier) @reference)
])
(type_identifier) @reference.use
(selector_expression field: (field_identifier) @reference.capitalised)
(import_spec path: (interpreted_string_literal (interpreted_string_literal_content) @reference.path))
