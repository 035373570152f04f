(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(assignment_expression left: (member_expression) @name right: (class body: (_) @body)) @definition.class
(variable_declarator name: (identifier) @name value: (object)) @scope
(class_heritage [(identifier) @reference (member_expression property: (_) @reference)])
(jsx_opening_element name: (identifier) @reference.capitalised)
(jsx_opening_element name: (member_expression property: (_) @reference))
(jsx_self_closing_element name: (identifier) @reference.capitalised)
(jsx_self_closing_element name: (member_expression property: (_) @reference))
