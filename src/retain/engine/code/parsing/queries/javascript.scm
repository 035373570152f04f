(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
(field_definition property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(pair key: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.method
(variable_declarator name: (identifier) @name
  value: [
    (arrow_function body: (_) @body)
    (function_expression body: (_) @body)
    (generator_function body: (_) @body)
  ]) @definition.function
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @definition.class
(assignment_expression left: (member_expression) @name
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @definition.function
(assignment_expression left: (member_expression) @name right: (class body: (_) @body)) @definition.class
(export_statement
  value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement value: (class !name body: (_) @body)) @definition.class

(variable_declarator name: (identifier) @name value: (object)) @scope
(assignment_expression left: (member_expression) @name right: (object)) @scope

(comment) @comment
(decorator) @attached

(call_expression function: [(identifier) @reference (member_expression property: (_) @reference)])
(new_expression constructor: [(identifier) @reference (member_expression property: (_) @reference)])
(class_heritage [(identifier) @reference (member_expression property: (_) @reference)])
(import_clause (identifier) @reference)
(import_specifier name: (identifier) @reference)
(export_specifier name: (identifier) @reference)
(decorator (identifier) @reference)
(jsx_opening_element name: (identifier) @reference.capitalised)
(jsx_opening_element name: (member_expression property: (_) @reference))
(jsx_self_closing_element name: (identifier) @reference.capitalised)
(jsx_self_closing_element name: (member_expression property: (_) @reference))
(member_expression object: (identifier) @reference.capitalised)
(arguments (identifier) @reference.capitalised)
(binary_expression (identifier) @reference.capitalised)
