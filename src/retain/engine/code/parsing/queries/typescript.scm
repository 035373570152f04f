(abstract_class_declaration name: (_) @name body: (_) @body) @definition.class
(interface_declaration name: (_) @name body: (_) @body) @definition.interface
(enum_declaration name: (_) @name body: (_) @body) @definition.enum
(type_alias_declaration name: (_) @name) @definition.type
(internal_module name: (_) @name body: (_) @body) @definition.module
(module name: (_) @name body: (_) @body) @definition.module
(public_field_definition name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(variable_declarator name: (identifier) @name
  value: [(object) (satisfies_expression (object)) (as_expression (object))]) @scope
(extends_clause value: [(identifier) @reference (member_expression property: (_) @reference)])
(type_identifier) @reference.use
