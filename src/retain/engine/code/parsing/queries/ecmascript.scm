; What JavaScript and TypeScript have in common.
(function_declaration name: (identifier) @name body: (_) @body) @definition.function
(generator_function_declaration name: (identifier) @name body: (_) @body) @definition.function
(class_declaration name: (_) @name body: (_) @body) @definition.class
(method_definition name: (_) @name body: (_) @body) @definition.method
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
(export_statement
  value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body)]) @definition.function
(export_statement value: (class !name body: (_) @body)) @definition.class
(assignment_expression left: (member_expression) @name right: (object)) @scope
(comment) @comment
(decorator) @attached
(call_expression function: [(identifier) @reference (member_expression property: (_) @reference)])
(new_expression constructor: [(identifier) @reference (member_expression property: (_) @reference)])
(import_clause (identifier) @reference)
(import_specifier name: (identifier) @reference)
(export_specifier name: (identifier) @reference)
(decorator (identifier) @reference)
(member_expression object: (identifier) @reference.capitalised)
(arguments (identifier) @reference.capitalised)
(binary_expression (identifier) @reference.capitalised)
