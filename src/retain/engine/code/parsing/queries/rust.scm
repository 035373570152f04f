(function_item name: (identifier) @name body: (_) @body) @definition.function
(struct_item name: (type_identifier) @name body: (_)? @body) @definition.struct
(union_item name: (type_identifier) @name body: (_) @body) @definition.struct
(enum_item name: (type_identifier) @name body: (_) @body) @definition.enum
(trait_item name: (type_identifier) @name body: (_) @body) @definition.trait
(type_item name: (type_identifier) @name) @definition.type
(mod_item name: (identifier) @name body: (_) @body) @definition.module
(macro_definition name: (identifier) @name) @definition.function
(impl_item type: [
    (type_identifier) @name
    (primitive_type) @name
    (generic_type type: (type_identifier) @name)
    (generic_type type: (scoped_type_identifier name: (type_identifier) @name))
    (scoped_type_identifier name: (type_identifier) @name)
    (reference_type type: (type_identifier) @name)
  ] body: (_) @body) @definition.class

(line_comment) @comment
(block_comment) @comment
(attribute_item) @attached

(call_expression function: [
  (identifier) @reference
  (scoped_identifier name: (identifier) @reference)
  (field_expression field: (field_identifier) @reference)
  (generic_function function: (identifier) @reference)
  (generic_function function: (scoped_identifier name: (identifier) @reference))
  (generic_function function: (field_expression field: (field_identifier) @reference))
])
(macro_invocation macro: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(type_identifier) @reference.use
(scoped_identifier path: (identifier) @reference.capitalised)
(use_declaration argument: (scoped_identifier name: (identifier) @reference))
(use_declaration argument: (identifier) @reference)
(use_as_clause path: [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(use_list [(identifier) @reference (scoped_identifier name: (identifier) @reference)])
(attribute_item (attribute arguments: (token_tree (identifier) @reference.capitalised)))
(token_tree (identifier) @reference.capitalised)
